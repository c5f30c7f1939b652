// Texts of dialogues and models, prepared for the page: control characters become visible symbols, marks become pieces.

const BIDI = {
  "\u061c": "ALM", "\u200e": "LRM", "\u200f": "RLM", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO",
  "\u202e": "RLO", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\u200b": "ZWSP", "\u2060": "WJ",
  "\ufeff": "BOM", "\u2028": "LS", "\u2029": "PS",
};
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/;
const SPLIT = new RegExp(`(${CONTROL.source})`);

/** Return the visible symbol of a control character: U+2400 and on for ASCII, an abbreviation in brackets otherwise. */
export function symbol(character) {
  const code = character.codePointAt(0);
  if (code < 0x20) {
    return String.fromCodePoint(0x2400 + code);
  }
  return code === 0x7f ? "␡" : `[${BIDI[character] ?? codePoint(code)}]`;
}

/**
 * Return a text as pieces `{text, mark}` and `{control, name}`, in order.
 *
 * `marks`: strings to mark wherever they occur, regardless of case.
 */
export function pieces(text, marks = []) {
  const found = [];
  let at = 0;
  for (const [start, end] of ranges(text, marks)) {
    found.push({ text: text.slice(at, start), mark: false }, { text: text.slice(start, end), mark: true });
    at = end;
  }
  found.push({ text: text.slice(at), mark: false });
  return found.flatMap((piece) => (CONTROL.test(piece.text) ? withSymbols(piece) : piece.text ? [piece] : []));
}

/** Return the beginning of a text in one line, at most `length` characters; undefined or null stays. */
export function excerpt(text, length) {
  const line = text?.replace(/\s+/g, " ").trim();
  return line && line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Return a text with visible symbols, for places that hold plain text only. */
export function visible(text) {
  return CONTROL.test(text) ? text.split(SPLIT).map((part) => (CONTROL.test(part) ? symbol(part) : part)).join("") : text;
}

function withSymbols({ text, mark }) {
  return text
    .split(SPLIT)
    .filter(Boolean)
    .map((part) => (CONTROL.test(part) ? { control: symbol(part), name: codePoint(part.codePointAt(0)) } : { text: part, mark }));
}

function ranges(text, marks) {
  const lower = text.toLowerCase();
  const all = [];
  for (const mark of marks) {
    const wanted = mark.trim().toLowerCase();
    for (let at = wanted ? lower.indexOf(wanted) : -1; at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
      all.push([at, at + wanted.length]);
    }
  }
  const merged = [];
  for (const [start, end] of all.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && start <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      merged.push([start, end]);
    }
  }
  return merged;
}

function codePoint(code) {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
