// The report's data: files that call `memflow.take(name, payload)`, loaded when a page needs them.
//
// The contents are decoded here and nowhere else. What they mean is up to the pages.

import { decompress } from "fzstd";
import { parquetMetadata, parquetRead } from "hyparquet";

const FORMAT = 1;
const payloads = new Map();
const loaded = new Map();

/** Receive the content of a data file: JSON, or gzip'd JSON or Parquet in base64. Each data file calls this. */
export function take(name, payload) {
  payloads.set(name, payload);
}

/**
 * Load a data file once and return a promise of its content: `load("results", domain, assistant, shard)`.
 *
 * Rejects with an Error that states the file, if it is missing or damaged.
 */
export function load(...parts) {
  const name = dataName(parts);
  return once(name, async () => {
    const payload = await fetchPayload(name);
    return typeof payload === "string" ? JSON.parse(await inflate(fromBase64(payload))) : payload;
  });
}

/** Load the site's description, which names everything else. Rejects if its format is another. */
export async function loadSite() {
  const site = await load("site");
  if (site.format !== FORMAT) {
    throw new Error(
      `The data have format ${site.format}, and this page reads format ${FORMAT}. Build the report again.`,
    );
  }
  return site;
}

/**
 * Load a domain's verdicts, by column: `{length, column(name), text(name, row)}`.
 *
 * A column of numbers is a Float64Array with NaN for null; a column of texts is
 * `{values: [text or null], codes: Uint32Array}`, where `values[codes[row]]` is the text.
 */
export function loadVerdicts(domain) {
  const name = dataName(["verdicts", domain]);
  return once(name, async () => {
    const bytes = fromBase64(await fetchPayload(name));
    return readParquet(bytes.buffer);
  });
}

/** Load an episode's messages, states and entities. Rejects with an Error if the domain has no such episode. */
export async function loadEpisode(domain, episode) {
  return (await load("episodes", domain, await shardOf(domain, episode)))[episode];
}

/** Load what an assistant did in an episode, with `contents` of the prompts' messages: `{contents, ...results}`. */
export async function loadResults(domain, assistant, episode) {
  const { contents, episodes } = await load("results", domain, assistant, await shardOf(domain, episode));
  return { contents, ...episodes[episode] };
}

/** Return the objects of a payload `{columns: [..], rows: [[..], ..]}`. */
export function records({ columns, rows }) {
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}

function once(name, read) {
  if (!loaded.has(name)) {
    const promise = read().catch((error) => {
      loaded.delete(name);
      throw error instanceof DataError ? error : new DataError(name, "is damaged", error);
    });
    loaded.set(name, promise);
  }
  return loaded.get(name);
}

class DataError extends Error {
  constructor(name, problem, cause) {
    super(`The file data/${name}.js ${problem}. Build the report again, or copy its folder whole.`, { cause });
  }
}

function dataName(parts) {
  return parts.map(encodeName).join("/");
}

// The exporter has the same function: a name that is safe as a file and in a URL on every system.
function encodeName(text) {
  let name = "";
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte);
    name += /[a-z0-9_~-]/.test(character) ? character : "=" + byte.toString(16).padStart(2, "0");
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return name.length <= 100 ? name : name.slice(0, 90) + "==" + hash.toString(16).padStart(8, "0");
}

async function shardOf(domain, episode) {
  const { episodes } = await load("domains", domain);
  const found = episodes.find((each) => each.episode === episode);
  if (!found) {
    throw new Error(`The domain ${domain} has no episode ${episode}.`);
  }
  return found.shard;
}

async function fetchPayload(name) {
  if (!payloads.has(name)) {
    await addScript(`data/${name}.js`, name);
  }
  if (!payloads.has(name)) {
    throw new DataError(name, "is damaged");
  }
  const payload = payloads.get(name);
  payloads.delete(name);
  return payload;
}

function addScript(src, name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = src;
    script.onload = () => resolve(script.remove());
    script.onerror = () => {
      script.remove();
      reject(new DataError(name, "cannot be read"));
    };
    document.head.append(script);
  });
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) {
    return Uint8Array.fromBase64(text);
  }
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = characters.charCodeAt(i);
  }
  return bytes;
}

function inflate(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function readParquet(file) {
  const metadata = parquetMetadata(file);
  const length = Number(metadata.num_rows);
  const columns = new Map();
  for (const { name, type } of metadata.schema.slice(1)) {
    columns.set(name, type === "BYTE_ARRAY" ? new TextColumn(length) : new Float64Array(length));
  }
  await parquetRead({
    file,
    metadata,
    compressors: { ZSTD: (bytes) => decompress(bytes) },
    onChunk: ({ columnName, columnData, rowStart }) => {
      const column = columns.get(columnName);
      if (column instanceof TextColumn) {
        column.add(columnData, rowStart);
      } else {
        for (let i = 0; i < columnData.length; i++) {
          column[rowStart + i] = columnData[i] ?? NaN;
        }
      }
    },
  });
  const column = (name) => {
    if (!columns.has(name)) {
      throw new Error(`The verdicts have no column ${name}. They have ${[...columns.keys()].join(", ")}.`);
    }
    return columns.get(name);
  };
  const text = (name, row) => column(name).values[column(name).codes[row]];
  return { length, column, text };
}

class TextColumn {
  constructor(length) {
    this.codes = new Uint32Array(length);
    this.values = [];
    this.known = new Map();
  }

  add(cells, start) {
    let last;
    let code = -1;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (code < 0 || cell !== last) {
        code = this.code(cell || null);
        last = cell;
      }
      this.codes[start + i] = code;
    }
  }

  code(cell) {
    let code = this.known.get(cell);
    if (code === undefined) {
      code = this.values.push(cell) - 1;
      this.known.set(cell, code);
    }
    return code;
  }
}
