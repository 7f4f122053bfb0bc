// The web page at /ui in a real browser, before a real cluster with the demo's model.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { openBrowser, startServer } from "./stage.js";

const kAnswerMs = 60_000;
const kRepeats = "Write a short poem about rain, with a refrain after each verse."; // much of it is drafted
const kLong = "Tell me a long story about a lighthouse.";
let server;

before(async () => (server = await startServer()));
after(() => server.stop());

// A page for one test; it fails if the browser's console had anything to complain about.
function onPage(name, options, steps) {
  test(name, async () => {
    const browser = await openBrowser(options);
    browser.page.setDefaultTimeout(kAnswerMs);
    try {
      await browser.page.goto(`${server.url}/ui`);
      await steps(browser.page);
      assert.deepEqual(browser.problems, [], "the console complained");
    } finally {
      await browser.stop();
    }
  });
}

// With UI_PICTURES, pictures of the page go to that folder.
async function picture(page, name) {
  if (process.env.UI_PICTURES) writeFileSync(join(process.env.UI_PICTURES, `${name}.png`), await page.screenshot());
}

async function settings(page, values) {
  await page.locator("#settings summary").click();
  for (const [name, value] of Object.entries(values)) await page.fill(`#settings-form [name=${name}]`, value);
  await page.locator("#settings summary").click();
}

async function ask(page, question) {
  await page.fill("#question", question);
  await page.press("#question", "Enter");
}

const lastTurn = (page) => page.locator("#turns article").last();
const idle = (page) => page.waitForSelector("#send:enabled");
const text = (locator) => locator.innerText();

async function answered(page) {
  await idle(page);
  return text(lastTurn(page).locator(".answer"));
}

const scrollsSideways = (page) => page.evaluate(() => document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth);

onPage("An answer marks its drafted tokens, and not by colour alone", {}, async (page) => {
  await settings(page, { temperature: "0", max_tokens: "96" });
  await ask(page, kRepeats);
  assert.match(await answered(page), /rain/);
  const drafted = lastTurn(page).locator(".drafted");
  assert.ok((await drafted.count()) > 20, "tokens of a repetition were drafted");
  assert.equal(await drafted.first().evaluate((span) => getComputedStyle(span).borderBottomStyle), "solid");
  assert.match(await text(lastTurn(page).locator(".figures")), /tokens\/s · [\d.]+ tokens a step · \d+\s% drafted/);
  await picture(page, "chat-light");
  await page.click("#clear");
  assert.equal(await page.locator("#turns article").count(), 0);
});

onPage("Speculation that is switched off drafts nothing, and the words stay", {}, async (page) => {
  await settings(page, { temperature: "0", max_tokens: "48" });
  await ask(page, kRepeats);
  const words = await answered(page);
  await page.locator("#settings summary").click();
  await page.uncheck("[name=speculation]");
  await page.click("#retry");
  assert.equal(await answered(page), words);
  assert.equal(await page.locator("#turns article").count(), 1, "a retry takes the place of its answer");
  assert.equal(await lastTurn(page).locator(".drafted").count(), 0);
});

onPage("Stop ends an answer, and so does Escape", {}, async (page) => {
  await settings(page, { temperature: "0", max_tokens: "2000" });
  for (const stop of [() => page.click("#stop"), () => page.keyboard.press("Escape")]) {
    await ask(page, kLong);
    await lastTurn(page).locator(".answer .own").first().waitFor();
    await stop();
    await idle(page);
    assert.match(await text(lastTurn(page).locator(".figures")), /stopped/);
  }
});

onPage("Shift+Enter breaks the line, and markup in a question stays text", {}, async (page) => {
  await settings(page, { max_tokens: "4" });
  await page.locator("#question").pressSequentially("<img src=x onerror=alert(1)>");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("<b>two</b>");
  await page.keyboard.press("Enter");
  await idle(page);
  assert.equal(await text(page.locator(".question")), "<img src=x onerror=alert(1)>\n<b>two</b>");
  assert.equal(await page.locator("#turns img, #turns b").count(), 0);
});

