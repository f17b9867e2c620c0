// The latest decisions: what was asked, what the model thought, what became of it.

import { make, name } from "./building.js";
import { clock, duration, percent, reward, when } from "./wording.js";

const FEW = 12;
const OUTCOMES = {
  learned: "learned", added: "added up", held: "held", duplicate: "told twice", late: "too late", logged: "logged",
  closed: "learned at the end", forgotten: "no verdict",
};

export const places = (ranking, chosen) => make("ol", { class: "places" }, ranking.map(([label, probability]) =>
  make("li", { class: label === chosen ? "chosen" : undefined },
    name(label), make("meter", { min: 0, max: 1, value: probability, "aria-label": "probability" }), make("span", {}, percent(probability, 1)))));

const pretty = (text, isCut) => {
  if (isCut) return `${text} …`;
  try {
    return JSON.stringify(JSON.parse(text), null, 1).replace(/\n */g, " ");
  } catch {
    return text;
  }
};

const verdict = (one, range) => {
  if (one.outcome === null) return make("span", { class: "tag" }, "waits");
  const good = one.reward !== null && one.reward > range[0];
  const told = one.reward === null ? "" : `${reward(one.reward, range)} `;
  return make("span", { class: `tag ${good ? "good" : "bad"}` }, told, OUTCOMES[one.outcome] ?? one.outcome);
};

const facts = (one) => [
  ["Id", one.id], ["Version", one.version], ["Asked", when(one.at)],
  ["Verdict", one.told === null ? "none yet" : `after ${duration(one.told - one.at)}`],
];

const line = (one, range) => make("details", { class: "decision" },
  make("summary", {},
    make("time", {}, clock(one.at)),
    make("span", { class: "shown" }, name(one.label)),
    make("span", { class: "soft" }, percent(one.probability, 1)),
    make("span", { class: "tags" },
      one.explored ? make("span", { class: "tag tried" }, "tried") : null,
      one.arm === "model" ? null : make("span", { class: "tag" }, one.arm),
      verdict(one, range))),
  make("pre", { tabindex: "0", "aria-label": "features" }, make("bdi", {}, pretty(one.features, one.cut))),
  one.ranking.length ? places(one.ranking, one.label) : null,
  make("dl", { class: "facts" }, facts(one).map(([what, value]) => make("div", {}, make("dt", {}, what), make("dd", {}, make("bdi", {}, value))))));

export class Decisions {
  #known = new Map();
  #told = null;
  #all = false;

  constructor() {
    this.list = make("div", { class: "decisions" });
    this.more = make("button", { type: "button", onclick: () => { this.#all = !this.#all; this.show(this.#told); } });
    this.element = make("section", { class: "card wide", "aria-labelledby": "latest" },
      make("h3", { id: "latest" }, "Latest decisions"), this.list, this.more);
  }

  // Lines that have not changed stay as they are, open or closed, with the focus where it is.
  show(told) {
    const before = this.#known;
    this.#told = told;
    this.more.hidden = told.latest.length <= FEW;
    this.more.textContent = this.#all ? "Fewer" : `All ${told.latest.length}`;
    this.#known = new Map();
    for (const one of this.#all ? told.latest : told.latest.slice(0, FEW)) {
      const state = JSON.stringify([one.outcome, one.reward]);
      const old = before.get(one.id);
      const element = old?.state === state ? old.element : line(one, told.rewards);
      if (old && element !== old.element) element.open = old.element.open;
      this.#known.set(one.id, { state, element });
    }
    const elements = [...this.#known.values()].map(({ element }) => element);
    if (!elements.length) elements.push(make("p", { class: "soft" }, "None yet."));
    if (elements.some((element, i) => this.list.children[i] !== element) || this.list.children.length !== elements.length) {
      this.#place(elements);
    }
  }

  #place(elements) {
    const wanted = new Set(elements);
    for (const child of [...this.list.children]) if (!wanted.has(child)) child.remove();
    elements.forEach((element, i) => {
      if (this.list.children[i] !== element) this.list.insertBefore(element, this.list.children[i] ?? null);
    });
  }
}
