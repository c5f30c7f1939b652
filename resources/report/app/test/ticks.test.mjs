// The marks on logarithmic axes: round numbers within the values, also where these span less than a decade.

import assert from "node:assert/strict";
import test from "node:test";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [new URL("../src/leaderboard/tradeoffs.jsx", import.meta.url).pathname],
  bundle: true,
  write: false,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const { logTicks } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);

test("an axis has numbers within any span", () => {
  assert.deepEqual(logTicks([152, 1275]), [200, 500, 1000]);
  assert.deepEqual(logTicks([520, 980]), [600, 700, 800, 900]);
  assert.deepEqual(logTicks([3, 40_000]), [10, 100, 1000, 10_000]);
  assert.deepEqual(logTicks([640, 660]), [640, 660]);
  assert.deepEqual(logTicks([5, 5]), [5]);
});
