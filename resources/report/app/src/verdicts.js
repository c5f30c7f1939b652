// Filters over the verdicts of a domain: the probes that match, and how many each value of each facet would leave.
//
// Rows are codes in typed arrays, sorted by probe, metric and variant once. A filter is one pass without objects per row.

import { load, loadVerdicts } from "./data.js";

export const OUTCOMES = ["none", "wrong", "partial", "right"];
export const FAILURES = ["write", "read", "utilization"];
export const EVERY_METRIC = "every";
export const SORTS = ["id", "checkpoint", "wrong"];

/** The facets, in the order in which they are shown. Row facets are of a verdict, probe facets of its probe. */
export const ROW_FACETS = ["assistant", "verdict", "failure", "metric", "variant"];
export const PROBE_FACETS = ["slice", "checkpoint", "dataset", "category", "kind", "differ"];

const [NONE, WRONG, PARTIAL, RIGHT] = OUTCOMES.keys();
const NO_FAILURE = FAILURES.length;
const DIFFER = ["yes"];
const EPSILON = 1e-9;

const opened = new Map();

/** Load a domain's probes and verdicts once. Rejects with an Error that states the missing or damaged file. */
export function openVerdicts(site, domain) {
  if (!opened.has(domain)) {
    const known = site.domains.find((each) => each.name === domain);
    const promise = Promise.all([loadVerdicts(domain), load("probes", domain)]).then(
      ([table, probes]) => new Verdicts(table, probes, { metrics: site.metrics, slices: known?.slices ?? [] }),
    );
    promise.catch(() => opened.delete(domain));
    opened.set(domain, promise);
  }
  return opened.get(domain);
}

/** Return the outcome of a value: `right` is the best value of the metric's range, `wrong` the worst. */
export function outcomeOf(value, metric) {
  return OUTCOMES[outcomeCode(value, metric)];
}

/**
 * A domain's verdicts.
 *
 * `table`: `{length, column(name)}` as `loadVerdicts` returns. `probes`: `{columns, rows}`. `metrics`: the site's
 * metrics with `range` and `direction`. `slices`: names that the numbers in the probes' `slices` index.
 */
export class Verdicts {
  constructor(table, probes, { metrics = [], slices = [] } = {}) {
    const place = Object.fromEntries(probes.columns.map((name, i) => [name, i]));
    const of = (name) => probes.rows.map((row) => row[place[name]] ?? null);
    this.columns = probes.columns;
    this.rows = probes.rows;
    this.ids = of("probe");
    this.length = table.length;
    this.metrics = new Map(metrics.map((metric) => [metric.name, metric]));
    this.indexes = new Map(this.ids.map((id, i) => [id, i]));
    this.values = { verdict: OUTCOMES, failure: FAILURES, differ: DIFFER };
    this.#sortRows(table);
    this.#codeProbes(of, slices);
    this.own = this.#ownMetrics(of("metric"));
  }

  /** Whether a facet has a value to offer: one that a verdict or probe of the domain can have. */
  offers(facet, value) {
    const code = this.values[facet].indexOf(value);
    return facet === "slice" ? this.used.has(code) && value !== "all" : code >= 0;
  }

  /** Return a probe as an object. */
  probe(index) {
    return Object.fromEntries(this.columns.map((name, i) => [name, this.rows[index][i]]));
  }

  /** Return the index of a probe by its id, or -1. */
  indexOf(id) {
    return this.indexes.get(id) ?? -1;
  }

