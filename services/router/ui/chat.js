// The conversation: asks, shows the tokens as they come, and what they brought.
import { ServerError, ask } from "./api.js";
import { appendPieces, byId, element, setText } from "./dom.js";
import { Tally, words } from "./figures.js";
import { requestBody, settingsAreRight } from "./settings.js";
import { clearTrees, showTrees, treesWanted } from "./tree_view.js";

const turns = []; // {question, answer, failed, article}: a turn that failed is not told to the model
let running = null; // the AbortController of the answer under way

function messagesWith(question) {
  const told = turns.filter((turn) => turn.answer !== "").flatMap((turn) => [
    { role: "user", content: turn.question },
    { role: "assistant", content: turn.answer },
  ]);
  return [...told, { role: "user", content: question }];
}

function showButtons() {
  const busy = running !== null;
  byId("send").disabled = busy;
  byId("stop").disabled = !busy;
  byId("retry").disabled = byId("clear").disabled = busy || turns.length === 0;
}

// Follows the answer, unless the reader has scrolled up.
function followed(change) {
  const page = document.scrollingElement;
  const atEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 80;
  change();
  if (atEnd) page.scrollTop = page.scrollHeight;
}

function addTurn(question) {
  const answer = element("div", { class: "answer", "aria-busy": "true" });
  const figures = element("p", { class: "figures" }, "waiting for the first token");
  const article = element("article", {}, element("p", { class: "question" }, question), answer, figures);
  followed(() => byId("turns").append(article));
  return { question, answer: "", article, parts: { answer, figures } };
}

function endTurn(turn, tally, error) {
  turn.answer = tally.answer;
  turn.parts.answer.removeAttribute("aria-busy");
  const stopped = error?.name === "AbortError";
  const figures = tally.tokens > 0 ? words(tally) : "";
  setText(turn.parts.figures, [figures, stopped ? "stopped" : ""].filter(Boolean).join(" · "));
  showTrees(tally.trees, { ends: true });
  if (error && !stopped) followed(() => turn.article.append(element("p", { class: "error", role: "alert" }, error.message)));
  else setText(byId("announcer"), stopped ? "Stopped." : tally.text);
  if (error && !stopped && !(error instanceof ServerError)) console.error(error);
}

async function run(question) {
  const body = requestBody(messagesWith(question));
  const turn = addTurn(question);
  const tally = new Tally(performance.now());
  turns.push(turn);
  running = new AbortController();
  showButtons();
  setText(byId("announcer"), "Answering.");
  clearTrees();
  const onPieces = (pieces) => {
    followed(() => {
      appendPieces(turn.parts.answer, pieces);
      if (tally.tokens > 0) setText(turn.parts.figures, words(tally));
    });
    showTrees(tally.trees);
  };
  const error = await ask(body, { signal: running.signal, trees: treesWanted(), tally, onPieces }).then(() => null, (reason) => reason);
  endTurn(turn, tally, error);
  running = null;
  showButtons();
}

function send() {
  const box = byId("question");
  const question = box.value.trim();
  if (running || question === "" || !settingsAreRight()) return;
  box.value = "";
  run(question);
}

// Asks the last question once more, in place of its answer.
function retry() {
  if (running || turns.length === 0 || !settingsAreRight()) return;
  const { question, article } = turns.pop();
  article.remove();
  run(question);
  byId("question").focus();
}

function clear() {
  turns.length = 0;
  byId("turns").replaceChildren();
  clearTrees();
  showButtons();
  byId("question").focus();
}

export const stopChat = () => running?.abort();

export function startChat() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  byId("question").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  });
  byId("stop").addEventListener("click", () => {
    stopChat();
    byId("question").focus();
  });
  byId("retry").addEventListener("click", retry);
  byId("clear").addEventListener("click", clear);
  showButtons();
}
