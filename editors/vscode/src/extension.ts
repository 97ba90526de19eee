// Starts the language server and shows how it does. All that is known of tensors, the server knows.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State } from "vscode-languageclient/node";

const NAME = "devlint";

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
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(): Promise<void> {
  await client?.dispose();
  await start();
}

async function start(): Promise<void> {
  const [command, ...args] = vscode.workspace.getConfiguration(NAME).get<string[]>("command", ["devlint", "server"]);
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "python" }],
    synchronize: { configurationSection: NAME },
  };
  client = new LanguageClient(NAME, NAME, server, options);
  client.onDidChangeState(({ newState }) => show(newState));
  try {
    await client.start();
  } catch (problem) {
    status.severity = vscode.LanguageStatusSeverity.Error;
    status.text = `devlint: not started (${String(problem)})`;
  }
}

function show(state: State): void {
  status.busy = state === State.Starting;
  status.severity =
    state === State.Stopped ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
  status.text = { [State.Starting]: "devlint: starting", [State.Running]: "devlint", [State.Stopped]: "devlint: stopped" }[
    state
  ];
}
