// Paired differences to the baseline: over all probes with intervals, and by slice as a heat map.

import { HeatMap } from "../components/heatmap.jsx";
import { axisOf, AxisLabels, Interval } from "../components/interval.jsx";
import { Table } from "../components/table.jsx";
import { Tag } from "../components/tag.jsx";
import { count, interval, NONE, probability, score } from "../format.js";
import { href } from "../route.js";
import { slicesOf } from "../site.js";

const WIDTH = 260;
const SIGNED = { sign: true };
const LEVEL = 0.05;
/** The largest number of episodes that is distinguished: `MOST_EPISODES` of memflow/metrics/power.py. */
const MOST_EPISODES = 100000;

/**
 * Differences as a table with a common axis.
 *
 * `rows`: oriented comparisons. `head`: the column that tells them apart, as `{key, label, cell}`.
 */
export function Differences({ caption, metric, baseline, rows, head, sort, onSort }) {
  const axis = symmetric(axisOf(rows.map((row) => ({ ...row, value: row.difference }))));
  const text = (value) => score(value, metric, SIGNED);
  const unit = metric.percent ? ", points" : "";
  const columns = [
    { head: true, value: (row) => row[head.key], ...head },
    number("value", `${metric.title}${metric.percent ? ", %" : ""}`, (row) => score(row.value, metric), "The score over the pairs."),
    number("difference", `Difference${unit}`, (row) => <strong>{text(row.difference)}</strong>, `The assistant minus ${baseline}.`),
    {
      key: "interval",
      label: <AxisLabels axis={axis} format={text} width={WIDTH} />,
      cell: (row) => (
        <>
          <Interval value={row.difference} low={row.low} high={row.high} axis={axis} zero width={WIDTH} tone={tone(row)} />
          <span class="visually-hidden">{range(row, text)}</span>
        </>
      ),
    },
    { key: "ci", label: "95 % interval", cell: (row) => range(row, text), numeric: true },
    ...(rows.some(hasNoise)
      ? [number("noise", "Noise", (row) => noiseText(row, metric), "Standard deviation of the difference between repeated evaluations.")]
      : []),
    number("p_adjusted", "Adjusted p", (row) => probability(row.p_adjusted), "p of the sign-flip test over episodes, corrected by Holm's method over all pairs of assistants under this metric and slice."),
    number("n", "Pairs", (row) => row.n.toLocaleString("en"), "Probes with a value for both."),
    number("n_episodes", "Episodes", (row) => row.n_episodes.toLocaleString("en"), "Episodes of the pairs."),
    number(
      "episodes_needed",
      "Needed",
      (row) => (row.better || !row.episodes_needed ? NONE : needed(row)),
      "Episodes with which 80 % of studies find a difference like this one, and the 5 to 95 % range of this number; – where the difference is clear.",
    ),
    rows.some((row) => row.onlyOther + row.onlyBaseline > 0) && {
      key: "unpaired",
      label: "Not paired",
      title: `Probes with a value for the assistant only, and for ${baseline} only.`,
      value: (row) => row.onlyOther + row.onlyBaseline,
      cell: (row) => `${row.onlyOther} / ${row.onlyBaseline}`,
      numeric: true,
    },
    { key: "verdict", label: "Result", value: (row) => row.better ?? "", cell: (row) => result(row), class: "short" },
  ].filter(Boolean);
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={rows}
      sort={sort}
      onSort={onSort}
      rowKey={(row) => row[head.key]}
    />
  );
}

function hasNoise(row) {
  return row.noise !== null && row.noise !== undefined;
}

/** The noise of a difference, and whether noise alone can be as large as the difference. */
function noiseText(row, metric) {
  return hasNoise(row) ? `±${score(row.noise, metric)}${row.within_noise ? ", not exceeded" : ""}` : NONE;
}

/** The result of one comparison as a sentence. */
export function sentence(row, baseline, metric) {
  if (row.difference === null) {
    return `${row.other} and ${baseline} cannot be compared: ${row.reason ?? "no probe has a value for both"}.`;
  }
  const points = metric.percent ? " points" : "";
  const size = score(Math.abs(row.difference), metric) + points;
  const text = (value) => score(value, metric, SIGNED);
  const facts = `(${row.low === null ? "" : "95 % interval "}${range(row, text)}, adjusted p ${probability(row.p_adjusted)}, ${count(row.n, "pair")} in ${count(row.n_episodes, "episode")})`;
  if (!isTested(row)) {
    return `${row.other} minus ${baseline} is ${text(row.difference)}${points} over ${count(row.n, "pair")} in ${count(row.n_episodes, "episode")}. There is no test: ${row.reason ?? "it needs at least two episodes"}.`;
  }
  if (row.better) {
    return `${row.other} is ${row.better === "other" ? "better" : "worse"} than ${baseline} by ${size} ${facts}.`;
  }
  const power = row.episodes_needed
    ? ` 80 % of studies with ${needed(row)} episodes would find a difference like this one.`
    : "";
  return `${row.other} and ${baseline} cannot be told apart: the difference is ${text(row.difference)}${points} ${facts}. ${whyOpen([row])}${power}`;
}

