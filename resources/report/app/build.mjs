// Build dist/: one classic script, one style sheet and the licenses of what the script contains.
// `npm ci && npm run build`. The same sources give the same bytes.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const HERE = import.meta.dirname;
const LICENSE = /^licen[cs]e(\.(md|txt))?$/i;

const options = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: "es2022",
  legalComments: "none",
};
const script = await build({
  ...options,
  entryPoints: ["src/main.jsx"],
  outfile: "dist/app.js",
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
});
await build({ ...options, entryPoints: ["src/app.css"], outfile: "dist/app.css" });

const packages = new Set();
for (const [path, { bytesInOutput }] of Object.entries(Object.values(script.metafile.outputs)[0].inputs)) {
  const name = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1];
  if (name && bytesInOutput > 0) {
    packages.add(name);
  }
}
const texts = [];
for (const name of [...packages].sort()) {
  const folder = join(HERE, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => LICENSE.test(each));
  if (!file) {
    throw new Error(`${name} ${version} has no license file in ${dirname(folder)}. Add its text to build.mjs.`);
  }
  const text = (await readFile(join(folder, file), "utf8")).replace(/\r\n/g, "\n").trim();
  texts.push(`${name} ${version} (${license})\n\n${text}\n`);
}
const head = "app.js contains these packages.\n";
await writeFile(join(HERE, "dist/LICENSES.txt"), [head, ...texts].join(`\n${"-".repeat(80)}\n\n`));
