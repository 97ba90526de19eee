// Starts the language server and shows how it does. All that is known of tensors, the server knows.

import * as fs from "node:fs";
import * as os from "node:os";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, State, vsdiag } from "vscode-languageclient/node";

import { interpreter, onOtherInterpreter } from "./interpreter";
import { Condition, documentationOf, said, Start, start } from "./server";

const NAME = "devlint";
const SETTINGS = "Open settings";
const INSTALLATION = "How to install";

const CONDITIONS: Record<State, Condition> = {
  [State.Starting]: "starting",
  [State.Running]: "running",
  [State.Stopped]: "stopped",
};

const SEVERITIES = {
  information: vscode.LanguageStatusSeverity.Information,
  warning: vscode.LanguageStatusSeverity.Warning,
  error: vscode.LanguageStatusSeverity.Error,
};

const OPTIONS: LanguageClientOptions = {
  documentSelector: [{ language: "python" }],
  synchronize: { configurationSection: NAME },
  middleware: {
    handleDiagnostics: (uri, diagnostics, next) => {
      diagnostics.forEach(leadToDocumentation);
      next(uri, diagnostics);
    },
    provideDiagnostics: async (document, previous, token, next) => {
      const report = await next(document, previous, token);
      if (report?.kind === vsdiag.DocumentDiagnosticReportKind.full) {
        report.items.forEach(leadToDocumentation);
      }
      return report;
    },
  },
};

/** A client that leaves it to this extension to say that the server cannot be started. */
class Client extends LanguageClient {
  started = false;

  override error(message: string, data?: unknown, notify?: boolean | "force"): void {
    super.error(message, data, this.started && notify);
  }
}

let client: Client | undefined;
let status: vscode.LanguageStatusItem;
/** What is under way: one start or stop after the other. */
let turn: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  status = vscode.languages.createLanguageStatusItem(NAME, { language: "python" });
  status.name = NAME;
  status.command = { command: "devlint.showLog", title: "Show the log" };
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand("devlint.restart", restart),
    vscode.commands.registerCommand("devlint.showLog", () => client?.outputChannel.show()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("devlint.command")) {
        await restart();
      }
    }),
  );
  await restart();
  const watch = await onOtherInterpreter(restart);
  if (watch) {
    context.subscriptions.push(watch);
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** Stop the server if it runs, and start it. */
function restart(): Promise<void> {
  turn = turn.then(async () => {
    await client?.dispose().catch(() => undefined); // one that never started cannot be stopped
    await begin();
  });
  return turn;
}

async function begin(): Promise<void> {
  const server = await command();
  client = new Client(NAME, NAME, server, OPTIONS);
  client.onDidChangeState(({ newState }) => {
    show(CONDITIONS[newState]);
  });
  try {
    await client.start();
    client.started = true;
  } catch (problem) {
    show("failed", String(problem));
    void help(server);
  }
}

/** The program that starts the server. */
async function command(): Promise<Start> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return start(vscode.workspace.getConfiguration(NAME).get<string[]>("command", []), {
    folder: folder?.fsPath,
    home: os.homedir(),
    environment: process.env,
    interpreter: await interpreter(folder),
    windows: process.platform === "win32",
    isFile: (path) => fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
  });
}

/** Say that the server could not be started, and lead to what helps. */
async function help(server: Start): Promise<void> {
  const told = `devlint could not be started by: ${[server.command, ...server.args].join(" ")}`;
  switch (await vscode.window.showErrorMessage(told, SETTINGS, INSTALLATION)) {
    case SETTINGS:
      await vscode.commands.executeCommand("workbench.action.openSettings", "devlint.command");
      break;
    case INSTALLATION:
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", "devlint.devlint#start");
      break;
  }
}

/** Let the code of a finding open the page of its rule in a browser. */
function leadToDocumentation({ code }: vscode.Diagnostic): void {
  if (typeof code === "object" && typeof code.value === "string") {
    code.target = vscode.Uri.parse(documentationOf(code.value));
  }
}

function show(condition: Condition, problem = ""): void {
  const { text, busy, severity } = said(condition, problem);
  status.text = text;
  status.busy = busy;
  status.severity = SEVERITIES[severity];
}
