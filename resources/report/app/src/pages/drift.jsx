// What a changed simulator, answering model or judge did to the scores.

import { Select } from "../components/fields.jsx";
import { axisOf, AxisLabels, Interval } from "../components/interval.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { StackedBar, StackedKey } from "../components/stacked.jsx";
import { Table } from "../components/table.jsx";
import { Tag } from "../components/tag.jsx";
import { load, records } from "../data.js";
import { count, interval, moment, probability, score } from "../format.js";
import { href } from "../route.js";
import { domainOptions, findDomain, findMetric } from "../site.js";

const SIGNED = { sign: true };
const STAGES = [
  { key: "users", label: "Users", text: "Part of the difference from other users: messages and probes." },
  { key: "answers", label: "Answers", text: "Part from other answers to unchanged users." },
  { key: "judging", label: "Judging", text: "Part from other verdicts on unchanged answers." },
];

export default function Drift({ site, params, go }) {
  const state = useData(async () => records(await load("drift")), []);
  if (params.domain && !findDomain(site, params.domain)) {
    return <Problem link={{ href: href("drift"), label: "Show all domains" }}>This report has no domain {params.domain}.</Problem>;
  }
  return (
    <>
      <h1>Drift</h1>
      <p class="lead">
        Scores before and after a change of simulator, answering model or judge.
      </p>
      <Loaded state={state}>{(rows) => <Changes site={site} rows={rows} params={params} go={go} />}</Loaded>
    </>
  );
}

function Changes({ site, rows, params, go }) {
  if (rows.length === 0) {
    return <p>Nothing has changed: every score comes from the models with which it was first published.</p>;
  }
  const shown = rows.filter((row) => !params.domain || row.domain === params.domain);
  return (
    <>
      <div class="fields">
        <Select
          label="Domain"
          value={params.domain ?? ""}
          options={[{ value: "", label: "All domains" }, ...domainOptions(site)]}
          onChange={(domain) => go("drift", { domain })}
        />
      </div>
      {shown.length === 0 && <p>No score of this domain has changed.</p>}
      {groupChanges(shown).map((group) => (
        <Change key={group.key} site={site} {...group} />
      ))}
    </>
  );
}

// One group per change: what changed, when, in which domain.
function groupChanges(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.domain, row.published_at, row.changes]);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups]
    .map(([key, rows]) => ({ key, rows }))
    .sort((a, b) => b.rows[0].published_at.localeCompare(a.rows[0].published_at));
}

