// Questions to the service. The key stays in the session storage of this tab.

const NAME = "banditboost-key";

export const keyKept = () => sessionStorage.getItem(NAME) ?? "";

export const keepKey = (key) => {
  if (key) sessionStorage.setItem(NAME, key);
  else sessionStorage.removeItem(NAME);
};

// What the service refused: its problem details.
export class Refusal extends Error {
  constructor(status, problem) {
    super([problem.detail, problem.remedy].filter(Boolean).join("; ") || `status ${status}`);
    this.status = status;
  }
}

const problemOf = async (answer) => {
  try {
    return await answer.json();
  } catch {
    return {};
  }
};

export const ask = async (path, { method = "GET", body, signal } = {}) => {
  const headers = {};
  if (keyKept()) headers.Authorization = `Bearer ${keyKept()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method, headers, body, signal, credentials: "omit", redirect: "error" });
  if (!answer.ok) throw new Refusal(answer.status, await problemOf(answer));
  return answer.json();
};

export const pathOf = (name, ...rest) => ["/v1/models", encodeURIComponent(name), ...rest].join("/");

// Ready or not: an answer of 503 is one, too.
export const health = async () => {
  const answer = await fetch("/health/ready", { credentials: "omit" });
  return answer.json();
};
