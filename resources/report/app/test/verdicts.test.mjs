// Filters equal a plain recomputation over random verdicts. Run with `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FAILURES, OUTCOMES, outcomeOf, Verdicts } from "../src/verdicts.js";

const METRICS = [
  { name: "accuracy", range: [0, 1], direction: "higher" },
  { name: "mae", range: [0, 4], direction: "lower" },
];
const SLICES = ["all", "early", "late"];

function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

function draw(seed) {
  const pick = random(seed);
  const columns = ["probe", "checkpoint", "kind", "dataset", "category", "question", "metric", "slices"];
  const probes = Array.from({ length: 40 }, (_, i) => [
    `p${i}`,
    pick(4),
    "choice",
    `d${pick(2)}`,
    pick(3) ? `c${pick(3)}` : null,
    pick(2) ? "Where is the <b>garden</b>?" : "花园在哪里",
    "accuracy",
    [0, pick(2) + 1],
  ]);
  const rows = [];
  for (const [probe] of probes.slice(1)) {
    for (const assistant of ["a", "b", "c"]) {
      for (const metric of ["accuracy", "mae"]) {
        if (pick(5)) {
          const value = pick(6) ? (metric === "mae" ? pick(3) * 2 : pick(3) / 2) : NaN;
          rows.push({ probe, assistant, metric, variant: pick(4) ? "standard" : "other", value, failure: [...FAILURES, null][pick(4)] });
        }
      }
    }
  }
  return { columns, probes, rows };
}

function tableOf(rows) {
  const column = (name) => {
    if (name === "value") {
      return Float64Array.from(rows, (row) => row.value);
    }
    const values = [...new Set(rows.map((row) => row[name]))];
    return { values, codes: Uint32Array.from(rows, (row) => values.indexOf(row[name])) };
  };
  return { length: rows.length, column };
}

function outcome(row) {
  return outcomeOf(row.value, METRICS.find(({ name }) => name === row.metric));
}

function expected({ probes, rows }, query) {
  const has = (facet, value) => !query[facet]?.length || query[facet].includes(value);
  const metrics = query.metric?.length ? query.metric : ["accuracy"];
  return probes
    .filter(([id, checkpoint, , dataset, category, question, , slices]) => {
      const own = rows.filter((row) => row.probe === id);
      const fallback = !query.metric?.length && !own.some((row) => row.metric === "accuracy");
      const looked = own.filter((row) => fallback || metrics.includes(row.metric) || metrics.includes("every")).filter((row) => has("variant", row.variant));
      const passing = looked.filter(
        (row) => has("assistant", row.assistant) && has("verdict", outcome(row)) && has("failure", row.failure),
      );
      const among = looked.filter((row) => query.assistant?.length > 1 ? has("assistant", row.assistant) : true);
      const differs = among.some((x) =>
        among.some((y) => x.metric === y.metric && x.variant === y.variant && x.value !== y.value && !Number.isNaN(x.value) && !Number.isNaN(y.value)),
      );
      const free = ["assistant", "verdict", "failure", "variant", "metric"].every((facet) => !query[facet]?.length || query[facet].includes("every"));
      return (
        has("checkpoint", String(checkpoint)) &&
        has("dataset", dataset) &&
        has("category", category ?? "") &&
        (!query.slice?.length || slices.some((number) => query.slice.includes(SLICES[number]))) &&
        (!query.differ?.length || differs) &&
        `${id}\n${question}`.toLowerCase().includes((query.text ?? "").toLowerCase()) &&
        (passing.length > 0 || (own.length === 0 && free))
      );
    })
    .map(([id]) => id);
}

const CHOICES = {
  assistant: ["a", "b", "c"],
  verdict: OUTCOMES,
  failure: FAILURES,
  metric: ["accuracy", "mae", "every"],
  variant: ["standard", "other"],
  slice: SLICES,
  checkpoint: ["0", "1", "2", "3"],
  dataset: ["d0", "d1"],
  category: ["", "c0", "c1", "c2"],
  differ: ["yes"],
};

function drawQuery(pick) {
  const query = { text: ["", "", "GARDEN", "花园", "p3"][pick(5)] };
  for (const [facet, values] of Object.entries(CHOICES)) {
    query[facet] = pick(3) ? [] : values.filter(() => pick(2));
  }
  return query;
}

test("filter returns the probes that a plain recomputation returns", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const drawn = draw(seed);
    const verdicts = new Verdicts(tableOf(drawn.rows), { columns: drawn.columns, rows: drawn.probes }, { metrics: METRICS, slices: SLICES });
    const query = drawQuery(random(seed + 1000));
    const found = [...verdicts.filter(query).probes].map((i) => verdicts.ids[i]);
    assert.deepEqual(found, expected(drawn, query), JSON.stringify(query));
  }
});

test("a facet's count is the number of probes that its value alone would leave", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const drawn = draw(seed);
    const verdicts = new Verdicts(tableOf(drawn.rows), { columns: drawn.columns, rows: drawn.probes }, { metrics: METRICS, slices: SLICES });
    const query = drawQuery(random(seed + 5000));
    const { counts } = verdicts.filter(query);
    for (const facet of ["verdict", "failure", "slice", "checkpoint", "dataset", "category"]) {
      verdicts.values[facet].forEach((value, code) => {
        const alone = expected(drawn, { ...query, [facet]: [value] });
        assert.equal(counts[facet][code], alone.length, `${facet} ${value} of ${JSON.stringify(query)}`);
      });
    }
  }
});

test("probes are sorted by the number of assistants that were wrong", () => {
  const drawn = draw(7);
  const verdicts = new Verdicts(tableOf(drawn.rows), { columns: drawn.columns, rows: drawn.probes }, { metrics: METRICS, slices: SLICES });
  const { probes, wrong } = verdicts.filter({ sort: "-wrong" });
  const counted = [...probes].map((i) => wrong[i]);
  assert.deepEqual(counted, [...counted].sort((a, b) => b - a));
  for (const i of probes) {
    const outcomes = [...verdicts.results(i, {}).values()].map((result) => result.outcome);
    assert.equal(wrong[i], outcomes.filter((each) => each === "wrong").length);
  }
});

test("verdicts of an unknown probe are an error that names the probe", () => {
  const { columns, probes, rows } = draw(1);
  assert.throws(() => new Verdicts(tableOf(rows), { columns, rows: probes.slice(0, 3) }), /the probe p3/);
});
