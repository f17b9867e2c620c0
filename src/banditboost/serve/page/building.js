// Elements. Whatever comes from the service becomes text, never markup.

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const SVG = "http://www.w3.org/2000/svg";

// Text in which characters that nobody could see, or that turn the text around them, are told by number.
export const visible = (text) =>
  String(text).replace(HIDDEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

const fill = (element, options, children) => {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map(
    (child) => (child instanceof Node ? child : document.createTextNode(visible(child)))));
  return element;
};

export const make = (tag, options = {}, ...children) => fill(document.createElement(tag), options, children);

export const draw = (tag, options = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), options, children);

// A name of the user's: kept apart from the text around it, whichever way it is written.
export const name = (text) => make("bdi", { class: "name" }, text);

export const find = (id) => document.getElementById(id);
