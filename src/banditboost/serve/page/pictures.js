// What each chart of a model shows, from its statistics.

import { name, visible } from "./building.js";
import { count, duration, onAxis, percent, reward, signed, timesBetween, when } from "./wording.js";

const MOST_LABELS = 7;

const FEWEST = 5; // points that a picture has room for, lest one alone fills it

const overTime = (points, seconds, marks = []) => {
  const to = points.length ? points.at(-1).start + seconds : 1;
  const from = points.length ? Math.min(points[0].start, to - FEWEST * seconds) : 0;
  return {
    at: points.map((point) => point.start + seconds / 2),
    width: seconds,
    from, to, marks,
    xs: timesBetween(from, to, seconds),
    tellsX: (at) => onAxis(at, seconds),
    tellsPoint: (i) => when(points[i].start),
  };
};

const bounds = (values, least, most) => {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return [least, most];
  const low = Math.min(...known), high = Math.max(...known);
  const room = (high - low || (most - least) / 10) * 0.08;
  return [Math.max(least, low - room), Math.min(most, high + room)];
};

export const markText = (mark) => {
  if (mark.kind === "change") return mark.label === null ? "the world changed" : `rewards of ${visible(mark.label)} fell`;
  if (mark.kind === "settings") return `settings changed: ${mark.names.join(", ")}`;
  return mark.why === "reset" ? "the model was reset" : "another model was uploaded";
};

const marksOf = (told) => told.marks.map((mark) => ({ at: mark.at, kind: mark.kind, text: `${when(mark.at)}: ${markText(mark)}` }));

export const bestName = (told) => told.others.constants[0]?.label ?? null;

export const rewards = (told) => {
  const points = told.points, range = told.rewards, best = bestName(told);
  const at = (find) => points.map((point) => find(point) ?? null);
  const [value, low, high] = [0, 1, 2].map((place) => at((point) => point.value?.[place]));
  const lines = [
    ["always the best label", at((point) => point.best), "best"],
    ["chance", at((point) => point.uniform), "chance"],
    ["baseline", at((point) => point.baseline), "baseline"],
  ].filter(([, y]) => y.some((found) => found !== null));
  const mean = at((point) => point.mean);
  const [least, most] = bounds([...low, ...high, ...lines.flatMap(([, y]) => y), ...mean], ...range);
  return {
    ...overTime(points, told.seconds, marksOf(told)),
    low: least, high: most,
    tells: (number) => reward(number, [least, most]),
    note: told.value.estimate === null ? "No rewards yet."
      : `So far ${reward(told.value.estimate, range)}; ${percent(told.level)} sure at any time: from ${reward(told.value.low, range)} to ${reward(told.value.high, range)}.`,
    series: [
      { kind: "band", low, high, class: "model" },
      { kind: "dots", y: mean, class: "now", name: "within a point" },
      ...lines.map(([what, y, kind]) => ({
        kind: "line", y, class: kind, name: what,
        label: kind === "best" && best !== null ? labelled("always ", best) : undefined,
      })),
      { kind: "line", y: value, class: "model", name: "the model so far, with its bounds" },
    ],
    reads: (i) => [
      ["model", reward(value[i], range)],
      ["from", reward(low[i], range)],
      ["to", reward(high[i], range)],
      ...lines.map(([what, y]) => [what, reward(y[i], range)]),
      ["within", reward(mean[i], range)],
      ["decisions", count(points[i].decisions)],
    ],
  };
};

const labelled = (before, label) => {
  const part = document.createElement("span");
  part.append(before, name(label));
  return part;
};

export const shares = (told) => {
  const points = told.points, total = new Map();
  for (const point of points) for (const [label, shown] of point.labels) total.set(label, (total.get(label) ?? 0) + shown);
  const shown = [...total].sort((a, b) => b[1] - a[1]).slice(0, MOST_LABELS).map(([label]) => label);
  const parts = points.map((point) => {
    const counts = new Map(point.labels), all = point.decisions || 1;
    const each = shown.map((label) => (counts.get(label) ?? 0) / all);
    return [...each, point.decisions ? Math.max(0, 1 - each.reduce((a, b) => a + b, 0)) : 0];
  });
  const isMore = parts.some((part) => part.at(-1) > 1e-9);
  const stacked = [...shown, ...(isMore ? ["other labels"] : [])].map((label, place) => ({
    kind: "bars", class: place < shown.length ? `hue${place}` : "hue-rest", name: label,
    label: place < shown.length ? name(label) : "other labels",
    base: parts.map((part) => part.slice(0, place).reduce((a, b) => a + b, 0)),
    y: parts.map((part) => part.slice(0, place + 1).reduce((a, b) => a + b, 0)),
  }));
  const explored = points.map((point) => (point.decisions ? point.explored / point.decisions : null));
  const all = told.counts.decisions ?? 0;
  return {
    ...overTime(points, told.seconds),
    low: 0, high: 1,
    tells: (number) => percent(number),
    note: all ? `${percent((told.counts.explored ?? 0) / all, 1)} of ${count(all)} decisions tried a label that was not thought best.` : "No decisions yet.",
    series: [...stacked, { kind: "line", y: explored, class: "halo" }, { kind: "line", y: explored, class: "explored", name: "tried" }],
    reads: (i) => [
      ...shown.map((label, place) => [visible(label), percent(parts[i][place])]),
      ...(isMore ? [["other labels", percent(parts[i].at(-1))]] : []),
      ["tried", explored[i] === null ? "–" : percent(explored[i], 1)],
    ],
  };
};

