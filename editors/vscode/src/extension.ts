// Starts the language server and shows how it does. All that is known of tensors, the server knows.

import * as os from "node:os";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions, State, vsdiag } from "vscode-languageclient/node";

import { Condition, documentationOf, said, start } from "./server";

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
