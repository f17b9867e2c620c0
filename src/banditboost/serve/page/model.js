// One model: numbers, pictures, tables, and the form.

import { make, name } from "./building.js";
import { Chart } from "./chart.js";
import { Decisions } from "./decisions.js";
import { bestName, control, latency, lateness, markText, rewards, shares } from "./pictures.js";
import { Trial } from "./trial.js";
import { compact, count, duration, percent, reward, signed, when } from "./wording.js";

export const SPANS = ["10 minutes", "hour", "day", "week", "quarter", "years"];
const FEW = 12;
const COUNTS = {
  learned: "learned at once", added: "added up", closed: "learned at the window's end", clipped: "sums cut to the range",
  logged: "logged only", held: "held until activation", activated: "activations", forgotten: "no verdict, forgotten",
  duplicate: "told twice", late: "too late", unknown: "of no known decision",
};

const tile = (what, value, more, kind) => make("div", { class: kind }, make("dt", {}, what), make("dd", {}, value), make("dd", { class: "soft" }, more));

// A bound at the end of what is possible says nothing.
const between = ({ low, high }, range) => {
  const width = range[1] - range[0];
  if (low <= -width) return high >= width ? "nobody knows yet" : `at most ${signed(high, range)}`;
  return high >= width ? `at least ${signed(low, range)}` : `${signed(low, range)} to ${signed(high, range)}`;
};

// Better, worse, or not known: by the bounds, not by the estimate.
const verdict = ({ low, high }) => (low > 0 ? "good" : high < 0 ? "bad" : undefined);

export class Model {
  #everyLabel = false;
  #told = null;

  constructor(choose) {
    this.title = make("h1", { tabindex: "-1" });
    this.facts = make("p", { class: "soft" });
    this.tiles = make("dl", { class: "tiles" });
    this.charts = {
      rewards: new Chart("Mean reward", { height: 300, wide: true }),
      shares: new Chart("Labels shown"),
      control: new Chart("Ahead of the control group", { wide: true }),
      lateness: new Chart("How late verdicts come"),
      latency: new Chart("How fast it answers"),
    };
    this.labels = make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Labels" });
    this.counts = make("dl", { class: "counts" });
    this.marks = make("ol", { class: "marks" });
    this.decisions = new Decisions();
    this.trial = new Trial();
    this.element = make("div", {}, make("a", { class: "back", href: "#/" }, "All models"), this.title, this.facts, this.#spans(choose),
      this.tiles, make("div", { class: "grid" }, ...this.#cards()));
  }

  #cards() {
    const card = (title, ...parts) => make("section", { class: "card" }, make("h3", {}, title), ...parts);
    const { rewards: mean, shares: shown, control: group, lateness: late, latency: fast } = this.charts;
    return [
      mean.element, group.element, shown.element, card("Labels", this.labels), late.element, fast.element,
      card("What became of verdicts", this.counts), card("Changes", this.marks), this.trial.element, this.decisions.element,
    ];
  }

  #spans(choose) {
    const radios = SPANS.map((span) => make("label", {},
      make("input", { type: "radio", name: "span", value: span, onchange: () => choose(span) }), make("span", {}, span)));
    return make("fieldset", { class: "spans" }, make("legend", { class: "unseen" }, "Span of time"), radios);
  }

