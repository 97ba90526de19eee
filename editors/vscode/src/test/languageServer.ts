// A language server that finds one thing in every file, and writes down what the client says to it.
// It is a program: its argument is the file to write to.

import * as fs from "node:fs";

interface Message {
  id?: number;
  method?: string;
  params?: { textDocument?: { uri: string } };
}

const [, , notes = ""] = process.argv;
const FINDING = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
  code: "DEV101",
  codeDescription: { href: "file:///DEV101.html" },
  message: "on two devices",
};
let received = Buffer.alloc(0);

function send(message: object): void {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${String(Buffer.byteLength(text))}\r\n\r\n${text}`);
}

function answer({ id, method, params }: Message): void {
  if (method === "initialize") {
    send({ id, result: { capabilities: { textDocumentSync: 1 } } });
  } else if (method === "textDocument/didOpen") {
    const uri = params?.textDocument?.uri;
    send({ method: "textDocument/publishDiagnostics", params: { uri, diagnostics: [FINDING] } });
  } else if (method === "exit") {
    process.exit();
  } else if (id !== undefined && method !== undefined) {
    send({ id, result: null });
  }
}

process.stdin.on("data", (data) => {
  received = Buffer.concat([received, data]);
  for (;;) {
    const head = /^Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/.exec(received.toString("latin1"));
    const end = head ? head[0].length + Number(head[1]) : Infinity;
    if (!head || received.length < end) {
      return;
    }
    const text = received.toString("utf8", head[0].length, end);
    received = received.subarray(end);
    fs.appendFileSync(notes, `${text}\n`);
    answer(JSON.parse(text) as Message);
  }
});