export const control = (told) => {
  const found = told.control, range = told.rewards;
  const points = told.points.filter((point) => point.ahead !== null);
  const [value, low, high] = [0, 1, 2].map((place) => points.map((point) => point.ahead[place]));
  const width = range[1] - range[0];
  const [least, most] = bounds([...low, ...high, 0], -width, width);
  return {
    ...overTime(points, told.seconds, found.better_since === null ? [] : [{ at: found.better_since, kind: "since", text: "better since" }]),
    low: least, high: most,
    tells: (number) => signed(number, [least, most]),
    note: controlNote(told),
    series: [
      { kind: "band", low, high, class: "ahead" },
      { kind: "line", y: points.map(() => 0), class: "zero" },
      { kind: "line", y: value, class: "ahead", name: "how much more the model earns, with its bounds" },
    ],
    reads: (i) => [["ahead", signed(value[i], range)], ["from", signed(low[i], range)], ["to", signed(high[i], range)]],
  };
};

export const controlNote = (told) => {
  const { ahead, better_since: since, control: group, model } = told.control, range = told.rewards;
  if (ahead.estimate === null) return "No rewards yet.";
  const means = `The model earns ${reward(model.mean, range)}, the group ${reward(group.mean, range)}.`;
  if (since !== null) return `${means} Better since ${when(since)}, by ${signed(ahead.low, range)} at least.`;
  if (ahead.high < 0) return `${means} Worse, by ${signed(ahead.high, range)} at least.`;
  return `${means} It is not known yet which is better.`;
};

const bars = (names, values, tells, note, points) => ({
  at: names.map((_, i) => i),
  width: 0.8, from: -0.5, to: names.length - 0.5, xs: names.map((_, i) => i),
  low: 0, high: Math.max(1, ...values) * 1.05,
  tells, note, points,
  tellsX: (i) => names[i], tellsPoint: (i) => names[i],
  series: [{ kind: "bars", y: values, class: "model" }],
  reads: (i) => [["verdicts", count(values[i])]],
});

export const lateness = (told) => {
  const { edges, counts } = told.lateness, all = counts.reduce((a, b) => a + b, 0);
  const names = [...edges.map((edge) => `< ${duration(edge)}`), `≥ ${duration(edges.at(-1))}`];
  const open = count(told.model.open);
  const note = all ? `${count(all)} first verdicts; ${open} decisions wait for one.` : `No verdicts yet; ${open} decisions wait for one.`;
  return bars(names, counts, (number) => (Number.isInteger(number) ? count(number) : ""), note, "after");
};

export const latency = (told) => {
  const { points, seconds, all } = told.traffic;
  const at = (key) => points.map((point) => (point[key] === null ? null : point[key] * 1000));
  const [half, most] = [at("p50"), at("p99")];
  const tells = (number) => `${Number(number.toPrecision(3))} ms`;
  const wrong = all.refused + all.failed;
  return {
    ...overTime(points, seconds),
    low: 0, high: Math.max(1, ...most.filter((found) => found !== null)) * 1.1,
    tells,
    note: points.length
      ? `In ten minutes ${count(all.answered)} requests answered, ${wrong ? `${count(all.refused)} refused, ${count(all.failed)} failed` : "none refused, none failed"}.`
      : "No requests in the last ten minutes.",
    series: [
      { kind: "line", y: most, class: "slowest", name: "99 of 100 within" },
      { kind: "line", y: half, class: "model", name: "half within" },
      { kind: "dots", y: points.map((point) => (point.failed ? 0 : null)), class: "failed", r: 4, name: "failed" },
    ],
    reads: (i) => [
      ["half within", half[i] === null ? "–" : tells(half[i])],
      ["99 of 100 within", most[i] === null ? "–" : tells(most[i])],
      ["answered", count(points[i].answered)],
      ["refused", count(points[i].refused)],
      ["failed", count(points[i].failed)],
    ],
  };
};
