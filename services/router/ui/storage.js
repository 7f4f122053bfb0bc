// What the browser keeps for the page. Where it keeps nothing (a setting of the user's), the page
// works without.
function stored(kind) {
  try {
    return window[kind];
  } catch {
    return null;
  }
}

// kind: "sessionStorage" or "localStorage". null: there is nothing of this name.
export const read = (kind, name) => stored(kind)?.getItem(name) ?? null;

export function write(kind, name, value) {
  try {
    stored(kind)?.setItem(name, value);
  } catch {
    // It is full, or keeps nothing: the value lives as long as the page.
  }
}
