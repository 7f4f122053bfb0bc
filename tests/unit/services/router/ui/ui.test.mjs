// The page's pure parts: reading a stream, and the figures. Run: node --test tests/unit/services/router/ui/ui.test.mjs
import assert from "node:assert/strict";
import { test } from "node:test";

import { Tally, fixed, median, partsAt, piecesOf, verdict, words } from "../../../../../services/router/ui/figures.js";
import { EventReader } from "../../../../../services/router/ui/sse.js";
import { bars, kTreesKept, labelOf, neighbour, placed, sentence, wordsOf } from "../../../../../services/router/ui/trees.js";

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

const node = (text, parent, fate, by = 0) => ({ token_id: 7, text, parent, fate, by, chance: 0.5 });
// root -> " the" -> {" cat" (rejected), own " mat"}, root -> "a" -> "b"
const kTree = {
  index: 4,
  proposers: [{ method: "ngram", model: "" }, { method: "small-lm", model: "tiny" }],
  nodes: [node("a", -1, "rejected"), node(" the", -1, "accepted", 1), node(" cat", 1, "rejected"), node("b", 0, "unreached")],
  own: { token_id: 8, text: " mat" },
};

test("placed draws the accepted path and the model's own token as one straight line", () => {
  const list = placed(kTree);
  const at = Object.fromEntries(list.map(({ text, kind, level, column, parent }) => [text, { kind, level, column, parent }]));
  assert.deepEqual(at[""], { kind: "root", level: 0, column: 0, parent: -1 });
  assert.deepEqual(at[" the"], { kind: "accepted", level: 1, column: 0, parent: 0 });
  assert.deepEqual(at[" mat"], { kind: "own", level: 2, column: 0, parent: 2 });
  assert.deepEqual(at["b"], { kind: "unreached", level: 2, column: at["a"].column, parent: 1 });
  const places = new Set(list.map(({ level, column }) => `${level} ${column}`));
  assert.equal(places.size, list.length, "no two nodes are in one place");
});

test("placed puts the model's own token behind the root where nothing was accepted, and has none where there is none", () => {
  const wrong = { ...kTree, nodes: [node("a", -1, "rejected"), node("b", 0, "unreached")] };
  assert.deepEqual(placed(wrong).map(({ kind, parent }) => [kind, parent]), [["root", -1], ["rejected", 0], ["unreached", 1], ["own", 0]]);
  assert.equal(placed({ ...wrong, own: null }).length, 3);
});

test("placed gives no two nodes one place, keeps first children below their parents, and wastes no width", () => {
  let state = 1;
  const below = (end) => (state = (state * 48271) % 2147483647) % end;
  for (let trial = 0; trial < 300; ++trial) {
    const nodes = Array.from({ length: 1 + below(63) }, (_, at) => node(`${at}`, below(at + 1) - 1, "rejected"));
    const list = placed({ ...kTree, nodes, own: null });
    assert.equal(new Set(list.map(({ level, column }) => `${level} ${column}`)).size, list.length);
    list.forEach((each, at) => {
      if (at > 0) assert.equal(each.level, list[each.parent].level + 1);
      const children = list.filter(({ parent }) => parent === at);
      if (children.length > 0) assert.equal(Math.min(...children.map(({ column }) => column)), each.column);
    });
  }
  const fan = [node("a", -1, "accepted"), node("b", 0, "rejected"), node("c", -1, "rejected"), node("d", 0, "rejected")];
  assert.equal(Math.max(...placed({ ...kTree, nodes: fan, own: null }).map(({ column }) => column)), 1);
  const tall = [...fan, node("e", -1, "rejected"), node("f", 2, "rejected")]; // c is taller than e now
  const columns = Object.fromEntries(placed({ ...kTree, nodes: tall, own: null }).map(({ text, column }) => [text, column]));
  assert.deepEqual([columns.e, columns.c, columns.f], [1, 2, 2]);
});

test("arrow keys lead through a tree", () => {
  const list = placed(kTree);
  const from = (text) => list.findIndex((each) => each.text === text);
  assert.equal(neighbour(list, 0, "ArrowDown"), from(" the"), "straight down first");
  assert.equal(neighbour(list, from(" the"), "ArrowRight"), from("a"));
  assert.equal(neighbour(list, from("a"), "ArrowLeft"), from(" the"));
  assert.equal(neighbour(list, from("b"), "ArrowUp"), from("a"));
  assert.equal(neighbour(list, from(" mat"), "ArrowDown"), from(" mat"), "there is nothing below");
  assert.equal(neighbour(list, 0, "ArrowUp"), 0);
});

test("a tree and its nodes are told in words", () => {
  assert.equal(sentence(kTree), "Token 5 on: 4 guesses, 1 accepted: “ the”; the model's own: “ mat”.");
  assert.equal(sentence({ ...kTree, nodes: kTree.nodes.slice(0, 1), own: null }), "Token 5 on: 1 guess, none accepted; the answer ended there.");
  assert.equal(wordsOf(placed(kTree)[2], kTree.proposers), "“ the”, guessed by small-lm (tiny), 50\u00a0% likely: accepted");
  assert.equal(wordsOf({ text: "\n", kind: "own", by: null }, []), "“⏎”: the model's own choice", "on one line");
  assert.equal(wordsOf(placed(kTree).at(-1), kTree.proposers), "“ mat”: the model's own choice");
});

test("a label shows white space and stays short", () => {
  assert.equal(labelOf(" a\n"), "␣a⏎");
  assert.equal(labelOf(""), "∅");
  assert.equal([...labelOf("\u{1F600}".repeat(40))].length, 11);
});

test("a Tally keeps the newest trees", () => {
  const tally = new Tally(0);
  for (let at = 0; at < kTreesKept + 2; ++at) tally.add({ choices: [], slipstream: { trees: [{ ...kTree, index: at }] } }, at);
  tally.add({ choices: [] }, 99);
  assert.equal(tally.trees.length, kTreesKept);
  assert.equal(tally.trees[0].index, 2);
  assert.deepEqual(bars(tally.trees)[0], { guesses: 4, accepted: 1 });
});
