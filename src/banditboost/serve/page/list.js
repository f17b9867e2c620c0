// The models of the service: thousands of them, read in pages, searched while one types.

import { ask } from "./asking.js";
import { find, make, name } from "./building.js";
import { count } from "./wording.js";

const PAGE = 1000;
const SHOWN = 100;

export const hashOf = (model) => `#/${encodeURIComponent(model)}`;

export class List {
  #names = [];
  #next = "";
  #more = SHOWN;
  #reading = null;
  #here = null;

  constructor(fail) {
    this.fail = fail;
    find("search").addEventListener("input", () => {
      this.#more = SHOWN;
      this.#show();
    });
    find("more").addEventListener("click", () => {
      this.#more += SHOWN;
      this.#show();
    });
  }

  async begin() {
    this.#names = [];
    this.#next = "";
    await this.#read();
    this.#show();
    return this.#names;
  }

  choose(model) {
    this.#here = model;
    this.#show();
  }

  async #read() {
    const told = await ask(`/v1/models?limit=${PAGE}&after=${encodeURIComponent(this.#next)}`);
    this.#names.push(...told.models);
    this.#next = told.next ?? null;
  }

  // Those that match; the next page is read if there are not enough.
  #found() {
    const wanted = find("search").value.trim().toLowerCase();
    const found = this.#names.filter((one) => one.toLowerCase().includes(wanted));
    if (found.length < this.#more && this.#next !== null && this.#reading === null) {
      this.#reading = this.#read().then(() => { this.#reading = null; this.#show(); }, (error) => { this.#reading = null; this.fail(error); });
    }
    return found;
  }

  #show() {
    const found = this.#found();
    const shown = found.slice(0, this.#more);
    find("names").replaceChildren(...shown.map((one) => make("li", {},
      make("a", { href: hashOf(one), "aria-current": one === this.#here ? "page" : undefined }, name(one)))));
    const all = `${count(found.length)}${this.#next === null ? "" : " or more"}`;
    find("found").textContent = this.#names.length || this.#next === null ? `${all} ${found.length === 1 ? "model" : "models"}` : "";
    find("more").hidden = found.length <= shown.length;
  }
}
