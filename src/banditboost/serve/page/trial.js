// A form to try a decision, and to tell its verdict.

import { ask, pathOf } from "./asking.js";
import { make, name } from "./building.js";
import { places } from "./decisions.js";
import { percent } from "./wording.js";

const field = (label, control, help) => make("div", { class: "field" }, make("label", { for: control.id }, label), control,
  help ? make("p", { class: "soft" }, help) : null);

export class Trial {
  #model = null;
  #decision = null;

  constructor() {
    this.features = make("textarea", { id: "features", rows: 4, spellcheck: "false", autocomplete: "off" });
    this.options = make("textarea", { id: "options", rows: 3, spellcheck: "false", autocomplete: "off" });
    this.reward = make("input", { id: "reward", type: "number", step: "any" });
    this.said = make("p", { class: "said", role: "status" });
    this.answer = make("div", { class: "answer" });
    this.optionsField = field("Options", this.options, "JSON: an object of ids and their features.");
    this.verdicts = make("div", { class: "verdicts", hidden: true },
      make("button", { type: "button", onclick: () => this.#tell({ correct: true }) }, "Right"),
      make("button", { type: "button", onclick: () => this.#tell({ correct: false }) }, "Wrong"),
      make("label", { for: "reward" }, "or a reward"), this.reward,
      make("button", { type: "button", onclick: () => this.#tell({ reward: this.reward.valueAsNumber }) }, "Tell"));
    this.element = make("section", { class: "card wide", "aria-labelledby": "try-title" },
      make("h3", { id: "try-title" }, "Try one"),
      make("p", { class: "note" }, "This is a decision like any other: it is logged, and its verdict is learned."),
      make("form", { onsubmit: (event) => this.#decide(event) },
        field("Features", this.features, "JSON: an object, or an array of numbers."), this.optionsField,
        make("button", { class: "main" }, "Decide")),
      this.answer, this.verdicts, this.said);
  }

  show(model, told) {
    if (this.#model !== model) {
      this.#model = model;
      this.#decision = null;
      this.features.value = this.options.value = "";
      this.answer.replaceChildren();
      this.said.textContent = "";
      this.verdicts.hidden = true;
    }
    this.optionsField.hidden = told.model.labels.length > 0;
    [this.reward.min, this.reward.max] = told.rewards;
    const last = told.latest.find((one) => !one.cut);
    if (!this.features.value && document.activeElement !== this.features && last) this.features.value = last.features;
  }

  async #decide(event) {
    event.preventDefault();
    const model = this.#model;
    const body = { features: this.#read(this.features), ranking: 8 };
    if (body.features === undefined) return;
    if (!this.optionsField.hidden) {
      body.options = this.#read(this.options);
      if (body.options === undefined) return;
    }
    await this.#asking(async () => {
      const decision = await ask(pathOf(model, "decisions"), { method: "POST", body: JSON.stringify(body) });
      if (model !== this.#model) return;
      this.#decision = decision;
      this.answer.replaceChildren(
        make("p", {}, "Shows ", make("strong", {}, name(decision.label)), ` with probability ${percent(decision.probability, 1)}`,
          decision.explored ? ", to try it." : "."),
        places(decision.ranking.map(({ label, probability }) => [label, probability]), decision.label));
      this.verdicts.hidden = false;
      this.said.textContent = "Decided. Was it right?";
    });
  }

  #read(area) {
    try {
      return JSON.parse(area.value);
    } catch {
      this.said.textContent = `${area === this.options ? "Options" : "Features"} are no JSON; write an object such as {"hour": 21}.`;
      area.focus();
      return undefined;
    }
  }

  async #tell(verdict) {
    if (verdict.reward !== undefined && Number.isNaN(verdict.reward)) {
      this.said.textContent = "The reward is no number; write one.";
      this.reward.focus();
      return;
    }
    const id = encodeURIComponent(this.#decision.id);
    await this.#asking(async () => {
      const told = await ask(pathOf(this.#model, "decisions", id, "verdict"), { method: "POST", body: JSON.stringify(verdict) });
      this.said.textContent = `The verdict: ${told.outcome}.`;
    });
  }

  async #asking(work) {
    this.said.textContent = "Asking.";
    try {
      await work();
    } catch (error) {
      this.said.textContent = error.message;
    }
  }
}
