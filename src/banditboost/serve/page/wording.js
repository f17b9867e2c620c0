// Numbers and times in words.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (number) => whole.format(number);
export const compact = (number) => (number < 10000 ? whole.format(number) : short.format(number));

// What is not all, and not nothing, does not read like it.
export const percent = (share, digits = 0) => {
  const least = 10 ** -digits;
  if (share > 0 && share * 100 < least / 2) return `< ${least.toFixed(digits)} %`;
  if (share < 1 && share * 100 >= 100 - least / 2) return `> ${(100 - least).toFixed(digits)} %`;
  return `${(share * 100).toFixed(digits)} %`;
};

// As many digits as the width of the range needs.
export const reward = (value, range) => {
  if (value === null || value === undefined) return "–";
  const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(range[1] - range[0]))));
  return value.toFixed(digits);
};

export const signed = (value, range) => {
  if (value === null || value === undefined) return "–";
  const text = reward(Math.abs(value), range);
  return value < 0 && Number(text) !== 0 ? `−${text}` : `+${text}`;
};

export const duration = (seconds) => {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if (seconds >= size) return `${Number((seconds / size).toFixed(1))} ${unit}`;
  }
  return `${Number(seconds.toFixed(1))} s`;
};

const pad = (number) => String(number).padStart(2, "0");

export const clock = (seconds, exact = true) => {
  const time = new Date(seconds * 1000);
  return `${pad(time.getHours())}:${pad(time.getMinutes())}${exact ? `:${pad(time.getSeconds())}` : ""}`;
};

export const day = (seconds) => {
  const time = new Date(seconds * 1000);
  return `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())}`;
};

export const when = (seconds) => `${day(seconds)} ${clock(seconds)}`;

const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200].concat(
  [1, 2, 7, 14, 28, 91, 182, 364].map((days) => days * 86400));
const MOST_TIMES = 12;

// Round times of this place between two others, no closer than points are, so that each reads differently.
export const timesBetween = (from, to, apart) => {
  const step = STEPS.find((seconds) => seconds >= apart && (to - from) / seconds <= MOST_TIMES) ?? STEPS.at(-1);
  const shift = new Date(from * 1000).getTimezoneOffset() * 60;
  const found = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) found.push(at);
  return found;
};

// A time for an axis on which points are so many seconds apart.
export const onAxis = (seconds, apart) => {
  if (apart < 60) return clock(seconds);
  if (apart < 7200) return clock(seconds, false);
  if (apart < 86400) return `${day(seconds).slice(5)} ${clock(seconds, false)}`;
  return day(seconds);
};
