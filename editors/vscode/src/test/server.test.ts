import assert from "node:assert/strict";
import { test } from "node:test";

import { documentationOf, said, start } from "../server";

const AROUND = { folder: "/work/project", home: "/home/ada", environment: { TOOLS: "/opt/$&" } };

test("a list of words is a program and its arguments", () => {
  assert.deepEqual(start(["/bin/devlint", "server", "-v"], AROUND), { command: "/bin/devlint", args: ["server", "-v"] });
});

test("without any words the usual ones hold", () => {
  assert.deepEqual(start([], AROUND), { command: "devlint", args: ["server"] });
});

test("variables are filled in, as they are", () => {
  const words = ["${workspaceFolder}/.venv/bin/devlint", "~/a", "a~", "${userHome}/b", "${env:TOOLS}/c", "${env:NONE}"];
  const { command, args } = start(words, AROUND);
  assert.equal(command, "/work/project/.venv/bin/devlint");
  assert.deepEqual(args, ["/home/ada/a", "a~", "/home/ada/b", "/opt/$&/c", ""]);
});

test("a window without a folder has none to fill in", () => {
  assert.equal(start(["${workspaceFolder}devlint"], { ...AROUND, folder: undefined }).command, "devlint");
});

test("the link of a finding is a command with the rule's code", () => {
  const [command, argument = ""] = documentationOf("DEV101").split("?");
  assert.equal(command, "command:devlint.showDocumentation");
  assert.deepEqual(JSON.parse(decodeURIComponent(argument)), ["DEV101"]);
});

test("the status tells what is wrong", () => {
  assert.deepEqual(said("failed", "ENOENT"), {
    text: "devlint: not started (ENOENT)",
    busy: false,
    severity: "error",
  });
  assert.equal(said("starting").busy, true);
  assert.equal(said("running").severity, "information");
  assert.equal(said("stopped").severity, "warning");
});