function Change({ site, rows }) {
  const { domain, published_at: at, before_at: before, changes } = rows[0];
  const moved = rows.filter((row) => row.moved);
  // A score over all probes stands for its slices; the tables have those.
  const whole = (row) => row.slice === "all" || !moved.some((each) => each.slice === "all" && each.assistant === row.assistant && each.metric === row.metric);
  const told = moved.filter(whole);
  const rest = [
    moved.length > told.length && `${count(moved.length - told.length, "score")} of slices moved too.`,
    rows.length > moved.length && `${count(rows.length - moved.length, "other score")} stayed within noise.`,
  ].filter(Boolean);
  const title = findDomain(site, domain)?.title ?? domain;
  return (
    <section>
      <h2>
        {title}, {moment(at)}
      </h2>
      <ul class="plain">
        {changes.map((change) => (
          <li key={change}>
            <code>{change}</code>
          </li>
        ))}
      </ul>
      <p class="muted">Compared with the scores published {moment(before)}.</p>
      <ul class="sentences">
        {told.map((row) => (
          <li key={rowKey(row)}>{movement(site, row)}</li>
        ))}
        {faults(rows).map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      <p>
        {moved.length === 0
          ? cannotMove(rows) || `None of ${count(rows.length, "score")} moved beyond noise.`
          : rest.join(" ")}
      </p>
      <Scores site={site} rows={rows} />
    </section>
  );
}

/** Return the statement that no change can be significant; "" where one can be. */
function cannotMove(rows) {
  const changed = rows.filter((row) => row.difference);
  if (changed.length === 0 || changed.some((row) => row.can_be_significant !== false)) {
    return "";
  }
  const episodes = Math.max(...changed.map((row) => Math.max(row.episodes_before, row.episodes_after)));
  const family = Math.max(...changed.map((row) => row.family ?? 0));
  return `No change can be significant with ${count(episodes, "episode")} and ${count(family, "comparison")}, however large.`;
}

/** Return what happened to a score as a sentence. */
export function movement(site, row) {
  const metric = findMetric(site, row.metric);
  const unit = metric.percent ? " %" : "";
  const points = metric.percent ? " points" : "";
  const verb = row.difference > 0 ? "rose" : "fell";
  const where = row.slice === "all" ? "" : ` in ${row.slice}`;
  const ends =
    row.low === null ? ` (${interval(row, score, row.reason)})` : ` (95 % interval ${score(row.low, metric, SIGNED)} to ${score(row.high, metric, SIGNED)})`;
  const largest = STAGES.filter(({ key }) => row[key]).sort((a, b) => Math.abs(row[b.key]) - Math.abs(row[a.key]))[0];
  const others = STAGES.some(({ key }) => row[key] && key !== largest.key);
  const cause = !largest
    ? ""
    : others
      ? ` Most of it, ${score(row[largest.key], metric, SIGNED)}${points}, comes from changed ${largest.key}.`
      : ` All of it comes from changed ${largest.key}.`;
  return `${metric.title} of ${row.assistant}${where} ${verb} from ${score(row.before, metric)} to ${score(row.after, metric)}${unit}, by ${score(Math.abs(row.difference), metric)}${points}${ends}.${cause}`;
}

// A faulty assistant has no scores before or after the change, so none of them moved.
function faults(rows) {
  return [...new Set(rows.filter(isUnmeasured).map(({ assistant, reason }) => `${assistant} is ${reason}.`))];
}

function isUnmeasured({ reason }) {
  return reason?.startsWith("not measured") ?? false;
}

function Scores({ site, rows }) {
  const metrics = [...new Set(rows.map(({ metric }) => metric))];
  return metrics.map((name) => {
    const metric = findMetric(site, name);
    const ofMetric = rows.filter((row) => row.metric === name);
    return <MetricScores key={name} metric={metric} rows={ofMetric} />;
  });
}

function MetricScores({ metric, rows }) {
  const axis = axisOf(rows.map((row) => ({ ...row, value: row.difference })), [0]);
  const most = Math.max(...rows.map((row) => STAGES.reduce((sum, { key }) => sum + Math.abs(row[key] ?? 0), 0)));
  const text = (value) => score(value, metric, SIGNED);
  const number = (key, label, cell, title) => ({ key, label, title, cell, numeric: true });
  const columns = [
    {
      key: "assistant",
      label: "Assistant",
      head: true,
      cell: (row) => <a href={href("history", { domain: row.domain, metric: row.metric })}>{row.assistant}</a>,
    },
    { key: "slice", label: "Slice", cell: (row) => row.slice },
    number("before", "Before", (row) => score(row.before, metric)),
    number("after", "After", (row) => score(row.after, metric)),
    number("difference", "Difference", (row) => <strong>{text(row.difference)}</strong>),
    {
      key: "interval",
      label: <AxisLabels axis={axis} format={text} />,
      cell: (row) => (
        <Interval value={row.difference} low={row.low} high={row.high} axis={axis} zero tone={row.moved ? (row.difference < 0 ? "worse" : "") : "quiet"} />
      ),
    },
    number("p_adjusted", "Adjusted p", (row) => probability(row.p_adjusted), "p adjusted over all scores of the publication (Holm)."),
    {
      key: "moved",
      label: "Result",
      class: "short",
      cell: (row) => ((isUnmeasured(row) || row.p === null) && row.reason ? <Tag text={row.reason}>{isUnmeasured(row) ? "not measured" : "no test"}</Tag> : row.moved ? <Moved row={row} /> : <span class="muted">within noise</span>),
    },
    {
      key: "parts",
      label: "Parts by stage",
      title: "The parts of users, answers and judging sum to the difference.",
      cell: (row) => <StackedBar parts={STAGES.map(({ key, label }) => ({ label, value: row[key], text: text(row[key]) }))} most={most} signed />,
    },
    ...STAGES.map(({ key, label, text: title }) => number(key, label, (row) => text(row[key]), title)),
  ];
  return (
    <>
      <h3>{metric.title}</h3>
      <StackedKey labels={STAGES.map(({ label }) => label)} />
      <Table
        caption={`Scores before and after${metric.percent ? ", in %; differences in points" : ""}, with the part of each stage.`}
        columns={columns}
        rows={rows}
        rowKey={rowKey}
      />
    </>
  );
}

function Moved({ row }) {
  const { improved } = row;
  return <strong>{improved === null || improved === undefined ? "moved" : improved ? "moved: better" : "moved: worse"}</strong>;
}

function rowKey(row) {
  return [row.assistant, row.metric, row.variant, row.slice].join("\n");
}