onPage("The trees of an answer are drawn as it comes, and can be stepped through", {}, async (page) => {
  await settings(page, { temperature: "0", max_tokens: "96" });
  await page.locator("#no-tree", { hasText: "Ask something" }).waitFor();
  await ask(page, kRepeats);
  await page.locator("#tree .node.own").waitFor(); // while it comes, or at its end
  await answered(page);
  const count = async () => (await text(page.locator("#tree-count"))).split(" of ").map(Number);
  await page.waitForFunction(() => /^(\d+) of \1$/.test(document.getElementById("tree-count").textContent)); // the newest
  const [newest, all] = await count();
  assert.ok(all > 4 && newest === all, `${newest} of ${all}`);
  while ((await page.locator("#tree .node.accepted").count()) < 2) await page.click("#tree-older");
  const path = page.locator("#tree .node.accepted");
  assert.match(await path.first().getAttribute("aria-label"), /^“.*”, guessed by .+, \d+\s% likely: accepted$/);
  assert.match(await text(page.locator("#tree-words")), /^Token \d+ on: \d+ guess(es)?, \d+ accepted: “.+”; /);
  const dashes = (selector) => page.locator(selector).first().evaluate((shape) => getComputedStyle(shape).strokeDasharray);
  assert.equal(await dashes("#tree .node.accepted rect"), "none");
  assert.equal(await dashes("#tree .edge.accepted"), "none");
  await picture(page, "trees-light");
  await page.locator("#tree-strip").focus();
  await page.keyboard.press("Home");
  assert.equal((await count())[0], 1);
  assert.equal(await page.locator("#tree-older").isDisabled(), true);
  await page.keyboard.press("ArrowRight");
  assert.equal((await count())[0], 2);
  await page.keyboard.press("End");
  assert.equal((await count())[0], all);
  await page.locator("#tree [tabindex='0']").focus();
  await page.keyboard.press("ArrowDown");
  const here = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.match(here, /^“/);
  assert.equal(await text(page.locator("#tree-node")), here.trim());
  await page.click("#clear");
  await page.locator("#no-tree").waitFor();
});

// The panel alone decides whether trees are asked for.
onPage("Trees are asked for only while they are shown", {}, async (page) => {
  const asked = async () => {
    const sent = page.waitForRequest((request) => request.url().endsWith("/v1/chat/completions"));
    await ask(page, "Say hello.");
    const body = (await sent).postDataJSON();
    await idle(page);
    return body.slipstream;
  };
  await settings(page, { max_tokens: "8" });
  assert.deepEqual(await asked(), { tokens: true, trees: 64 });
  await page.click("#trees summary");
  assert.deepEqual(await asked(), { tokens: true });
});

onPage("Comparing says how much faster drafts are, and that the words are the same", {}, async (page) => {
  await page.click("nav a[href='#compare']");
  await settings(page, { temperature: "0", max_tokens: "80" });
  await page.fill("#compare-question", kRepeats);
  await page.click("#compare-run");
  await page.waitForSelector("#compare-run:enabled");
  assert.match(await text(page.locator("#verdict")), /^With drafts [\d.]+ times as fast: .* The words are the same\.$/);
  assert.equal(await text(page.locator("#plain-answer")), await text(page.locator("#drafts-answer")));
  assert.equal(await page.locator("#plain-answer .drafted").count(), 0);
  assert.ok((await page.locator("#drafts-answer .drafted").count()) > 0);
  await picture(page, "compare");
});

onPage("The workers are shown and looked at again", {}, async (page) => {
  await page.click("nav a[href='#workers']");
  await page.locator("#worker-table tbody tr").nth(1).waitFor();
  const table = await text(page.locator("#worker-table"));
  assert.match(table, /verifier/);
  assert.match(table, /drafter/);
  assert.match(table, /ready/);
  await Promise.all([1, 2].map(() => page.waitForResponse((response) => response.url().endsWith("/workers"))));
  await page.locator("#kinds .depths tbody tr").first().waitFor(); // answers of the tests above were counted
  await picture(page, "workers");
});

