// Makes what the package holds from the sources: the extension as one file, and a copy of the licence.
// With `--watch`, makes it again after each change. With `--tests`, makes the tests too.

import { copyFileSync, rmSync } from "node:fs";
import process from "node:process";
import { context } from "esbuild";

const common = { bundle: true, format: "cjs", platform: "node", target: "node18", logLevel: "info" };

const builds = [
  { ...common, entryPoints: ["src/extension.ts"], outfile: "out/extension.js", external: ["vscode"], minify: true, legalComments: "eof" },
];
if (process.argv.includes("--tests")) {
  rmSync("out/test", { recursive: true, force: true });
  builds.push({ ...common, entryPoints: ["src/test/*.test.ts", "src/test/languageServer.ts"], outdir: "out/test", sourcemap: "inline" });
}

copyFileSync("../../LICENSE", "LICENSE");
for (const build of builds) {
  const made = await context(build);
  if (process.argv.includes("--watch")) {
    await made.watch();
  } else {
    await made.rebuild();
    await made.dispose();
  }
}
