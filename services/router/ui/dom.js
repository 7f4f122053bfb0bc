// Makes elements. Text is always set as text: nothing that a model or a server says becomes HTML.

export const byId = (id) => document.getElementById(id);

// element("p", {class: "error"}, "text", otherElement)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// The same for SVG.
export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Leaves an element alone that shows the text already, so that nothing flickers and a selection stays.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// Shows the pieces of an answer: each drafted token in a span of its own, so that its edges show
// where it ends, and each run of other tokens in one.
export function appendPieces(answer, pieces) {
  for (const { text, drafted } of pieces) {
    if (text === "") continue;
    const kind = drafted ? "drafted" : "own";
    const last = answer.lastElementChild;
    if (last?.className === kind && kind === "own") last.append(text);
    else answer.append(element("span", { class: kind }, text));
  }
}
