// The ranking of a domain's assistants: score, interval, coverage and cost.

import { HealthTag, healthOfRow, NoValue } from "../components/health.jsx";
import { axisOf, AxisLabels, Interval } from "../components/interval.jsx";
import { Table } from "../components/table.jsx";
import { Tag } from "../components/tag.jsx";
import { amount, interval, NONE, score } from "../format.js";
import { href } from "../route.js";
import { isBaseline, isScripted } from "../site.js";

// Columns that are left out where no row has a value.
const OPTIONAL = ["rank", "noise", "tokens", "cost", "seconds"];

/** `rows`: scores of one domain, metric, slice and variant, with `tokens`, `cost` and `seconds` per probe. */
export function Ranking({ site, domain, metric, rows, params, onSort }) {
  const groups = [
    { rows: rows.filter((row) => !isBaseline(site, row.assistant)) },
    {
      label: "Baselines",
      rows: rows.filter((row) => isBaseline(site, row.assistant)),
    },
  ];
  const axis = axisOf(rows);
  const references = groups[1].rows.map(({ value }) => value);
  const link = (row, extra) =>
    href("probes", { domain: domain.name, assistant: row.assistant, metric: metric.name, ...params, ...extra });
  const columns = [
    {
      key: "rank",
      label: "Rank",
      title: "The ranks that the data leave open: assistants with a common rank cannot be told apart.",
      value: (row) => row.rank_low,
      cell: rankRange,
      numeric: true,
    },
    {
      key: "assistant",
      label: "Assistant",
      head: true,
      value: (row) => row.assistant,
      cell: (row) => (
        <>
          <a href={link(row)}>{row.assistant}</a> <RowTags row={row} site={site} />
        </>
      ),
    },
    {
      key: "model",
      label: "Model",
      title: "The chat model that answered. The link goes to the run's models, prompts and settings.",
      value: (row) => row.model,
      cell: (row) => (
        <a href={href("run", { domain: domain.name, assistant: row.assistant })}>{modelOf(site, row) ?? NONE}</a>
      ),
    },
    {
      key: "score",
      label: metric.percent ? `${metric.title}, %` : metric.title,
      title: metric.description,
      value: (row) => row.value,
      cell: (row) => <Score row={row} metric={metric} link={link(row)} />,
      numeric: true,
      descending: metric.direction !== "lower",
    },
    {
      key: "interval",
      label: <AxisLabels axis={axis} format={(value) => score(value, metric)} />,
      cell: (row) => (
        <span title={`95 % confidence interval: ${range(row, metric)}`}>
          <Interval
            {...row}
            axis={axis}
            references={references}
            tone={isBaseline(site, row.assistant) ? "quiet" : ""}
          />
          {row.interval_reason ? <small>{range(row, metric)}</small> : <span class="visually-hidden">{range(row, metric)}</span>}
        </span>
      ),
    },
    {
      key: "noise",
      label: "Noise",
      title: "Standard deviation of the score between repeated evaluations, pooled over assistants, and their number.",
      value: (row) => row.noise,
      cell: (row) => noiseText(row, metric),
      numeric: true,
    },
    {
      key: "n",
      label: "Probes",
      title: "Probes with a value, and how many are planned where some are missing.",
      value: (row) => row.n,
      cell: (row) => (
        <a href={link(row)}>
          {row.n.toLocaleString("en")}
          {row.planned && row.planned !== row.n ? ` / ${row.planned.toLocaleString("en")}` : ""}
        </a>
      ),
      numeric: true,
    },
    spent("tokens", "Tokens / probe", "Prompt and completion tokens of all requests, divided by the probes."),
    spent("cost", "Cost / probe", "Price of all requests, divided by the probes; – without a price of the model."),
    spent("seconds", "Seconds / probe", "Time of all requests, divided by the probes."),
  ];
  return (
    <Table
      caption={`${metric.title} on ${domain.title}, with 95 % confidence intervals.${references.length ? " Dashed lines: baselines." : ""}`}
      columns={columns.filter(({ key, value }) => !OPTIONAL.includes(key) || rows.some((row) => value(row)))}
      groups={groups}
      sort={params.sort ?? defaultSort(metric)}
      onSort={onSort}
      rowKey={(row) => row.assistant}
    />
  );
}

function modelOf(site, row) {
  return site.assistants.find(({ name }) => name === row.assistant)?.model ?? row.model;
}

function defaultSort(metric) {
  return metric.direction === "lower" ? "score" : "-score";
}

function rankRange(row) {
  const { rank_low: low, rank_high: high } = row;
  return low === null || low === undefined ? NONE : low === high ? low : `${low}–${high}`;
}

function noiseText(row, metric) {
  return row.repeats ? `±${score(row.noise, metric)} (${row.repeats})` : NONE;
}

function range(row, metric) {
  return interval(row, (value) => score(value, metric), row.interval_reason);
}

function Score({ row, metric, link }) {
  if (row.value === null) {
    return <NoValue row={row} />;
  }
  const judges = row.judge_low !== null && row.judge_low !== undefined && (
    <small title="The lowest and the highest judge's score">
      {score(row.judge_low, metric)}–{score(row.judge_high, metric)}
    </small>
  );
  return (
    <>
      <a href={link} class="score">
        {score(row.value, metric)}
      </a>
      {judges}
    </>
  );
}

function RowTags({ row, site }) {
  return (
    <>
      <HealthTag health={healthOfRow(row)} />{" "}
      {row.scripted && !isScripted(site, { domain: row.domain }) && (
        <Tag text="A scripted chat, not a language model, answered, simulated or judged.">scripted</Tag>
      )}
      {row.incomplete && (
        <Tag kind="warn" text={row.incomplete}>
          incomplete
        </Tag>
      )}
      {row.differing_settings && (
        <Tag kind="warn" text={row.differing_settings}>
          settings differ
        </Tag>
      )}
      {row.imported && <Tag text={`Imported: ${row.imported}`}>imported</Tag>}
    </>
  );
}

function spent(key, label, title) {
  return { key, label, title, value: (row) => row[key], cell: (row) => amount(row[key]), numeric: true };
}
