// The life of a fact in a memory: said, stored, derived, revised, taken back, ended, recalled.

import { successors } from "../memory/entries.js";

/**
 * `fact`: the ids of the messages that state a fact or take it back. Return the events up to the reply, in order: `{at, what, id, text, note}`. `at` is a number of messages.
 *
 * An entry from the evidence is `stored` if it contains a message of the evidence word by word, else `derived`. A message
 * that asks the memory to forget is `taken back`, with what came of it as `note`.
 */
export function lifeOf(fact, reply, messages, entries) {
  const evidence = new Set(fact);
  const events = [];
  const said = messages.filter(({ message_id, sequence }) => evidence.has(message_id) && sequence < reply.sequence);
  for (const message of said) {
    const asks = (message.ended_entries ?? message.forget_failure ?? null) !== null;
    const ended = message.ended_entries === 1 ? "1 entry ended" : `${message.ended_entries} entries ended`;
    const note = asks ? (message.forget_failure ?? ended) : null;
    events.push({ at: message.sequence + 1, order: asks ? 2 : 0, what: asks ? "taken back" : "said", id: message.message_id, text: message.text, note });
  }
  const next = successors(entries);
  const recalled = new Set(reply.recalled);
  for (const entry of entries) {
    if (entry.since > reply.sequence || !entry.sources.some((id) => evidence.has(id))) {
      continue;
    }
    const isEnded = entry.until !== null && entry.until <= reply.sequence;
    const isRevised = isEnded && next.has(entry.entry_id);
    if (isRevised && entry.previous !== null) {
      continue; // a version between the first and the last
    }
    const verbatim = said.some(({ text }) => text && entry.text?.includes(text));
    const event = (at, order, what, text) => events.push({ at, order, what, id: entry.entry_id, text, note: null });
    event(entry.since, 1, verbatim ? "stored" : "derived", entry.text);
    if (isEnded) {
      event(entry.until, 3, isRevised ? "revised" : "ended", null);
    }
    if (recalled.has(entry.entry_id)) {
      event(reply.sequence, 4, "recalled", null);
    }
  }
  return events.sort((a, b) => a.at - b.at || a.order - b.order);
}
