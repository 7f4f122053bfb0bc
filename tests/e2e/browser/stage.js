// A real `slipstream serve` and a real Chromium for a test, both gone when it ends.
//
//   SLIPSTREAM       the program
//   SLIPSTREAM_MODEL the model
//   UI_MODULES       a folder where `npm ci` has put node_modules
//   CHROMIUM         the browser; none: /usr/bin/chromium
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const kStartMs = 120_000; // a model is loaded within that
const kBetweenLooksMs = 100; // at the log
// A step waits for its drafts however long they take, and their worth is told and not measured, so
// that a busy machine changes no test.
const kWaits = ["--deadline-us", "1000000", "--wait-percent", "100000"];
const kFixed = { SLIPSTREAM_TUNE: "on", SLIPSTREAM_STEP_COST_US: "1000" };
const kBrowserFlags = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const freshFolder = () => mkdtempSync(join(tmpdir(), "slipstream-ui-"));

function freePort() {
  return new Promise((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => found(port));
    });
  });
}

// {url, stop()}: a server that takes requests. flags: more of `slipstream serve`.
export async function startServer(flags = []) {
  const [folder, port] = [freshFolder(), await freePort()];
  const log = join(folder, "log");
  const out = openSync(log, "w");
  const asked = ["serve", "--port", String(port), "--model", process.env.SLIPSTREAM_MODEL, "--run-folder", folder, ...kWaits, ...flags];
  const child = spawn(process.env.SLIPSTREAM, asked, { stdio: ["ignore", out, out], env: { ...process.env, ...kFixed } });
  const ended = new Promise((end) => child.on("exit", end));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(folder, { recursive: true });
  };
  for (const until = Date.now() + kStartMs; !readFileSync(log, "utf8").includes("ready:"); await pause(kBetweenLooksMs)) {
    if (child.exitCode === null && Date.now() < until) continue;
    const said = readFileSync(log, "utf8").slice(-2000);
    await stop();
    throw new Error(`the server did not start:\n${said}`);
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}

// {page, problems, stop()}: problems is the list of what the page's console and scripts complained about.
export async function openBrowser({ colorScheme = "light", width = 1100, height = 800 } = {}) {
  const { chromium } = createRequire(join(resolve(process.env.UI_MODULES), "package.json"))("playwright-core");
  const folder = freshFolder();
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: kBrowserFlags,
    colorScheme,
    viewport: { width, height },
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const stop = async () => {
    await context.close();
    rmSync(folder, { recursive: true });
  };
  return { page, problems, stop };
}
