// Who leads in measured retrieval: with the memories' own parameters, and whether the intervals overlap.

import assert from "node:assert/strict";
import test from "node:test";

import { retrievalSentence } from "../src/leaderboard/leader.js";

const row = (assistant, value, low, high) => ({
  assistant,
  scores: [
    { metric: "recall", k: 1, value: 0.9, low: null, high: null },
    { metric: "own_recall", k: null, value, low, high },
  ],
});

test("the memory with the highest recall as configured leads", () => {
  assert.equal(
    retrievalSentence([row("recent", 0.1, 0.05, 0.15), row("bm25", 0.6, 0.5, 0.7), row("lost", null, null, null)]),
    "bm25 recalls 0.600 (0.50 to 0.70) of the evidence, 0.500 better than recent.",
  );
});

test("overlapping intervals are said", () => {
  assert.match(retrievalSentence([row("a", 0.6, 0.5, 0.7), row("b", 0.5, 0.4, 0.55)]), /Their intervals overlap\.$/);
});

test("a memory alone, or none, has no margin", () => {
  assert.equal(retrievalSentence([row("a", 0.6, null, null)]), "a recalls 0.600 of the evidence.");
  assert.equal(retrievalSentence([row("a", null, null, null)]), null);
});