/** Why differences whose interval excludes 0 are not clear; "" where none is. The test is stricter than the interval. */
export function whyOpen(rows) {
  const open = rows.filter((row) => row.better === null && isTested(row) && (row.low > 0 || row.high < 0));
  if (open.length === 0) {
    return "";
  }
  const row = open.find((each) => cannotBeSignificant(each));
  const few = row
    ? `A difference cannot be significant with ${count(row.n_episodes, "episode")} and ${count(row.family ?? 1, "comparison")}, whatever its size. `
    : "";
  return `${few}An interval is that of one difference alone; the adjusted p allows for all pairs of assistants in the domain.`;
}

/** Whether no adjusted p of the sign-flip test can reach 0.05: `can_be_significant` of memflow/metrics/paired.py. */
function cannotBeSignificant({ n_episodes: episodes, family }) {
  return 2 ** (1 - episodes) * (family ?? 1) > LEVEL;
}

/** The number of episodes needed and its range, as `78 (18 to 13,204)`. */
function needed(row) {
  const text = (value) => (value >= MOST_EPISODES ? `more than ${MOST_EPISODES.toLocaleString("en")}` : value.toLocaleString("en"));
  const { episodes_needed_low: low, episodes_needed_high: high } = row;
  return low && high ? `${text(row.episodes_needed)} (${text(low)} to ${text(high)})` : text(row.episodes_needed);
}

/** `rows`: oriented comparisons of all slices. One assistant: a table with intervals; several: a heat map. */
export function SliceDifferences({ domain, metric, variant, baseline, rows, names }) {
  const slices = slicesOf(domain, rows);
  const link = (slice) => href("compare", { domain: domain.name, metric: metric.name, variant, a: baseline, b: names, slice });
  if (slices.length < 2) {
    return domain.slices.length > 1 ? (
      <p class="muted">
        A report does not compare the slices of a domain with many assistants. This command computes them:{" "}
        <code>
          memflow compare {baseline} {names.join(" ")} --domain {domain.name}
        </code>
      </p>
    ) : null;
  }
  return (
    <section aria-labelledby="slices">
      <h2 id="slices">Differences by slice</h2>
      {names.length === 1 ? (
        <Differences
          caption={`${names[0]} minus ${baseline} in each slice. p values are adjusted within a slice.`}
          metric={metric}
          baseline={baseline}
          rows={slices.map((slice) => rows.find((row) => row.slice === slice))}
          head={{ key: "slice", label: "Slice", cell: ({ slice }) => <a href={link(slice)}>{slice}</a> }}
        />
      ) : (
        <SliceMap {...{ domain, metric, variant, baseline, rows, names, slices, link }} />
      )}
    </section>
  );
}

function SliceMap({ domain, metric, variant, baseline, rows, names, slices, link }) {
  const found = new Map(rows.map((row) => [`${row.slice}\n${row.other}`, row]));
  const largest = Math.max(...rows.map((row) => Math.abs(row.difference ?? 0))) || 1;
  const cell = (slice, other) => {
    const row = found.get(`${slice}\n${other}`);
    return (
      row &&
      row.difference !== null && {
        text: (
          <>
            {score(row.difference, metric, SIGNED)}
            <small>n {row.n.toLocaleString("en")}</small>
          </>
        ),
        share: row.difference / largest,
        strong: row.better !== null,
        title: `${slice}: ${sentence(row, baseline, metric)}`,
        href: href("probes", { domain: domain.name, metric: metric.name, variant, assistant: other, slice }),
      }
    );
  };
  return (
    <HeatMap
      caption={`Difference to ${baseline}${metric.percent ? ", points" : ""}, with the number of pairs. Bold: adjusted p at most 0.05. Blue: higher than ${baseline}; orange: lower.`}
      corner="Slice"
      rows={slices.map((slice) => ({ key: slice, label: slice, href: link(slice) }))}
      columns={names.map((name) => ({ key: name, label: name }))}
      cell={(row, column) => cell(row.key, column.key)}
    />
  );
}

function number(key, label, cell, title) {
  return { key, label, title, value: (row) => row[key], cell, numeric: true };
}

function range(row, text) {
  return isFaulty(row) ? NONE : interval(row, text, row.reason);
}

/** Whether one of both is faulty, so that there is nothing to compare; `reason` names it. */
function isFaulty(row) {
  return row.health_a === "faulty" || row.health_b === "faulty";
}

function isTested(row) {
  return row.p_adjusted !== null;
}

function tone(row) {
  return row.better === null ? "quiet" : row.better === "other" ? "" : "worse";
}

function result(row) {
  if (isFaulty(row)) {
    return <Tag text={row.reason}>not measured</Tag>;
  }
  if (row.difference === null) {
    return <span class="muted">{row.reason ?? "no pairs"}</span>;
  }
  if (row.better) {
    return row.better === "other" ? "better" : "worse";
  }
  return <span class="muted">{isTested(row) ? "no clear difference" : "not tested"}</span>;
}

function symmetric([from, to]) {
  const end = Math.max(Math.abs(from), Math.abs(to)) || 1;
  return [-end, end];
}
