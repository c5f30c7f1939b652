// Score against tokens, cost and time per probe.

import { dot, initializer, line, ruleX, text } from "@observablehq/plot";
import { Chart } from "../components/chart.jsx";
import { Table } from "../components/table.jsx";
import { amount, score } from "../format.js";
import { byBetter, isBaseline } from "../site.js";

const MEASURES = [
  { key: "tokens", label: "Tokens per probe" },
  { key: "cost", label: "Cost per probe" },
  { key: "seconds", label: "Seconds per probe" },
];

export function Tradeoffs({ site, metric, rows }) {
  const measures = MEASURES.map((measure) => ({
    ...measure,
    points: rows.filter((row) => row.value !== null && row[measure.key] > 0),
  })).filter(({ points }) => points.length > 1);
  if (measures.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="tradeoffs">
      <h2 id="tradeoffs">{metric.title} against tokens, cost and time</h2>
      <p class="lead">
        Every point is an assistant; the line joins those that no other assistant beats in both. Hollow: baselines.
      </p>
      <div class="multiples">
        {measures.map((measure) => (
          <Chart
            key={measure.key}
            label={`${metric.title} against ${measure.label.toLowerCase()}`}
            keys={[metric.name, measure.key, rows]}
            options={(width) => scatter(site, metric, measure, width)}
          />
        ))}
      </div>
      <details>
        <summary>Data as a table</summary>
        <Table
          caption={`${metric.title}, tokens, cost and seconds per probe`}
          columns={[
            { key: "assistant", label: "Assistant", head: true, value: (row) => row.assistant },
            { key: "value", label: metric.title, value: (row) => row.value, cell: (row) => score(row.value, metric), numeric: true },
            ...MEASURES.map(({ key, label }) => ({
              key,
              label,
              value: (row) => row[key],
              cell: (row) => amount(row[key]),
              numeric: true,
            })),
          ]}
          rows={rows}
          rowKey={(row) => row.assistant}
        />
      </details>
    </section>
  );
}

const CHARACTER = 6.6;
const LINE = 13;

/** Return the rows that no other row beats both in the metric and in a measure of which less is better. */
export function frontier(metric, key, rows) {
  const sorted = [...rows].sort((a, b) => a[key] - b[key] || byBetter(metric, a.value, b.value));
  const best = [];
  for (const row of sorted) {
    if (best.length === 0 || byBetter(metric, row.value, best.at(-1).value) < 0) {
      best.push(row);
    }
  }
  return best;
}

// Leave out a label that would cover another. The assistant's name is in the tip and in the table.
function dropOverlaps(data, facets, { x, y, text: names }, scales) {
  const placed = [];
  const free = (i) => {
    const box = { x: scales.x(x.value[i]), y: scales.y(y.value[i]), width: names.value[i].length * CHARACTER };
    const covers = (other) =>
      Math.abs(box.x - other.x) < (box.width + other.width) / 2 && Math.abs(box.y - other.y) < LINE;
    return placed.some(covers) ? false : placed.push(box);
  };
  return { data, facets: facets.map((indexes) => Array.from(indexes).filter(free)) };
}

function tick(value) {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

const MANTISSAS = [[1], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]];

/** Return the marks on a logarithmic axis: round numbers between the values, at least three where there are so many. */
export function logTicks(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const first = Math.floor(Math.log10(low));
  const decades = Array.from({ length: Math.floor(Math.log10(high)) - first + 1 }, (_, i) => 10 ** (first + i));
  const choices = MANTISSAS.map((mantissas) =>
    decades.flatMap((decade) => mantissas.map((mantissa) => mantissa * decade)).filter((at) => low <= at && at <= high),
  );
  return choices.find((ticks) => ticks.length > 2) ?? [...new Set([low, high])];
}

function scatter(site, metric, { key, label, points }, width) {
  const scale = metric.percent ? 100 : 1;
  const y = (row) => row.value * scale;
  const systems = points.filter((row) => !isBaseline(site, row.assistant));
  const best = frontier(metric, key, systems);
  const named = points.filter((row) => best.includes(row) || isBaseline(site, row.assistant));
  const half = (CHARACTER * Math.max(0, ...named.map(({ assistant }) => assistant.length))) / 2 + 6;
  return {
    height: Math.min(340, Math.max(240, width * 0.7)),
    marginLeft: 44,
    marginRight: 24,
    marginBottom: 40,
    // The first and the last name have room beside their points, and none covers the label of the axis.
    insetTop: 14,
    insetLeft: Math.max(18, half - 44),
    insetRight: Math.max(8, half - 24),
    x: { type: "log", label, tickFormat: tick, ticks: logTicks(points.map((row) => row[key])) },
    y: { label: metric.percent ? `${metric.title}, %` : metric.title, grid: true, nice: true },
    marks: [
      ruleX(points, { x: key, y1: (row) => row.low * scale, y2: (row) => row.high * scale, stroke: "var(--range)", strokeWidth: 2 }),
      line(best, { x: key, y, stroke: "var(--accent)", strokeOpacity: 0.6 }),
      dot(points, {
        x: key,
        y,
        r: 4.5,
        fill: (row) => (isBaseline(site, row.assistant) ? "var(--page)" : "var(--accent)"),
        stroke: "var(--accent)",
        tip: { fill: "var(--page)", format: { fill: false, x: amount, y: (value) => value.toFixed(1) } },
        channels: { assistant: "assistant" },
      }),
      text(
        named,
        initializer(
          {
            x: key,
            y,
            text: "assistant",
            dy: -11,
            fill: "currentColor",
            stroke: "var(--page)",
            strokeWidth: 3,
            fontSize: 11,
          },
          dropOverlaps,
        ),
      ),
    ],
  };
}
