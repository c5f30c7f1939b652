// The life of a fact: a fact that is stored, taken back, ended, and recalled from a derived entry.

import assert from "node:assert/strict";
import test from "node:test";
import { lifeOf } from "../src/probe/life.js";

const message = (message_id, sequence, text, ended_entries = null, forget_failure = null) => ({
  message_id,
  sequence,
  text,
  ended_entries,
  forget_failure,
});
const entry = (entry_id, text, sources, since, until = null, previous = null) => ({ entry_id, text, sources, since, until, previous });
const FACT = ["m0", "m2"];
const MESSAGES = [message("m0", 0, "I live in Oslo."), message("m1", 1, "Hi."), message("m2", 2, "Forget it.", 1), message("m3", 3, "I live in Rome.")];

test("a fact that was taken back lives on in a derived entry", () => {
  const entries = [
    entry("e0", "user: I live in Oslo.", ["m0"], 1, 3),
    entry("e1", "A person from Norway", ["m0", "m1"], 2),
    entry("e2", "user: Hi.", ["m1"], 2),
  ];
  const events = lifeOf(FACT, { sequence: 4, recalled: ["e1", "e2"] }, MESSAGES, entries);
  assert.deepEqual(
    events.map(({ at, what, id, note }) => [at, what, id, note]),
    [
      [1, "said", "m0", null],
      [1, "stored", "e0", null],
      [2, "derived", "e1", null],
      [3, "taken back", "m2", "1 entry ended"],
      [3, "ended", "e0", null],
      [4, "recalled", "e1", null],
    ],
  );
});

test("what happens after the question is left out, and a memory that cannot forget says why", () => {
  const messages = [MESSAGES[0], message("m2", 1, "Forget it.", null, "it has no operation that deletes")];
  const entries = [entry("e0", "I live in Oslo.", ["m0"], 1, 2), entry("e1", "I lived in Oslo.", ["m0"], 2, null, "e0"), entry("e3", "late", ["m0"], 9)];
  const events = lifeOf(FACT, { sequence: 2, recalled: [] }, messages, entries);
  assert.deepEqual(
    events.map(({ what, id, note }) => [what, id, note]),
    [
      ["said", "m0", null],
      ["stored", "e0", null],
      ["derived", "e1", null],
      ["taken back", "m2", "it has no operation that deletes"],
      ["revised", "e0", null],
    ],
  );
});
