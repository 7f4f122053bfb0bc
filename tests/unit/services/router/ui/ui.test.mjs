// The page's pure parts: reading a stream, and the figures. Run: node --test tests/unit/services/router/ui/ui.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";

import { Tally, fixed, median, partsAt, piecesOf, verdict, words } from "../../../../../services/router/ui/figures.js";
import { EventReader } from "../../../../../services/router/ui/sse.js";

const chunk = (drafted, pieces, content = pieces.join("")) => ({
  choices: [{ delta: { content } }],
  slipstream: { token_ids: drafted.map(() => 7), drafted, pieces },
});

function tallied(text, milliseconds, tokens = 3) {
  const tally = new Tally(0);
  tally.add(chunk([0], [""], text), 100);
  for (let at = 1; at < tokens; ++at) tally.add(chunk([1], [""]), 100 + (milliseconds * at) / (tokens - 1));
  return tally;
}

test("EventReader gives whole events, wherever the network cuts them", () => {
  const stream = ': comment\r\n\r\ndata: {"a":1}\n\nevent: x\rdata: two\rdata:lines\r\rdata: [DONE]\n\n';
  for (let cut = 0; cut <= stream.length; ++cut) {
    const reader = new EventReader();
    const events = [...reader.feed(stream.slice(0, cut)), ...reader.feed(stream.slice(cut))];
    assert.deepEqual(events, ['{"a":1}', "two\nlines", "[DONE]"], `cut at ${cut}`);
  }
});

test("EventReader keeps an event that has not ended", () => {
  const reader = new EventReader();
  assert.deepEqual(reader.feed("data: half"), []);
  assert.deepEqual(reader.feed(" and half\n"), []);
  assert.deepEqual(reader.feed("\n"), ["half and half"]);
});

test("piecesOf adds text that the end of an answer freed", () => {
  assert.deepEqual(piecesOf(chunk([1, 0], ["a", "b"], "abc")), [
    { text: "a", drafted: true },
    { text: "b", drafted: false },
    { text: "c", drafted: false },
  ]);
  assert.deepEqual(piecesOf({ choices: [], usage: {} }), []);
});

test("A Tally counts tokens, steps and time without the prompt's", () => {
  const tally = new Tally(1000);
  tally.add(chunk([0], ["one"]), 1500);
  assert.equal(tally.rate(), null, "one moment is no span of time");
  tally.add(chunk([1, 1, 0], [" two", " three", " four"]), 1600);
  tally.add({ choices: [], metrics: { speculative_decoding: { num_spec_steps: 2 } }, slipstream: { seed: 5 } }, 1700);
  assert.equal(tally.text, "one two three four");
  assert.equal(tally.tokens, 4);
  assert.equal(tally.rate(), 30);
  assert.equal(tally.wait(), 500);
  assert.equal(tally.seed, 5);
  assert.equal(words(tally), "4 tokens · 30.0 tokens/s · 2.00 tokens a step · 50\u00a0% drafted · first after 500 ms");
});

test("what a model thought is shown and not told to it again", () => {
  const tally = new Tally(0);
  tally.add({ choices: [{ delta: { reasoning_content: "hmm " } }], slipstream: { pieces: ["hmm "], drafted: [0] } }, 1);
  tally.add({ choices: [{ delta: { content: "4" } }], slipstream: { pieces: ["4"], drafted: [0] } }, 2);
  assert.equal(tally.text, "hmm 4");
  assert.equal(tally.answer, "4");
});

test("fixed writes no sign before a zero", () => {
  assert.equal(fixed(-0.001, 2), "0.00");
  assert.equal(fixed(-0.01, 2), "-0.01");
  assert.equal(fixed(12.34), "12.3");
});

test("median is null of nothing, and the middle of the rest", () => {
  assert.equal(median([]), null);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
});

test("partsAt finds the first character that differs", () => {
  assert.equal(partsAt("same", "same"), null);
  assert.equal(partsAt("same", "sane"), 2);
  assert.equal(partsAt("same", "same again"), 4);
});

test("verdict says the ratio and whether the words are the same", () => {
  assert.equal(verdict([tallied("a", 200)], [tallied("a", 100)]),
    "With drafts 2.00 times as fast: 20.0 instead of 10.0 tokens/s. The words are the same.");
  assert.match(verdict([tallied("abc", 200)], [tallied("abd", 100)]), /The words differ from character 3 on\.$/);
  assert.match(verdict([tallied("a", 200), tallied("a", 200)], [tallied("a", 100), tallied("b", 100)]),
    /\(medians of 2 rounds\)\. The words differ from character 1 on\.$/);
  assert.match(verdict([tallied("a", 200, 1)], [tallied("a", 100)]), /too short/);
  assert.equal(verdict([], [tallied("a", 100)]), "");
});
