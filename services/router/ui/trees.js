// Draft trees: where each node stands in the picture, and what is said of it. Pure, so that tests
// run it without a browser.

export const kTreesKept = 64; // of an answer; a request may ask for as many

const kLabelCharacters = 11;
const kSaid = {
  root: "the text so far",
  accepted: "accepted",
  rejected: "rejected: the model wanted another token here",
  unreached: "not reached: a token before it was rejected, or the answer ended",
  trimmed: "cut before the model looked at it",
  own: "the model's own choice",
};

const oneLine = (text) => text.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll("\r", "␍");

// A token as one short line: white space is made visible.
export function labelOf(text) {
  const line = oneLine(text).replaceAll(" ", "␣");
  const characters = [...line];
  if (characters.length === 0) return "∅";
  return characters.length <= kLabelCharacters ? line : `${characters.slice(0, kLabelCharacters - 1).join("")}…`;
}

export const proposerName = ({ method, model }) => (model === "" ? method : `${method} (${model})`);

const accepted = (tree) => tree.nodes.filter((node) => node.fate === "accepted");

// [{text, kind, by, chance, parent, level, column}] from the root on. kind: "root", "own", or a
// fate. parent: index in this list; -1 of the root. A node's first child stands straight below it,
// the others to its right, so the accepted path with the model's own token is one straight line; of
// the others the lowest come first, which takes less width.
export function placed(tree) {
  const list = [{ text: "", kind: "root", by: null, chance: null, parent: -1 }];
  for (const { text, fate, by, chance, parent } of tree.nodes) list.push({ text, kind: fate, by, chance, parent: parent + 1 });
  if (tree.own !== null) {
    const last = list.findLastIndex((node) => node.kind === "accepted" || node.kind === "root");
    list.push({ text: tree.own.text, kind: "own", by: null, chance: null, parent: last });
  }
  const children = list.map(() => []);
  list.forEach((node, at) => node.parent >= 0 && children[node.parent].push(at));
  const first = (at) => (["accepted", "own"].includes(list[at].kind) ? 0 : 1);
  const heights = list.map(() => 0); // levels below a node; parents come before their children
  for (let at = list.length - 1; at > 0; --at) heights[list[at].parent] = Math.max(heights[list[at].parent], heights[at] + 1);
  for (const each of children) each.sort((one, other) => first(one) - first(other) || heights[one] - heights[other] || one - other);
  const free = list.map(() => 0); // by level, the first column that has nothing yet
  const place = (at, level, column) => {
    Object.assign(list[at], { level, column });
    free[level] = column + 1;
    children[at].forEach((child, order) => {
      const levels = free.slice(level + 1, level + 2 + heights[child]);
      place(child, level + 1, order === 0 ? column : Math.max(...levels));
    });
  };
  place(0, 0, 0);
  return list;
}

// Where an arrow key leads from the node at `from`: its index in placed(); `from` if there is none.
export function neighbour(list, from, key) {
  const here = list[from];
  if (key === "ArrowUp") return here.parent >= 0 ? here.parent : from;
  const at = (fits) => {
    const best = list.map((node, index) => ({ node, index })).filter(({ node }) => fits(node));
    best.sort((one, other) => Math.abs(one.node.column - here.column) - Math.abs(other.node.column - here.column));
    return best[0]?.index ?? from;
  };
  if (key === "ArrowDown") return at((node) => node.parent === from);
  if (key === "ArrowLeft") return at((node) => node.level === here.level && node.column < here.column);
  if (key === "ArrowRight") return at((node) => node.level === here.level && node.column > here.column);
  return from;
}

// One node in words: “ mat”: accepted, guessed by ngram, 83 % likely.
export function wordsOf(node, proposers) {
  if (node.kind === "root") return kSaid.root;
  const guessed = node.by === null ? "" : `, guessed by ${proposerName(proposers[node.by])}, ${Math.round(100 * node.chance)}\u00a0% likely`;
  return `“${oneLine(node.text)}”${guessed}: ${kSaid[node.kind]}`;
}

// The whole tree in words.
export function sentence(tree) {
  const guesses = tree.nodes.length === 1 ? "1 guess" : `${tree.nodes.length} guesses`;
  const path = oneLine(accepted(tree).map((node) => node.text).join(""));
  const said = path === "" ? "none accepted" : `${accepted(tree).length} accepted: “${path}”`;
  const own = tree.own === null ? "the answer ended there" : `the model's own: “${oneLine(tree.own.text)}”`;
  return `Token ${tree.index + 1} on: ${guesses}, ${said}; ${own}.`;
}

// {guesses, accepted} of each, for the strip.
export const bars = (trees) => trees.map((tree) => ({ guesses: tree.nodes.length, accepted: accepted(tree).length }));