onPage("A drafter is drained and used again by its button", {}, async (page) => {
  await page.click("nav a[href='#workers']");
  const row = page.locator("#worker-table tbody tr", { hasText: "drafter" });
  await row.locator("button", { hasText: "Drain" }).click();
  await row.locator("[data-state=drained]").waitFor();
  await page.click("nav a[href='#chat']");
  await settings(page, { temperature: "0", max_tokens: "16" });
  await ask(page, kRepeats);
  await answered(page);
  await page.click("nav a[href='#workers']");
  await row.locator("button", { hasText: "Use again" }).click();
  await row.locator("[data-state=ready]").waitFor();
});

onPage("The theme follows the system, and the switch", { colorScheme: "dark" }, async (page) => {
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await back();
  await settings(page, { temperature: "0", max_tokens: "96" });
  await ask(page, kRepeats);
  await answered(page);
  await picture(page, "chat-dark");
  await page.locator("#tree .node").first().waitFor();
  await page.click("#theme");
  const light = await back();
  assert.notEqual(light, dark);
  await page.click("#theme");
  assert.equal(await back(), dark);
  await page.reload();
  assert.equal(await text(page.locator("#theme")), "Theme: dark");
});

onPage("A phone of 390 pixels shows all without scrolling sideways", { width: 390, height: 844 }, async (page) => {
  await settings(page, { temperature: "0", max_tokens: "64" });
  await ask(page, `${kRepeats} ${"x".repeat(200)}`);
  await page.click("#trees summary"); // a phone begins without the picture
  await page.click("#retry");
  await answered(page);
  await page.locator("#tree .node.own").waitFor();
  await page.locator("#trees").scrollIntoViewIfNeeded();
  await picture(page, "phone");
  for (const view of ["chat", "compare", "workers"]) {
    await page.click(`nav a[href='#${view}']`);
    if (view === "workers") await page.locator("#worker-table tbody tr").nth(1).waitFor();
    assert.equal(await scrollsSideways(page), false, view);
  }
  await picture(page, "phone-workers");
});

onPage("The keyboard alone reaches everything, and shows where it is", {}, async (page) => {
  await page.locator("body").evaluate(() => document.activeElement.blur());
  const reached = [];
  for (let step = 0; step < 12; ++step) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const { outlineStyle } = getComputedStyle(document.activeElement);
      return { name: document.activeElement.id || document.activeElement.textContent.trim(), outlineStyle };
    });
    reached.push(here.name);
    if (!["", "main", "turns"].includes(here.name) && here.name.length < 40) assert.notEqual(here.outlineStyle, "none", here.name);
  }
  for (const wanted of ["Chat", "Compare", "Workers", "theme", "question", "send"]) {
    assert.ok(reached.includes(wanted), `${wanted} was not reached, only ${reached}`);
  }
  await page.locator("#question").focus();
  await page.keyboard.type("Say hello.");
  await page.keyboard.press("Enter");
  await lastTurn(page).locator(".answer span").first().waitFor();
  await page.keyboard.press("Escape");
  await idle(page);
  assert.equal(await page.evaluate(() => document.activeElement.id), "question", "the focus stays in the box");
});

test("An error shows the server's own sentence", async () => {
  const browser = await openBrowser();
  try {
    await browser.page.goto(`${server.url}/ui`);
    await settings(browser.page, { max_tokens: "99999999" });
    await ask(browser.page, "Hello");
    await browser.page.locator("#turns .error").waitFor();
    assert.match(await text(browser.page.locator("#turns .error")), /max_tokens/);
    await idle(browser.page);
  } finally {
    await browser.stop();
  }
});
