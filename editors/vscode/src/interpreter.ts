// The Python that is chosen in the editor, as far as the Python extension is there to tell.

import * as vscode from "vscode";

/** The part of the Python extension's interface that is used here. */
interface PythonExtension {
  environments?: {
    getActiveEnvironmentPath(folder?: vscode.Uri): { path: string };
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

type Environments = NonNullable<PythonExtension["environments"]>;

async function environments(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  return (await extension?.activate())?.environments;
}

/** The path of the chosen Python. */
export async function interpreter(folder: vscode.Uri | undefined): Promise<string | undefined> {
  return (await environments())?.getActiveEnvironmentPath(folder).path;
}

/** Call a function whenever another Python is chosen. */
export async function onOtherInterpreter(call: () => unknown): Promise<vscode.Disposable | undefined> {
  return (await environments())?.onDidChangeActiveEnvironmentPath(call);
}
