// The packaged bundle in a stand-in for the editor (see editor.ts), with a stand-in for the server (languageServer.ts).

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test, TestContext } from "node:test";

import { bundle, Editor, openEditor } from "./editor";

const SERVER = path.resolve("out", "test", "languageServer.js");

interface Note {
  method: string;
  params: { settings?: unknown; textDocument?: { uri: string } };
}

interface Opened {
  editor: Editor;
  /** What the server was told, of one kind or all. */
  told: (method?: string) => Note[];
}

/** Activate the extension in an editor, until the test ends. */
async function activated(context: TestContext, choose: (folder: string, start: string[]) => Partial<Editor>): Promise<Opened> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "devlint-"));
  const notes = path.join(folder, "notes");
  const start = [process.execPath, SERVER, notes];
  const editor: Editor = {
    settings: {},
    folder,
    files: [],
    status: {},
    messages: [],
    executed: [],
    findings: [],
    commands: new Map(),
    change: () => Promise.resolve(),
    choosePython: () => Promise.resolve(),
    ...choose(folder, start),
  };
  openEditor(editor);
  const extension = bundle();
  context.after(async () => {
    await extension.deactivate().catch(() => undefined);
    fs.rmSync(folder, { recursive: true, maxRetries: 20, retryDelay: 50 }); // the server may still be writing
  });
  await extension.activate({ subscriptions: [] });
  const all = (): Note[] => (fs.existsSync(notes) ? fs.readFileSync(notes, "utf8").trim().split("\n") : []).map((line) => JSON.parse(line) as Note);
  return { editor, told: (method) => all().filter((one) => method === undefined || one.method === method) };
}

/** Wait until something holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 800 && !holds(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.ok(holds());
}

/** Write a program named devlint that starts the stand-in for the server. */
function install(folder: string, start: string[]): string {
  fs.mkdirSync(folder, { recursive: true });
  const program = path.join(folder, "devlint");
  const words = start.map((word) => `'${word}'`).join(" ");
  fs.writeFileSync(program, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  return program;
}

test("the server is started, told the settings, and shown as running", async (context) => {
  const { editor, told } = await activated(context, (_, command) => ({ settings: { command, select: ["DEV1"] } }));
  assert.equal(editor.status.text, "devlint");
  assert.equal(editor.status.busy, false);
  await until(() => told("workspace/didChangeConfiguration").length > 0);
  const [first] = told("workspace/didChangeConfiguration");
  assert.deepEqual((first?.params.settings as { devlint: { select: unknown } }).devlint.select, ["DEV1"]);
});

test("open files are sent, and the code of a finding opens the page of its rule", async (context) => {
  const { editor, told } = await activated(context, (folder, command) => ({
    settings: { command },
    files: [path.join(folder, "train.py")],
  }));
  await until(() => editor.findings.length > 0);
  assert.match(told("textDocument/didOpen")[0]?.params.textDocument?.uri ?? "", /train\.py$/);
  assert.equal(editor.findings[0]?.code.target.text, "command:devlint.showDocumentation?%5B%22DEV101%22%5D");
});

test("the command starts the server again", async (context) => {
  const { editor, told } = await activated(context, (_, command) => ({ settings: { command } }));
  assert.equal(told("initialize").length, 1);
  await editor.commands.get("devlint.restart")?.();
  assert.equal(told("initialize").length, 2);
  assert.equal(told("shutdown").length, 1);
  assert.equal(editor.status.text, "devlint");
});

test("another command in the settings starts the server again, another setting does not", async (context) => {
  const { editor, told } = await activated(context, (_, command) => ({ settings: { command } }));
  await editor.change("devlint.select");
  assert.equal(told("initialize").length, 1);
  await editor.change("devlint", "devlint.command");
  assert.equal(told("initialize").length, 2);
});

test("the server of the folder's environment is found", { skip: process.platform === "win32" }, async (context) => {
  const { editor, told } = await activated(context, (folder, start) => {
    install(path.join(folder, ".venv", "bin"), start);
    return {};
  });
  assert.equal(editor.status.text, "devlint");
  assert.equal(told("initialize").length, 1);
});

test("the server of the chosen Python is found, and of the next one", { skip: process.platform === "win32" }, async (context) => {
  const { editor, told } = await activated(context, (folder, start) => {
    install(path.join(folder, "one"), start);
    install(path.join(folder, "two"), start);
    return { python: path.join(folder, "one", "python") };
  });
  assert.equal(told("initialize").length, 1);
  fs.rmSync(path.join(editor.folder, "one"), { recursive: true });
  await editor.choosePython(path.join(editor.folder, "two", "python"));
  assert.equal(told("initialize").length, 2);
});

test("a server that is not there is told with what helps", async (context) => {
  const { editor } = await activated(context, (folder) => ({
    settings: { command: [path.join(folder, "nothing"), "server"] },
    choice: "Open settings",
  }));
  assert.match(editor.status.text ?? "", /^devlint: not started \(.*ENOENT/);
  assert.equal(editor.status.severity, 2);
  await until(() => editor.executed.length > 0);
  assert.equal(editor.messages.length, 1);
  assert.match(editor.messages[0] ?? "", /could not be started by: .*nothing server$/);
  assert.deepEqual(editor.executed, [["workbench.action.openSettings", "devlint.command"]]);
});

test("after a failure, the server can be started", async (context) => {
  const { editor, told } = await activated(context, (folder) => ({ settings: { command: [path.join(folder, "nothing")] } }));
  editor.settings = { command: [process.execPath, SERVER, path.join(editor.folder, "notes")] };
  await editor.change("devlint.command");
  assert.equal(editor.status.text, "devlint");
  assert.equal(told("initialize").length, 1);
});