  show(model, told) {
    this.#told = told;
    this.title.replaceChildren(name(model));
    this.facts.replaceChildren(...this.#facts(told.model));
    for (const radio of this.element.querySelectorAll("[name=span]")) radio.checked = radio.value === told.span;
    this.tiles.replaceChildren(...this.#tiles(told));
    this.charts.rewards.show(rewards(told));
    this.charts.shares.show(shares(told));
    this.charts.control.element.hidden = !told.control.share;
    if (told.control.share) this.charts.control.show(control(told));
    this.charts.lateness.show(lateness(told));
    this.charts.latency.show(latency(told));
    this.#showLabels();
    this.#showCounts(told.counts);
    this.#showMarks(told.marks);
    this.decisions.show(told);
    this.trial.show(model, told);
  }

  #facts(model) {
    const { settings } = model;
    const told = [settings.learner, model.labels.length ? `${count(model.labels.length)} labels` : "options with each decision",
      `window ${duration(settings.window)}`, `${compact(model.events)} events`];
    if (settings.mode !== "online") told.push(settings.mode === "logging" ? "only logs" : "apprentice");
    if (settings.control) told.push(`control group ${percent(settings.control)}`);
    return told.flatMap((text, i) => [i ? " · " : "", text]);
  }

  #tiles(told) {
    const range = told.rewards, { value, others, control: group, model, traffic } = told;
    const best = others.constants[0];
    const tiles = [tile("Mean reward", reward(value.estimate, range), `${reward(value.low, range)} to ${reward(value.high, range)}`)];
    const isChance = group.share && model.settings.baseline === "uniform";
    if (group.share) tiles.push(tile(isChance ? "Ahead of chance, by the control group" : "Ahead of the control group", signed(group.ahead.estimate, range), between(group.ahead, range), verdict(group.ahead)));
    if (!isChance) tiles.push(tile("Ahead of chance", signed(others.uniform.ahead.estimate, range), between(others.uniform.ahead, range), verdict(others.uniform.ahead)));
    if (best) tiles.push(tile(this.#always(told), signed(best.ahead.estimate, range), between(best.ahead, range), verdict(best.ahead)));
    tiles.push(tile("Decisions", compact(told.counts.decisions ?? 0), `${compact(told.counts.rewards ?? 0)} rewards learned`));
    tiles.push(tile("Open", compact(model.open), "wait for a verdict"));
    tiles.push(tile("Answered within", duration(traffic.all.p99), `${duration(traffic.all.p50)} for half`));
    return tiles;
  }

  #always(told) {
    const part = make("span", {}, "Ahead of always ", name(bestName(told)));
    return part;
  }

  #showLabels() {
    const { labels, rewards: range } = this.#told;
    const all = labels.reduce((sum, line) => sum + line.shown, 0) || 1;
    const shown = this.#everyLabel ? labels : labels.slice(0, FEW);
    const head = ["label", "shown", "", "mean reward"].map((text) => make("th", { scope: "col" }, text));
    const rows = shown.map((line) => make("tr", {}, make("th", { scope: "row" }, name(line.label)), make("td", {}, compact(line.shown)),
      make("td", {}, make("meter", { min: 0, max: 1, value: line.shown / all, "aria-label": "share" })), make("td", {}, reward(line.mean, range))));
    const more = labels.length > FEW ? make("button", { type: "button", onclick: () => { this.#everyLabel = !this.#everyLabel; this.#showLabels(); } },
      this.#everyLabel ? "Fewer" : `All ${labels.length}`) : null;
    const table = make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, rows));
    const hadFocus = this.labels.contains(document.activeElement) && document.activeElement !== this.labels;
    this.labels.replaceChildren(...(labels.length ? [table] : [make("p", { class: "soft" }, "None was shown yet.")]), ...(more ? [more] : []));
    if (hadFocus) more?.focus();
  }

  #showCounts(counts) {
    const known = Object.entries(COUNTS).filter(([key]) => counts[key]);
    this.counts.replaceChildren(...known.map(([key, text]) => make("div", {}, make("dt", {}, text), make("dd", {}, count(counts[key])))));
    if (!known.length) this.counts.append(make("div", {}, make("dt", { class: "soft" }, "No verdicts yet."), make("dd", {})));
  }

  #showMarks(marks) {
    this.marks.replaceChildren(...[...marks].reverse().map((mark) =>
      make("li", { class: mark.kind }, make("time", {}, when(mark.at)), " ", make("bdi", {}, markText(mark)))));
    if (!marks.length) this.marks.append(make("li", { class: "soft" }, "None was noticed."));
  }
}