  /**
   * Filter probes.
   *
   * `query` has a list of values for each facet (empty: all), `text`, and `sort` (one of SORTS; `-` before it reverses).
   * A probe matches if one of its verdicts passes all row facets. Without `metric`, the probe's own metric counts.
   * Returns `{probes: Uint32Array of indexes, counts: {facet: number of probes by value}, wrong: Uint16Array by index}`:
   * a count is over the probes that match when the facet's own choice is left out.
   */
  filter(query) {
    const masks = this.#masks(query);
    const { wrong, differs } = this.#tally(masks, query);
    const text = (query.text ?? "").trim().toLocaleLowerCase();
    const texts = text && this.#searchTexts();
    const { assistant, verdict, failure, metric, variant, starts } = this;
    const keys = [assistant, verdict, failure, metric, variant];
    const sizes = ROW_FACETS.map((facet) => this.values[facet].length);
    const counts = sizes.map((size) => new Uint32Array(size + 1));
    const seen = sizes.map((size) => new Int32Array(size + 1).fill(-1));
    const probeCounts = PROBE_FACETS.map((facet) => new Uint32Array(this.values[facet].length));
    const found = new Uint32Array(this.rows.length);
    const [A, V, F, M, W] = masks.rows;
    let n = 0;
    const count = (facet, row, probe) => {
      const code = keys[facet][row];
      if (seen[facet][code] !== probe) {
        seen[facet][code] = probe;
        counts[facet][code] += 1;
      }
    };
    for (let probe = 0; probe < this.rows.length; probe++) {
      if (texts && !texts[probe].includes(text)) {
        continue;
      }
      const failed = this.#failedFacets(masks.probes, probe, differs);
      if (failed & (failed - 1)) {
        continue;
      }
      const own = masks.own ? this.own[probe] : -1;
      const end = starts[probe + 1];
      let passes = masks.unfiltered && starts[probe] === end;
      for (let row = starts[probe]; row < end; row++) {
        const code = metric[row];
        const bits =
          A[assistant[row]] |
          V[verdict[row]] |
          F[failure[row]] |
          W[variant[row]] |
          (masks.own ? (own >= 0 && own !== code ? 8 : 0) : M[code]);
        if (bits === 0) {
          passes = true;
          if (failed === 0) {
            for (let facet = 0; facet < 5; facet++) {
              count(facet, row, probe);
            }
          }
        } else if (failed === 0 && (bits & (bits - 1)) === 0) {
          count(31 - Math.clz32(bits), row, probe);
        }
      }
      if (passes) {
        this.#countProbe(probeCounts, failed, probe, differs);
        if (failed === 0) {
          found[n++] = probe;
        }
      }
    }
    const named = (facets, arrays) => Object.fromEntries(facets.map((facet, i) => [facet, arrays[i]]));
    return {
      probes: this.#sorted(found.subarray(0, n), query.sort ?? "id", wrong),
      counts: { ...named(ROW_FACETS, counts), ...named(PROBE_FACETS, probeCounts) },
      wrong,
    };
  }

  /**
   * Return what each assistant got for a probe under the query's metrics and variants, by name:
   * `{outcome, value, failure}`; the value is the mean where there are several verdicts, null without any.
   */
  results(probe, query) {
    const masks = this.#masks({ metric: query.metric, variant: query.variant });
    const found = new Map();
    for (let row = this.starts[probe]; row < this.starts[probe + 1]; row++) {
      if (this.#counts(masks, probe, row)) {
        const name = this.values.assistant[this.assistant[row]];
        const each = found.get(name) ?? { bits: 0, sum: 0, n: 0, failure: null };
        each.bits |= 1 << this.verdict[row];
        each.failure ??= FAILURES[this.failure[row]] ?? null;
        if (!Number.isNaN(this.value[row])) {
          each.sum += this.value[row];
          each.n += 1;
        }
        found.set(name, each);
      }
    }
    return new Map(
      [...found].map(([name, { bits, sum, n, failure }]) => [
        name,
        { outcome: OUTCOMES[combined(bits)], value: n ? sum / n : null, failure },
      ]),
    );
  }

