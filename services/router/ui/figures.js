// Counts what an answer brought, and writes it in words. Pure, so that tests run it without a
// browser; times are milliseconds and come in from outside.
import { kTreesKept } from "./trees.js";

// The tokens of one chunk: [{text, drafted}]. Text beyond the pieces was held back (a possible stop
// string, half a character) and is freed by the end of the answer; nobody drafted it as such.
export function piecesOf(chunk) {
  const facts = chunk.slipstream ?? {};
  const texts = facts.pieces ?? [];
  const pieces = texts.map((text, at) => ({ text, drafted: facts.drafted?.[at] === 1 }));
  const delta = chunk.choices?.[0]?.delta ?? {};
  const said = (delta.reasoning_content ?? "") + (delta.content ?? "");
  const held = said.slice(texts.join("").length);
  return held === "" ? pieces : [...pieces, { text: held, drafted: false }];
}

// Takes the chunks of one stream.
export class Tally {
  text = ""; // all that was shown, reasoning too
  answer = ""; // without it: what the model is told later
  tokens = 0;
  drafted = 0;
  steps = null; // verify steps; only a stream that ended tells them
  finish = null;
  seed = null;
  trees = []; // draft trees, if they were asked for, the newest last
  #asked;
  #first = null; // time of the first tokens
  #firstTokens = 0; // that came with them
  #last = null;

  constructor(asked) {
    this.#asked = asked;
  }

  // Returns the pieces to show.
  add(chunk, now) {
    const flags = chunk.slipstream?.drafted ?? [];
    this.tokens += flags.length;
    this.drafted += flags.filter((flag) => flag === 1).length;
    if (flags.length > 0) this.#clock(flags.length, now);
    this.seed = chunk.slipstream?.seed ?? this.seed;
    this.finish = chunk.choices?.[0]?.finish_reason ?? this.finish;
    this.steps = chunk.metrics?.speculative_decoding?.num_spec_steps ?? this.steps;
    const trees = chunk.slipstream?.trees ?? [];
    if (trees.length > 0) this.trees = [...this.trees, ...trees].slice(-kTreesKept);
    const pieces = piecesOf(chunk);
    for (const piece of pieces) this.text += piece.text;
    this.answer += chunk.choices?.[0]?.delta?.content ?? "";
    return pieces;
  }

  #clock(tokens, now) {
    if (this.#first === null) {
      this.#first = now;
      this.#firstTokens = tokens;
    }
    this.#last = now;
  }

  // Tokens a second while the answer ran: those behind the first ones, so that the prompt does not
  // count. null: there was no time between two of them.
  rate() {
    const tokens = this.tokens - this.#firstTokens;
    return tokens > 0 && this.#last > this.#first ? (1000 * tokens) / (this.#last - this.#first) : null;
  }

  // Milliseconds until the first token; null: none came.
  wait() {
    return this.#first === null ? null : this.#first - this.#asked;
  }

  tokensPerStep() {
    return this.steps > 0 ? this.tokens / this.steps : null;
  }

  draftedShare() {
    return this.tokens > 0 ? this.drafted / this.tokens : null;
  }
}

export const percent = (share) => `${Math.round(100 * share)}\u00a0%`; // never broken into two lines

// Without the sign of a zero.
export function fixed(number, digits = 1) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

export function words(tally) {
  const parts = [tally.tokens === 1 ? "1 token" : `${tally.tokens} tokens`];
  if (tally.rate() !== null) parts.push(`${fixed(tally.rate())} tokens/s`);
  if (tally.tokensPerStep() !== null) parts.push(`${fixed(tally.tokensPerStep(), 2)} tokens a step`);
  if (tally.draftedShare() !== null) parts.push(`${percent(tally.draftedShare())} drafted`);
  if (tally.wait() !== null) parts.push(`first after ${Math.round(tally.wait())} ms`);
  if (tally.finish === "length") parts.push("cut at the most tokens");
  return parts.join(" · ");
}

export function median(numbers) {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Where two texts part: the index of the first character that differs; null: they are the same.
export function partsAt(one, other) {
  if (one === other) return null;
  let at = 0;
  while (at < one.length && one[at] === other[at]) ++at;
  return at;
}

// What a comparison found. plain, drafts: the Tallies of its rounds, those that ended.
export function verdict(plain, drafts) {
  const rates = (tallies) => median(tallies.map((tally) => tally.rate()).filter((rate) => rate !== null));
  const [slow, fast] = [rates(plain), rates(drafts)];
  if (plain.length === 0 || drafts.length === 0) return "";
  const all = [...plain, ...drafts];
  const same = all.every((tally) => tally.text === all[0].text);
  const at = same ? null : partsAt(plain[0].text, all.find((tally) => tally.text !== plain[0].text)?.text ?? "");
  const sayings = same ? "The words are the same." : `The words differ from character ${at + 1} on.`;
  if (slow === null || fast === null) return `${sayings} The answers are too short to tell how fast they were.`;
  const median_of = plain.length > 1 ? ` (medians of ${plain.length} rounds)` : "";
  return `With drafts ${fixed(fast / slow, 2)} times as fast: ${fixed(fast)} instead of ${fixed(slow)} tokens/s${median_of}. ${sayings}`;
}
