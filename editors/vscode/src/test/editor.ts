// A stand-in for the editor: as much of its module `vscode` as the extension and its language client use to start a
// server, to send it settings and open files, and to show findings. It shows nothing; it holds what would be shown.

import Module, { createRequire } from "node:module";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

type Listener = (event: unknown) => unknown;

/** What the tests choose, and what they look at. */
export interface Editor {
  settings: Record<string, unknown>;
  folder: string;
  /** The path of the chosen Python, if the Python extension is there. */
  python?: string;
  /** The Python files that are open. */
  files: string[];
  /** What people choose in message boxes. */
  choice?: string;
  status: { text?: string; busy?: boolean; severity?: number };
  messages: string[];
  executed: unknown[][];
  findings: { code: { target: { text: string } } }[];
  commands: Map<string, (...words: unknown[]) => unknown>;
  /** Tell the extension that settings have changed. */
  change(...names: string[]): Promise<void>;
  /** Choose another Python. */
  choosePython(path: string): Promise<void>;
}

class Disposable {
  dispose(): void {
    // nothing is held
  }
}

class Emitter {
  readonly listeners: Listener[] = [];
  readonly event = (listener: Listener, self?: unknown): Disposable => {
    this.listeners.push(listener.bind(self));
    return new Disposable();
  };

  fire(event: unknown): void {
    this.listeners.forEach((listener) => listener(event));
  }

  dispose(): void {
    this.listeners.length = 0;
  }
}

class Uri {
  readonly scheme = "file";

  constructor(readonly text: string) {}

  static parse(text: string): Uri {
    return new Uri(text);
  }

  static file(name: string): Uri {
    return new Uri(pathToFileURL(name).href);
  }

  get fsPath(): string {
    return this.text.replace(/^file:\/\//, "");
  }

  toString(): string {
    return this.text;
  }
}

class Token extends Emitter {
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.event };

  cancel(): void {
    // nothing is ever cancelled
  }
}

class Diagnostic {
  constructor(
    readonly range: unknown,
    readonly message: string,
  ) {}
}

/** An object that has, besides its own members, all events (which never happen) and all ways to register something. */
function room(members: object): object {
  return new Proxy(members, {
    get: (all, name) => {
      if (Reflect.has(all, name)) {
        return Reflect.get(all, name) as unknown;
      }
      return /^(on|register|create)[A-Z]/.test(String(name)) ? () => new Disposable() : undefined;
    },
  });
}

/** Make the module `vscode` of an editor, and let programs in this process import it. */
export function openEditor(editor: Editor): void {
  const configuration = new Emitter();
  const pythons = new Emitter();
  const get = (name: string, otherwise: unknown): unknown => editor.settings[name] ?? otherwise;
  const output = room({ append: () => undefined, appendLine: () => undefined, show: () => undefined, dispose: () => undefined });
  const known = {
    version: "1.82.0",
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    Disposable,
    EventEmitter: Emitter,
    Uri,
    CancellationTokenSource: Token,
    Diagnostic,
    commands: room({
      registerCommand: (name: string, call: (...words: unknown[]) => unknown) => {
        editor.commands.set(name, call);
        return new Disposable();
      },
      executeCommand: (...words: unknown[]) => editor.executed.push(words),
    }),
    env: { appName: "a stand-in", language: "en" },
    extensions: room({
      getExtension: () => {
        const environments = {
          getActiveEnvironmentPath: () => ({ path: editor.python }),
          onDidChangeActiveEnvironmentPath: pythons.event,
        };
        return editor.python === undefined ? undefined : { activate: () => Promise.resolve({ environments }) };
      },
    }),
    languages: room({
      createLanguageStatusItem: () => editor.status,
      createDiagnosticCollection: () => ({
        set: (_: Uri, findings: Editor["findings"]) => (editor.findings = findings),
        clear: () => undefined,
        dispose: () => undefined,
      }),
      match: () => 10,
    }),
    window: room({
      createOutputChannel: () => output,
      showErrorMessage: (text: string) => {
        editor.messages.push(text);
        return Promise.resolve(editor.choice);
      },
      tabGroups: room({ all: [] }),
      visibleTextEditors: [],
    }),
    workspace: room({
      getConfiguration: (section?: string) => ({ get: section === undefined ? () => editor.settings : get }),
      onDidChangeConfiguration: configuration.event,
      get workspaceFolders() {
        return [{ uri: Uri.file(editor.folder), name: "folder", index: 0 }];
      },
      get textDocuments() {
        const lines = { version: 1, lineCount: 1, isClosed: false, getText: () => "x\n" };
        return editor.files.map((name) => ({ ...lines, uri: Uri.file(name), languageId: "python", fileName: name }));
      },
      notebookDocuments: [],
    }),
  };
  // Whatever else is asked for is a class: the language client extends many of them, and uses none here.
  const module = new Proxy(known, {
    get: (all, name) => (Reflect.has(all, name) ? (Reflect.get(all, name) as unknown) : class extends Disposable {}),
  });
  const loader = Module as unknown as { _load: (name: string, ...more: unknown[]) => unknown };
  const load = loader._load.bind(loader);
  loader._load = (name, ...more) => (name === "vscode" ? module : load(name, ...more));
  editor.change = async (...names) => {
    const event = { affectsConfiguration: (name: string) => names.includes(name) };
    await Promise.all(configuration.listeners.map((listener) => listener(event)));
  };
  editor.choosePython = async (name) => {
    editor.python = name;
    await Promise.all(pythons.listeners.map((listener) => listener(undefined)));
  };
}

/** The extension as it is packaged. */
export interface Extension {
  activate(context: { subscriptions: unknown[] }): Promise<void>;
  deactivate(): Promise<void>;
}

/** Import the bundle, anew for each editor. */
export function bundle(): Extension {
  const file = path.resolve("out", "extension.js");
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- so that nothing is left of the test before
  delete require.cache[file];
  return createRequire(file)(file) as Extension;
}
