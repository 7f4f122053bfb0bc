// The settings of the requests. They live as long as the tab (sessionStorage), the API key among
// them: it is written nowhere else.
import { byId, setText } from "./dom.js";
import { read, write } from "./storage.js";

const kStored = "slipstream.settings";
const kTexts = ["key", "temperature", "seed", "max_tokens", "system"];
const kNumbers = ["temperature", "seed", "max_tokens"];

const form = () => byId("settings-form");
const field = (name) => form().elements[name];

export const apiKey = () => field("key").value.trim();
export const speculates = () => field("speculation").checked;

// Whether all can be sent; if not, the page shows which field is wrong.
export function settingsAreRight() {
  if (form().checkValidity()) return true;
  byId("settings").open = true;
  return form().reportValidity();
}

// The body of a request with these messages. A field that is left empty is the server's to choose.
export function requestBody(messages) {
  const system = field("system").value.trim();
  const body = { messages: system === "" ? messages : [{ role: "system", content: system }, ...messages] };
  for (const name of kNumbers) {
    if (field(name).value !== "") body[name] = Number(field(name).value);
  }
  return speculates() ? body : { ...body, speculation: { enabled: false } };
}

function summary() {
  const parts = kNumbers.filter((name) => field(name).value !== "").map((name) => `${name} ${field(name).value}`);
  if (!speculates()) parts.push("no speculation");
  return parts.join(", ").replaceAll("_", " ");
}

function store() {
  const values = Object.fromEntries(kTexts.map((name) => [name, field(name).value]));
  write("sessionStorage", kStored, JSON.stringify({ ...values, speculation: speculates() }));
  setText(byId("settings-now"), summary());
}

export function startSettings(onKey) {
  const stored = JSON.parse(read("sessionStorage", kStored) ?? "{}");
  for (const name of kTexts) field(name).value = stored[name] ?? "";
  field("speculation").checked = stored.speculation ?? true;
  form().addEventListener("input", store);
  form().addEventListener("submit", (event) => event.preventDefault());
  field("key").addEventListener("change", onKey);
  store();
}
