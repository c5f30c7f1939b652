// A memory server in about 50 lines: a list of messages per space, found by common words.
import { createInterface } from "node:readline";

const spaces = new Map(); // space -> items, oldest first
const can = {
  as_of: "writes", sources: "message", dates: true, export: "live", models: "none",
  deterministic: true, forget: ["message", "text", "time"],
};
const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);

const operations = {
  hello: ({ settings }) => ({ name: "word-overlap-node", version: "1.0", settings: settings ?? {}, can }),
  reset: ({ space }) => {
    spaces.set(space, []);
    return {};
  },
  write: ({ space, write, messages }) => {
    for (const { id, role, speaker, text, sent_at } of messages) {
      spaces.get(space).push({ id, text: `${speaker ?? role}: ${text}`, sources: [id], sent_at, since: write });
    }
    return { failures: [] };
  },
  read: ({ space, query, k, as_of = Infinity }) => {
    const wanted = words(query);
    const items = spaces.get(space).filter(({ since, until = Infinity }) => since <= as_of && (as_of < until || until === Infinity));
    const scored = items.map((item) => ({ ...item, score: [...words(item.text)].filter((word) => wanted.has(word)).length }));
    return { items: scored.filter((item) => item.score).sort((a, b) => b.score - a.score).slice(0, k) };
  },
  export: ({ space }) => ({ items: spaces.get(space).filter((item) => !item.until) }),
  forget: ({ space, write, by, message_ids = [], text = "", since = "", until = "9999" }) => {
    for (const item of spaces.get(space)) {
      const [found, day] = [words(item.text), item.sent_at?.slice(0, 10) ?? ""];
      const named = {
        message: () => message_ids.includes(item.id),
        text: () => [...words(text)].every((word) => found.has(word)),
        time: () => since <= day && day <= until,
      };
      if (named[by]()) item.until ??= write; // it stays for reads as of an earlier write
    }
    return {};
  },
  close: ({ space }) => {
    spaces.delete(space);
    return {};
  },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  let answer;
  try {
    answer = operations[request.op](request);
  } catch (error) {
    answer = { error: { code: error.name, message: error.message } }; // only this request failed
  }
  process.stdout.write(JSON.stringify({ ...answer, n: request.n }) + "\n");
}
