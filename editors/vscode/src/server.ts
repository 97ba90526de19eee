// How the server is started, and what is to be said of how it does. Nothing here needs the editor.

export interface Start {
  command: string;
  args: string[];
}

export interface Surroundings {
  folder?: string;
  home: string;
  environment: Readonly<Record<string, string | undefined>>;
}

export type Condition = "starting" | "running" | "stopped" | "failed";

export interface Said {
  text: string;
  busy: boolean;
  severity: "information" | "warning" | "error";
}

const USUAL: readonly string[] = ["devlint", "server"];

/** The program to start and its arguments, with the variables that people write in settings filled in. */
export function start(configured: readonly string[], around: Surroundings): Start {
  const [command = "", ...args] = (configured.length > 0 ? configured : USUAL).map((word) => filled(word, around));
  return { command, args };
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