  #sortRows(table) {
    const column = (name) => table.column(name);
    const names = { assistant: column("assistant"), metric: column("metric"), variant: column("variant") };
    const ids = column("probe");
    const probeOf = Uint32Array.from(ids.values, (id) => {
      const index = this.indexOf(id);
      if (index < 0) {
        throw new Error(`The verdicts contain the probe ${id}, which the domain's probes lack. Build the report again.`);
      }
      return index;
    });
    const probe = ids.codes.map((code) => probeOf[code]);
    let order = null;
    for (const [key, size] of [
      [names.variant.codes, names.variant.values.length],
      [names.metric.codes, names.metric.values.length],
      [probe, this.ids.length],
    ]) {
      order = countingSort(order, key, size).order;
    }
    this.starts = countingSort(null, probe, this.ids.length).starts;
    for (const [facet, { codes, values }] of Object.entries(names)) {
      this.values[facet] = values;
      this[facet] = order.map((row) => codes[row]);
    }
    const value = column("value");
    const failure = column("failure");
    const failureCodes = Uint8Array.from(failure.values, (name) => (name === null ? NO_FAILURE : FAILURES.indexOf(name)));
    this.value = new Float64Array(table.length);
    this.failure = new Uint8Array(table.length);
    this.verdict = new Uint8Array(table.length);
    const metrics = this.values.metric.map((name) => this.metrics.get(name));
    for (let i = 0; i < order.length; i++) {
      const row = order[i];
      this.value[i] = value[row];
      this.failure[i] = failureCodes[failure.codes[row]];
      this.verdict[i] = outcomeCode(value[row], metrics[this.metric[i]]);
    }
  }

  #codeProbes(of, slices) {
    this.code = {};
    for (const facet of ["checkpoint", "dataset", "category", "kind"]) {
      const cells = of(facet).map((cell) => cell ?? "");
      const values = [...new Set(cells)].sort(compare);
      const codes = new Map(values.map((value, i) => [value, i]));
      this.values[facet] = values.map(String);
      this.code[facet] = Uint32Array.from(cells, (cell) => codes.get(cell));
    }
    this.values.slice = slices;
    this.slices = of("slices").map((numbers) => numbers ?? []);
    this.used = new Set(this.slices.flat());
  }

  #ownMetrics(names) {
    const codes = new Map(this.values.metric.map((name, i) => [name, i]));
    return Int32Array.from(names, (name, probe) => {
      const code = codes.get(name) ?? -1;
      const has = this.metric.subarray(this.starts[probe], this.starts[probe + 1]).includes(code);
      return has ? code : -1;
    });
  }

  #masks(query) {
    const own = !query.metric?.length;
    const chosen = { ...query, metric: own || query.metric.includes(EVERY_METRIC) ? [] : query.metric };
    const mask = (facet, bit, extra) => {
      const wanted = new Set(chosen[facet]);
      const values = this.values[facet];
      return Uint8Array.from({ length: values.length + extra }, (_, code) =>
        wanted.size === 0 || wanted.has(values[code]) ? 0 : bit,
      );
    };
    return {
      own,
      unfiltered: ROW_FACETS.every((facet) => !chosen[facet]?.length),
      rows: ROW_FACETS.map((facet, i) => mask(facet, 1 << i, facet === "failure" ? 1 : 0)),
      probes: PROBE_FACETS.map((facet, i) => (chosen[facet]?.length ? mask(facet, 1 << i, 0) : null)),
    };
  }

  /** Whether a row is of the metrics and variants that are looked at. */
  #counts(masks, probe, row) {
    const own = masks.own ? this.own[probe] : -1;
    const metric = masks.own ? own < 0 || own === this.metric[row] : masks.rows[3][this.metric[row]] === 0;
    return metric && masks.rows[4][this.variant[row]] === 0;
  }

  /** Count for each probe the assistants that were wrong, and mark the probes on which assistants differ. */
  #tally(masks, query) {
    const key = JSON.stringify([query.metric, query.variant, query.assistant]);
    if (this.tallied?.key === key) {
      return this.tallied;
    }
    const among = (query.assistant?.length ?? 0) > 1 ? masks.rows[0] : new Uint8Array(this.values.assistant.length);
    const wrong = new Uint16Array(this.rows.length);
    const differs = new Uint8Array(this.rows.length);
    const outcomes = new Uint8Array(this.values.assistant.length);
    const present = new Uint32Array(this.values.assistant.length);
    for (let probe = 0; probe < this.rows.length; probe++) {
      let last = -1;
      let first = NaN;
      let n = 0;
      for (let row = this.starts[probe]; row < this.starts[probe + 1]; row++) {
        if (this.#counts(masks, probe, row)) {
          const name = this.assistant[row];
          if (outcomes[name] === 0) {
            present[n++] = name;
          }
          outcomes[name] |= 1 << this.verdict[row];
          if (among[name] === 0 && this.verdict[row] !== NONE) {
            const measure = this.metric[row] * this.values.variant.length + this.variant[row];
            if (measure !== last) {
              last = measure;
              first = this.value[row];
            } else if (Math.abs(this.value[row] - first) > EPSILON) {
              differs[probe] = 1;
            }
          }
        }
      }
      for (let i = 0; i < n; i++) {
        wrong[probe] += combined(outcomes[present[i]]) === WRONG ? 1 : 0;
        outcomes[present[i]] = 0;
      }
    }
    this.tallied = { key, wrong, differs };
    return this.tallied;
  }

  /** Return the probe facets that a probe fails, one bit each. */
  #failedFacets(masks, probe, differs) {
    let failed = 0;
    for (let facet = 0; facet < masks.length; facet++) {
      const mask = masks[facet];
      if (mask) {
        const name = PROBE_FACETS[facet];
        const passes =
          name === "slice"
            ? this.slices[probe].some((number) => mask[number] === 0)
            : name === "differ"
              ? differs[probe] === 1
              : mask[this.code[name][probe]] === 0;
        failed |= passes ? 0 : 1 << facet;
      }
    }
    return failed;
  }

  #countProbe(counts, failed, probe, differs) {
    for (let facet = 0; facet < PROBE_FACETS.length; facet++) {
      if (failed === 0 || failed === 1 << facet) {
        const name = PROBE_FACETS[facet];
        if (name === "slice") {
          for (const number of this.slices[probe]) {
            counts[facet][number] += 1;
          }
        } else if (name === "differ") {
          counts[facet][0] += differs[probe];
        } else {
          counts[facet][this.code[name][probe]] += 1;
        }
      }
    }
  }

  #searchTexts() {
    const question = this.columns.indexOf("question");
    this.texts ??= this.rows.map((row, i) => `${this.ids[i]}\n${row[question] ?? ""}`.toLocaleLowerCase());
    return this.texts;
  }

  /** Return probes in an order; those that are equal stay in the order of the domain. */
  #sorted(probes, sort, wrong) {
    const descending = sort.startsWith("-");
    const name = sort.replace("-", "");
    let order = probes;
    if (name === "checkpoint" || name === "wrong") {
      const key = name === "wrong" ? wrong : this.code.checkpoint;
      const size = name === "wrong" ? this.values.assistant.length + 1 : this.values.checkpoint.length;
      const keys = descending ? key.map((each) => size - 1 - each) : key;
      return countingSort(probes, keys, size).order;
    }
    if (descending) {
      order = probes.slice().reverse();
    }
    return order;
  }
}

