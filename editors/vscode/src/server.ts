// How the server is started, and what is to be said of how it does. Nothing here needs the editor.

import * as path from "node:path";

export interface Start {
  command: string;
  args: string[];
}

export interface Surroundings {
  folder?: string;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The Python that is chosen in the editor. */
  interpreter?: string;
  windows: boolean;
  isFile: (path: string) => boolean;
}

export type Condition = "starting" | "running" | "stopped" | "failed";

export interface Said {
  text: string;
  busy: boolean;
  severity: "information" | "warning" | "error";
}

const ENVIRONMENTS: readonly string[] = [".venv", "venv"];

/** The program to start and its arguments: what the settings say, with variables filled in, or else what is found. */
export function start(configured: readonly string[], around: Surroundings): Start {
  const [command, ...args] = configured.map((word) => filled(word, around));
  return command === undefined ? { command: installed(around), args: ["server"] } : { command, args };
}

/** The devlint of the chosen Python, else that of an environment in the folder, else the one on the path. */
function installed({ folder, interpreter, windows, isFile }: Surroundings): string {
  const paths = windows ? path.win32 : path.posix;
  const program = windows ? "devlint.exe" : "devlint";
  const scripts = windows ? "Scripts" : "bin";
  const places = folder === undefined ? [] : ENVIRONMENTS.map((name) => paths.join(folder, name, scripts));
  if (interpreter !== undefined) {
    const beside = paths.dirname(interpreter);
    places.unshift(beside, paths.join(beside, scripts)); // where Windows has no environment, scripts have a folder below
  }
  return places.map((place) => paths.join(place, program)).find(isFile) ?? "devlint";
}

/** What the status item says. */
export function said(condition: Condition, problem = ""): Said {
  switch (condition) {
    case "starting":
      return { text: "devlint: starting", busy: true, severity: "information" };
    case "running":
      return { text: "devlint", busy: false, severity: "information" };
    case "stopped":
      return { text: "devlint: stopped", busy: false, severity: "warning" };
    case "failed":
      return { text: `devlint: not started (${problem})`, busy: false, severity: "error" };
  }
}

/** The address that opens the documentation of a rule: the editor would show the page itself as the text of a file. */
export function documentationOf(rule: string): string {
  return `command:devlint.showDocumentation?${encodeURIComponent(JSON.stringify([rule]))}`;
}

function filled(word: string, { folder, home, environment }: Surroundings): string {
  return word
    .replace(/^~(?=$|[/\\])/, () => home)
    .replaceAll("${workspaceFolder}", () => folder ?? "")
    .replaceAll("${userHome}", () => home)
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => environment[name] ?? "");
}
