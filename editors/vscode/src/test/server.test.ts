import assert from "node:assert/strict";
import { test } from "node:test";

import { documentationOf, said, start, Surroundings } from "../server";

const AROUND: Surroundings = {
  folder: "/src/project",
  home: "/home/ada",
  environment: { TOOLS: "/opt/$&" },
  windows: false,
  isFile: () => false,
};

/** The program that is found where these files are. */
function found(files: string[], around: Partial<Surroundings> = {}): string {
  return start([], { ...AROUND, isFile: (path) => files.includes(path), ...around }).command;
}

test("a list of words is a program and its arguments", () => {
  assert.deepEqual(start(["/bin/devlint", "server", "-v"], AROUND), { command: "/bin/devlint", args: ["server", "-v"] });
});

test("without any words, devlint is expected on the path", () => {
  assert.deepEqual(start([], AROUND), { command: "devlint", args: ["server"] });
  assert.equal(found(["/.venv/bin/devlint"], { folder: undefined }), "devlint");
});

test("the devlint of the chosen Python comes before that of the folder", () => {
  const files = ["/envs/a/bin/devlint", "/src/project/.venv/bin/devlint", "/src/project/venv/bin/devlint"];
  const interpreter = "/envs/a/bin/python3";
  assert.equal(found(files, { interpreter }), "/envs/a/bin/devlint");
  assert.equal(found(files.slice(1), { interpreter }), "/src/project/.venv/bin/devlint");
  assert.equal(found(files.slice(2), { interpreter }), "/src/project/venv/bin/devlint");
});

test("Windows keeps programs elsewhere", () => {
  const around = { windows: true, folder: "C:\\project" };
  assert.equal(found(["C:\\project\\.venv\\Scripts\\devlint.exe"], around), "C:\\project\\.venv\\Scripts\\devlint.exe");
  const interpreter = "C:\\Python312\\python.exe";
  assert.equal(
    found(["C:\\Python312\\Scripts\\devlint.exe"], { ...around, interpreter }),
    "C:\\Python312\\Scripts\\devlint.exe",
  );
});

test("variables are filled in, as they are", () => {
  const words = ["${workspaceFolder}/.venv/bin/devlint", "~/a", "a~", "${userHome}/b", "${env:TOOLS}/c", "${env:NONE}"];
  const { command, args } = start(words, AROUND);
  assert.equal(command, "/src/project/.venv/bin/devlint");
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
