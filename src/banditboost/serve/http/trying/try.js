"use strict";
// Shows the operations of openapi.json as forms. Everything is put in as text, never as markup.

const EXAMPLES = {
  DecisionBody: { features: { hour: 21, device: "phone" }, ranking: -1 },
  VerdictBody: { correct: true },
  ModelSettings: { labels: ["sports", "politics", "science"] },
};

function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function labelled(text, input) {
  const label = element("label", text);
  label.append(input);
  return label;
}

function example(schema) {
  if (schema.anyOf) return example(schema.anyOf[0]);
  if (schema.type === "array") return [];
  return EXAMPLES[(schema.$ref || "").split("/").pop()] || {};
}

function addressed(path, inputs) {
  const query = new URLSearchParams();
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value) query.set(parameter.name, input.value);
  }
  return query.size ? `${path}?${query}` : path;
}

async function send(method, path, inputs, body, shown) {
  const headers = {};
  const key = document.getElementById("key").value;
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body) headers["Content-Type"] = "application/json";
  shown.textContent = "…";
  try {
    const answer = await fetch(addressed(path, inputs), { method, headers, body: body ? body.value : undefined });
    const text = await answer.text();
    let told = text;
    try { told = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON: shown as it is */ }
    shown.textContent = `${answer.status} ${answer.statusText}\n${told.slice(0, 100000)}`;
  } catch (error) {
    shown.textContent = String(error);
  }
}

function form(path, method, operation) {
  const made = element("form");
  const inputs = (operation.parameters || []).map((parameter) => {
    const required = parameter.required ? { required: "" } : {};
    const input = element("input", "", { name: parameter.name, ...required });
    if (parameter.name === "name") input.value = "default";
    made.append(labelled(`${parameter.name}: ${parameter.description}`, input));
    return [parameter, input];
  });
  const json = operation.requestBody && operation.requestBody.content["application/json"];
  let body = null;
  if (json) {
    body = element("textarea", JSON.stringify(example(json.schema), null, 2), { name: "body" });
    made.append(labelled("Body", body));
  }
  const shown = element("pre", "");
  made.append(element("button", "Send"));
  made.append(shown);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    send(method.toUpperCase(), path, inputs, body, shown);
  });
  return made;
}

async function show() {
  const place = document.getElementById("operations");
  const told = await (await fetch("openapi.json")).json();
  place.replaceChildren();
  for (const [path, methods] of Object.entries(told.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const details = element("details");
      const summary = element("summary");
      summary.append(element("b", method.toUpperCase()), element("code", path), ` ${operation.summary}`);
      details.append(summary, element("p", operation.description || ""), form(path, method, operation));
      place.append(details);
    }
  }
}

show();
