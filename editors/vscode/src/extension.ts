// Starts the language server and shows how it does. All that is known of tensors, the server knows.

import * as os from "node:os";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";

import { Condition, said, start } from "./server";

const NAME = "devlint";

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

let client: LanguageClient | undefined;
let status: vscode.LanguageStatusItem;

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
  await begin();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.dispose();
  await begin();
}

async function begin(): Promise<void> {
  const configured = vscode.workspace.getConfiguration(NAME).get<string[]>("command", []);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server: ServerOptions = start(configured, { folder, home: os.homedir(), environment: process.env });
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "python" }],
    synchronize: { configurationSection: NAME },
  };
  client = new LanguageClient(NAME, NAME, server, options);
  client.onDidChangeState(({ newState }) => {
    show(CONDITIONS[newState]);
  });
  try {
    await client.start();
  } catch (problem) {
    show("failed", String(problem));
  }
}

function show(condition: Condition, problem = ""): void {
  const { text, busy, severity } = said(condition, problem);
  status.text = text;
  status.busy = busy;
  status.severity = SEVERITIES[severity];
}
