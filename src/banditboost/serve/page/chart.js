// A picture of numbers over time, or of a few bars: SVG that fits its column, can be read point by point with
// the pointer or the arrow keys, and as a table.

import { draw, make } from "./building.js";

const MARGIN = { top: 12, right: 12, bottom: 26, left: 60 };
const STEPS = [1, 2, 2.5, 5, 10];

// Round numbers from low to high, about so many.
export const ticks = (low, high, most) => {
  const rough = (high - low) / Math.max(1, most) || 1;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((times) => times * size).find((found) => found >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
  return found;
};

const scale = (from, to, start, end) => {
  const times = to > from ? (end - start) / (to - from) : 0;
  return (value) => Math.round((start + (value - from) * times) * 100) / 100;
};

const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("");

// Each kind of series draws itself with the scales of its picture.
const KINDS = {
  band: (one, { x, y, at }) => {
    const known = at.map((_, i) => i).filter((i) => one.low[i] !== null);
    const over = known.map((i) => [x(at[i]), y(one.high[i])]);
    const under = known.map((i) => [x(at[i]), y(one.low[i])]).reverse();
    return known.length ? [draw("path", { class: `band ${one.class}`, d: `${path([...over, ...under])}Z` })] : [];
  },
  line: (one, { x, y, at }) => {
    const known = at.map((_, i) => i).filter((i) => one.y[i] !== null);
    if (known.length === 1) return KINDS.dots(one, { x, y, at });
    return [draw("path", { class: `line ${one.class}`, d: path(known.map((i) => [x(at[i]), y(one.y[i])])) })];
  },
  dots: (one, { x, y, at }) => at.map((_, i) => i).filter((i) => one.y[i] !== null).map(
    (i) => draw("circle", { class: `dot ${one.class}`, cx: x(at[i]), cy: y(one.y[i]), r: one.r ?? 2.5 })),
  bars: (one, { x, y, at, width, zero }) => at.map((_, i) => i).filter((i) => one.y[i] > (one.base?.[i] ?? 0)).map((i) => {
    const left = x(at[i] - width / 2), right = x(at[i] + width / 2);
    const top = y(one.y[i]), bottom = y(one.base?.[i] ?? zero);
    const gap = right - left > 6 ? 1 : 0;
    return draw("rect", {
      class: `bar ${one.class}`, x: left, y: top, width: Math.max(1, right - left - gap), height: Math.max(0.5, bottom - top),
    });
  }),
};

export class Chart {
  #cursor = null;
  #picture = null;

  constructor(title, { height = 240, wide = false } = {}) {
    this.height = height;
    this.svg = draw("svg", { class: "plot", tabindex: "0", role: "img", height });
    this.legend = make("ul", { class: "legend" });
    this.note = make("p", { class: "note" });
    this.tip = make("div", { class: "tip", "aria-hidden": "true" });
    this.said = make("p", { class: "unseen", "aria-live": "polite" });
    this.table = make("table");
    this.rows = make("details", { ontoggle: () => this.#tabulate() },
      make("summary", {}, "As a table"), make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": `${title}, as a table` }, this.table));
    this.plot = make("div", { class: "holder" }, this.svg, this.tip);
    this.element = make("figure", { class: wide ? "card wide" : "card" },
      make("h3", {}, title), this.note, this.legend, this.plot, this.said, this.rows);
    this.title = title;
    this.#listen();
    new ResizeObserver(() => this.#render()).observe(this.plot);
  }

  show(picture) {
    this.#picture = picture;
    if (this.#cursor !== null) this.#cursor = Math.min(this.#cursor, picture.at.length - 1);
    this.note.textContent = picture.note ?? "";
    this.svg.setAttribute("aria-label", `${this.title}. ${picture.note ?? ""} Arrow keys read it point by point.`);
    this.legend.replaceChildren(...picture.series.filter((one) => one.name).map((one) =>
      make("li", {}, make("i", { class: `swatch ${one.kind} ${one.class}` }), one.label ?? one.name)));
    this.#render();
    this.#tabulate();
  }

  #scales(width) {
    const { at, from, to, low, high, width: each = 0 } = this.#picture;
    const x = scale(from, to, MARGIN.left, width - MARGIN.right);
    const y = scale(low, high, this.height - MARGIN.bottom, MARGIN.top);
    return { x, y, at, width: each, zero: Math.max(low, 0) };
  }

  #render() {
    const width = this.plot.clientWidth;
    if (!this.#picture || !width) return;
    const scales = this.#scales(width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.setAttribute("width", width);
    this.svg.replaceChildren(
      ...this.#grid(scales, width), ...this.#marks(scales),
      ...this.#picture.series.flatMap((one) => KINDS[one.kind](one, scales)), ...this.#axis(scales, width));
    this.#point();
  }

  #grid({ y }, width) {
    const { low, high, tells } = this.#picture;
    return ticks(low, high, this.height / 52).flatMap((value) => [
      draw("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      draw("text", { class: "tick", x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, tells(value)),
    ]);
  }

  #axis({ x, at }, width) {
    const { tellsX, xs, from, to } = this.#picture;
    const every = Math.ceil(xs.length / Math.max(2, Math.floor((width - MARGIN.left) / 70)));
    const isInside = (place) => x(place) > x(from) + 12 && x(place) < x(to) - 12;
    return (at.length ? xs : []).filter((place, i) => i % every === 0 && isInside(place)).map((place) =>
      draw("text", { class: "tick", x: x(place), y: this.height - 7, "text-anchor": "middle" }, tellsX(place)));
  }

  #marks({ x, y }) {
    const { marks = [], low, high, from, to } = this.#picture;
    return marks.filter((mark) => mark.at >= from && mark.at <= to).map((mark) =>
      draw("line", { class: `mark ${mark.kind}`, x1: x(mark.at), x2: x(mark.at), y1: y(low), y2: y(high) },
        draw("title", {}, mark.text)));
  }

  // Reading point by point

  #listen() {
    this.svg.addEventListener("pointermove", (event) => this.#near(event));
    this.svg.addEventListener("pointerdown", (event) => this.#near(event));
    this.svg.addEventListener("pointerleave", () => this.#move(null, false));
    this.svg.addEventListener("blur", () => this.#move(null, false));
    this.svg.addEventListener("keydown", (event) => this.#key(event));
  }

  #near(event) {
    if (!this.#picture?.at.length) return;
    const { x, at } = this.#scales(this.plot.clientWidth);
    const place = event.clientX - this.svg.getBoundingClientRect().left;
    const near = at.reduce((best, value, i) => Math.abs(x(value) - place) < Math.abs(x(at[best]) - place) ? i : best, 0);
    this.#move(near, false);
  }

  #key(event) {
    const last = (this.#picture?.at.length ?? 0) - 1;
    const now = this.#cursor ?? last + 1;
    const to = { ArrowLeft: now - 1, ArrowRight: Math.min(now, last) + 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.#move(null, true);
    else if (to !== undefined && last >= 0) {
      event.preventDefault();
      this.#move(Math.max(0, Math.min(last, to)), true);
    }
  }

  #move(cursor, aloud) {
    this.#cursor = cursor;
    this.#point();
    if (aloud && cursor !== null) this.said.textContent = this.#told(cursor).join(", ");
  }

  #told(i) {
    const told = this.#picture.reads(i).map(([what, value]) => `${what} ${value}`);
    return [this.#picture.tellsPoint(i), ...told];
  }

  #point() {
    this.svg.querySelector(".cursor")?.remove();
    const i = this.#cursor;
    const shown = i !== null && i >= 0 && this.#picture !== null;
    this.tip.classList.toggle("shown", shown);
    if (!shown) return;
    const width = this.plot.clientWidth;
    const { x, at } = this.#scales(width);
    const place = x(at[i]);
    this.svg.append(draw("line", { class: "cursor", x1: place, x2: place, y1: MARGIN.top, y2: this.height - MARGIN.bottom }));
    this.tip.replaceChildren(make("strong", {}, this.#picture.tellsPoint(i)),
      ...this.#picture.reads(i).map(([what, value]) => make("div", {}, make("bdi", {}, what), make("b", {}, value))));
    const left = place > width / 2 ? place - this.tip.offsetWidth - 10 : place + 10;
    this.tip.style.transform = `translate(${Math.max(0, Math.min(width - this.tip.offsetWidth, left))}px, 8px)`;
  }

  #tabulate() {
    if (!this.rows.open || !this.#picture) return;
    const { at, tellsPoint, reads } = this.#picture;
    const names = [...new Set(at.flatMap((_, i) => reads(i).map(([what]) => what)))];
    const body = at.map((_, i) => {
      const values = new Map(reads(i));
      return make("tr", {}, make("th", { scope: "row" }, tellsPoint(i)), names.map((what) => make("td", {}, values.get(what) ?? "–")));
    });
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, this.#picture.points ?? "from"), names.map((what) => make("th", { scope: "col" }, make("bdi", {}, what))))),
      make("tbody", {}, body.reverse()));
  }
}
