// Scores by slice: over the checkpoints as lines, and all slices as a heat map.

import { HeatMap } from "../components/heatmap.jsx";
import { Series } from "../components/series.jsx";
import { Table } from "../components/table.jsx";
import { interval, score } from "../format.js";
import { href } from "../route.js";
import { checkpointOf, distinct, slicesOf } from "../site.js";

const MOST_LINES = 12;

/** `rows`: scores of one domain, metric and variant in all slices. */
export function Checkpoints({ metric, rows, names }) {
  const noun = rows.find((row) => row.value !== null && checkpointOf(row.slice) !== null)?.slice.split(" ")[0];
  const points = rows
    .filter((row) => row.value !== null && noun && row.slice.startsWith(`${noun} `) && names.includes(row.assistant))
    .map((row) => ({ ...row, x: checkpointOf(row.slice) }))
    .sort((a, b) => a.x - b.x);
  const steps = distinct(points, "x");
  if (steps.length < 2) {
    return null;
  }
  const shown = names.slice(0, MOST_LINES);
  const unit = metric.percent ? ", %" : "";
  return (
    <section aria-labelledby="checkpoints">
      <h2 id="checkpoints">
        {metric.title} by {noun}
      </h2>
      {shown.length < names.length && (
        <p class="lead">
          The first {MOST_LINES} of {names.length} assistants. The table has all.
        </p>
      )}
      <Series
        label={`${metric.title} by ${noun}`}
        names={shown}
        points={points.filter(({ assistant }) => shown.includes(assistant))}
        scale={metric.percent ? 100 : 1}
        x={{ label: noun, ticks: steps, tickFormat: "d" }}
        y={{ label: metric.title + unit }}
      >
        <Table
          caption={`${metric.title}${unit} by ${noun}`}
          columns={[
            { key: "assistant", label: "Assistant", head: true, value: (name) => name },
            ...steps.map((step) => ({
              key: String(step),
              label: `${noun} ${step}`,
              cell: (name) => {
                const point = points.find(({ assistant, x }) => assistant === name && x === step);
                return score(point?.value, metric);
              },
              numeric: true,
            })),
          ]}
          rows={names}
          rowKey={(name) => name}
        />
      </Series>
    </section>
  );
}

export function SliceMap({ domain, metric, rows, names, variant }) {
  const slices = slicesOf(domain, rows);
  if (slices.length < 2) {
    return null;
  }
  const found = new Map(rows.map((row) => [`${row.slice}\n${row.assistant}`, row]));
  const values = rows.map(({ value }) => value).filter(Number.isFinite);
  const [from, to] = [Math.min(...values), Math.max(...values)];
  const share = (value) => {
    const part = to > from ? (value - from) / (to - from) : 0.5;
    return 0.08 + 0.92 * (metric.direction === "lower" ? 1 - part : part);
  };
  return (
    <section aria-labelledby="slices">
      <h2 id="slices">{metric.title} by slice</h2>
      <HeatMap
        caption={`${metric.title}${metric.percent ? ", %" : ""}, by slice and assistant. The stronger the color, the better. Choose a score for its probes.`}
        corner="Slice"
        rows={slices.map((slice) => ({
          key: slice,
          label: slice,
          href: href("leaderboard", { domain: domain.name, metric: metric.name, variant, slice }),
        }))}
        columns={names.map((name) => ({ key: name, label: name }))}
        cell={({ key: slice }, { key: assistant }) => {
          const row = found.get(`${slice}\n${assistant}`);
          return (
            row &&
            row.value !== null && {
              text: score(row.value, metric),
              share: share(row.value),
              title: `${assistant}, ${slice}: ${interval(row, (value) => score(value, metric), row.interval_reason)}, n = ${row.n}`,
              href: href("probes", { domain: domain.name, assistant, metric: metric.name, variant, slice }),
            }
          );
        }}
      />
    </section>
  );
}
