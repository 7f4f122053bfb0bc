// Speaks with the router. Errors carry the sentence that the server wrote.
import { EventReader } from "./sse.js";
import { Tally } from "./figures.js";
import { apiKey } from "./settings.js";

export class ServerError extends Error {}

function headers() {
  const key = apiKey();
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}

// The server's own sentence, or one that says what came in its place.
async function sentenceOf(response) {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    return error.message ?? error;
  } catch {
    return `The server answered with status ${response.status}, and not as Slipstream does: is a proxy in between?`;
  }
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The router cannot be reached: does it still run?");
  }
  if (!response.ok) throw new ServerError(await sentenceOf(response));
  return response;
}

export async function getJson(path, signal) {
  return (await send(path, { headers: headers(), signal })).json();
}

export async function postJson(path, body, signal) {
  const json = { ...headers(), "content-type": "application/json" };
  return send(path, { method: "POST", headers: json, body: JSON.stringify(body), signal });
}

async function* eventsOf(response) {
  const reader = new EventReader();
  const bytes = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await read(bytes);
    if (done) return;
    yield* reader.feed(decoder.decode(value, { stream: true }));
  }
}

async function read(bytes) {
  try {
    return await bytes.read();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError("The connection to the router broke in the middle of the answer.");
  }
}

// Streams one answer. body: of /v1/chat/completions, without what this adds. trees: draft trees
// that are asked for. onPieces is told the pieces to show and the Tally so far. Throws a
// ServerError, or an AbortError if `signal` stops it.
export async function ask(body, { signal, trees = 0, tally = new Tally(performance.now()), onPieces }) {
  const facts = trees > 0 ? { tokens: true, trees } : { tokens: true };
  const asked = { ...body, stream: true, stream_options: { include_usage: true }, slipstream: facts };
  const response = await postJson("/v1/chat/completions", asked, signal);
  for await (const data of eventsOf(response)) {
    if (data === "[DONE]") return tally;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ServerError(chunk.error.message);
    onPieces(tally.add(chunk, performance.now()), tally);
  }
  throw new ServerError("The stream ended before the answer did: the router's log says why.");
}
