// The page: which model is looked at, and a question to the service every few seconds.

import { Refusal, ask, health, keepKey, keyKept, pathOf } from "./asking.js";
import { find, make, visible } from "./building.js";
import { List, hashOf } from "./list.js";
import { Model, SPANS } from "./model.js";

const OFTEN = 2000;
const SELDOM = 10000;

const YOUNG = 1200; // seconds of a log that ten minutes show better than an hour

const state = { model: null, span: "hour", chosen: false, paused: false, asked: null, timer: null };
const list = new List((error) => trouble(error));
const view = new Model((span) => {
  state.span = span;
  state.chosen = true;
  look();
});
// Until somebody chooses a span, it is one in which there is something to see.
const fits = ({ model }) => state.chosen || (model.changed - model.created < YOUNG) === (state.span === "10 minutes");

const trouble = (error) => {
  find("trouble").hidden = error === null;
  find("trouble").textContent = error === null ? "" : visible(error.message);
  if (error instanceof Refusal && error.status === 401 && !find("keys").open) find("keys").showModal();
};

const showHealth = async () => {
  const chip = find("health");
  let text = "no answer", kind = "bad", why = "";
  try {
    const told = await health();
    const wrong = Object.entries(told.parts).filter(([, part]) => !part.ok);
    text = told.ready ? (wrong.length ? "ready, but look" : "ready") : "not ready";
    kind = told.ready ? (wrong.length ? "look" : "good") : "bad";
    why = wrong.map(([part, { why: told_ }]) => `${part}: ${told_}`).join("\n");
  } catch { /* the chip says it */ }
  const said = why ? `${text} – ${why}` : text;
  if (chip.dataset.said === said) return;
  chip.dataset.said = said;
  chip.className = `chip ${kind}`;
  chip.textContent = visible(said.replaceAll("\n", "; "));
};

const look = async () => {
  clearTimeout(state.timer);
  state.asked?.abort();
  const asked = (state.asked = new AbortController());
  const { model, span } = state;
  await showHealth();
  if (model !== null && !asked.signal.aborted) {
    try {
      const told = await ask(`${pathOf(model, "statistics")}?span=${encodeURIComponent(span)}`, { signal: asked.signal });
      if (asked.signal.aborted) return;
      if (!fits(told)) {
        state.span = state.span === "hour" ? "10 minutes" : "hour";
        look();
        return;
      }
      view.show(model, told);
      if (!view.element.isConnected) find("model").replaceChildren(view.element);
      trouble(null);
    } catch (error) {
      if (error.name === "AbortError") return;
      trouble(error);
    }
  }
  if (!asked.signal.aborted && !state.paused && !document.hidden) state.timer = setTimeout(look, SPANS.indexOf(span) < 2 ? OFTEN : SELDOM);
};

// Addresses of models begin with #/; others are places on the page.
const isPlace = () => location.hash !== "" && !location.hash.startsWith("#/");

const go = () => {
  let model = null;
  try {
    if (!isPlace()) model = decodeURIComponent(location.hash.slice(2)) || null;
  } catch { /* no address of a model */ }
  const isNew = model !== state.model;
  state.model = model;
  document.body.classList.toggle("chosen", model !== null);
  document.title = model === null ? "banditboost" : `${visible(model)} – banditboost`;
  if (isNew) find("model").replaceChildren(make("p", { class: "soft empty" }, model === null ? "Choose a model to see how it does." : "Asking."));
  list.choose(model);
  look();
};

const begin = async () => {
  try {
    const names = await list.begin();
    trouble(null);
    if (!location.hash && names.length === 1) location.replace(hashOf(names[0]));
  } catch (error) {
    trouble(error);
  }
  go();
};

find("pause").addEventListener("click", () => {
  state.paused = !state.paused;
  find("pause").setAttribute("aria-pressed", String(state.paused));
  find("pause").textContent = state.paused ? "Go on" : "Pause";
  if (state.paused) clearTimeout(state.timer);
  else look();
});
find("forget").addEventListener("click", () => find("keys").close("forget"));
find("key").addEventListener("click", () => {
  find("secret").value = keyKept();
  find("keys").showModal();
});
find("keys").addEventListener("close", () => {
  const answer = find("keys").returnValue;
  if (answer !== "keep" && answer !== "forget") return;
  keepKey(answer === "keep" ? find("secret").value.trim() : "");
  find("secret").value = "";
  begin();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !state.paused) look(); });
addEventListener("hashchange", () => {
  if (isPlace()) return;
  go();
  find("main").focus();
});
begin();
