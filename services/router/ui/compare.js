// Asks one question plainly and with drafts by turns, and tells which was faster and whether the
// words are the same.
import { ask } from "./api.js";
import { appendPieces, byId, setText } from "./dom.js";
import { verdict, words } from "./figures.js";
import { requestBody, settingsAreRight } from "./settings.js";

const kSeedMost = 2 ** 31;
const kSides = ["plain", "drafts"];
let running = null; // the AbortController of the comparison under way

function showButtons() {
  byId("compare-run").disabled = running !== null;
  byId("compare-stop").disabled = running === null;
}

// Both sides need one seed, as otherwise sampled words differ by chance.
function bodyOf(question) {
  const body = requestBody([{ role: "user", content: question }]);
  return { seed: Math.floor(Math.random() * kSeedMost), ...body };
}

async function askSide(side, body, signal) {
  const [answer, figures] = [byId(`${side}-answer`), byId(`${side}-figures`)];
  answer.replaceChildren();
  setText(figures, "waiting for the first token");
  const speculation = { enabled: side === "drafts" };
  const onPieces = (pieces, tally) => {
    appendPieces(answer, pieces);
    if (tally.tokens > 0) setText(figures, words(tally));
  };
  return ask({ ...body, speculation }, { signal, onPieces });
}

// Every other round begins with drafts, so that neither side always finds the machine warmer.
async function rounds(body, count, signal) {
  const tallies = { plain: [], drafts: [] };
  for (let round = 0; round < count; ++round) {
    const order = round % 2 === 0 ? kSides : [...kSides].reverse();
    for (const side of order) {
      setText(byId("verdict"), `Round ${round + 1} of ${count}: ${side === "plain" ? "plainly" : "with drafts"}.`);
      tallies[side].push(await askSide(side, body, signal));
    }
  }
  return verdict(tallies.plain, tallies.drafts);
}

async function compare() {
  const question = byId("compare-question").value.trim();
  if (running || question === "" || !settingsAreRight()) return;
  running = new AbortController();
  showButtons();
  byId("verdict").classList.remove("error");
  try {
    setText(byId("verdict"), await rounds(bodyOf(question), Number(byId("rounds").value), running.signal));
  } catch (error) {
    const stopped = error.name === "AbortError";
    byId("verdict").classList.toggle("error", !stopped);
    setText(byId("verdict"), stopped ? "Stopped." : error.message);
  }
  running = null;
  showButtons();
}

export const stopCompare = () => running?.abort();

export function startCompare() {
  byId("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    compare();
  });
  byId("compare-question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("compare-form").requestSubmit();
  });
  byId("compare-stop").addEventListener("click", stopCompare);
  showButtons();
}