/** Sort rows by small integer keys, stable. `rows`: the rows in their order; null for all rows of `key`. */
function countingSort(rows, key, size) {
  const n = rows ? rows.length : key.length;
  const starts = new Uint32Array(size + 1);
  for (let i = 0; i < n; i++) {
    starts[key[rows ? rows[i] : i] + 1] += 1;
  }
  for (let i = 0; i < size; i++) {
    starts[i + 1] += starts[i];
  }
  const next = starts.slice();
  const order = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    const row = rows ? rows[i] : i;
    order[next[key[row]]++] = row;
  }
  return { order, starts };
}

function outcomeCode(value, metric) {
  if (value === null || Number.isNaN(value)) {
    return NONE;
  }
  const [low, high] = metric?.range ?? [0, 1];
  const share = (value - low) / (high - low);
  const quality = metric?.direction === "lower" ? 1 - share : share;
  return quality >= 1 - EPSILON ? RIGHT : quality <= EPSILON ? WRONG : PARTIAL;
}

/** Return the outcome of several verdicts, given as a bit for each outcome: those without a value do not count. */
function combined(bits) {
  const valued = bits & ~(1 << NONE);
  return valued === 0 ? NONE : valued === 1 << RIGHT ? RIGHT : valued === 1 << WRONG ? WRONG : PARTIAL;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}
