// Published scores over time.

import { Select } from "../components/fields.jsx";
import { HealthTag, healthOfRow, NoValue } from "../components/health.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Series } from "../components/series.jsx";
import { Table } from "../components/table.jsx";
import { load, records } from "../data.js";
import { count, interval, moment, score } from "../format.js";
import { href } from "../route.js";
import { byBetter, chosen, distinct, domainOptions, findDomain, findMetric, leadingVariant, metricOptions, metricTitle, primaryMetric } from "../site.js";

export default function History({ site, params, go }) {
  const state = useData(async () => records(await load("history")), []);
  const first = site.domains[0]?.name;
  const name = params.domain ?? first;
  const domain = findDomain(site, name);
  if (!domain) {
    return <Problem link={{ href: href("history"), label: "Show another domain" }}>This report has no domain {name}.</Problem>;
  }
  return (
    <>
      <h1>History</h1>
      <p class="lead">Every published score, from the first publication to the present one.</p>
      <Loaded state={state}>{(rows) => <Domain site={site} domain={domain} rows={rows} params={params} go={go} />}</Loaded>
    </>
  );
}

function variantsOf(rows, metric) {
  return distinct(rows.filter((row) => row.metric === metric), "variant").map((name) => name ?? "standard");
}

function Domain({ site, domain, rows, params, go }) {
  const inDomain = rows.filter((row) => row.domain === domain.name);
  const metrics = metricOptions(site, domain, inDomain);
  const names = metrics.flatMap(({ options }) => options.map(({ value }) => value));
  const known = findMetric(site, chosen(params.metric ?? primaryMetric(site, domain), names) ?? primaryMetric(site, domain));
  const variant = leadingVariant(known.name, variantsOf(inDomain, known.name));
  const metric = { ...known, title: metricTitle(known, variant) };
  const ofMetric = inDomain
    .filter((row) => row.metric === metric.name && (row.variant ?? "standard") === variant)
    .map((row) => ({ ...row, x: new Date(row.published_at) }))
    .sort((a, b) => a.x - b.x);
  const points = ofMetric.filter((row) => row.value !== null);
  const last = new Map(points.map((row) => [row.assistant, row.value]));
  const assistants = distinct(points, "assistant").sort((a, b) => byBetter(metric, last.get(a), last.get(b)));
  const publications = distinct(ofMetric, "published_at").length;
  return (
    <>
      <div class="fields">
        <Select label="Domain" value={domain.name} options={domainOptions(site)} onChange={(value) => go("history", { domain: value })} />
        {names.length > 0 && (
          <Select label="Metric" value={metric.name} options={metrics} onChange={(value) => go("history", { domain: domain.name, metric: value })} />
        )}
      </div>
      {points.length === 0 ? (
        <p>No score of {domain.title} is in the history yet.</p>
      ) : (
        <>
          {publications > 1 ? (
            <Series
              label={`${metric.title} over publications`}
              names={assistants}
              points={points}
              scale={metric.percent ? 100 : 1}
              x={{ type: "utc", label: "published (UTC)" }}
              y={{ label: metric.percent ? `${metric.title}, %` : metric.title }}
            />
          ) : (
            <p class="muted">There is one publication so far; a chart needs two.</p>
          )}
          <Publications metric={metric} rows={newestFirst(ofMetric, metric)} domain={domain} sort={params.sort} onSort={(sort) => go("history", { ...params, domain: domain.name, sort })} />
        </>
      )}
    </>
  );
}

function newestFirst(rows, metric) {
  return [...rows].sort((a, b) => b.x - a.x || byBetter(metric, a.value, b.value));
}

function Publications({ metric, rows, domain, sort, onSort }) {
  const columns = [
    { key: "published_at", label: "Published", value: (row) => row.published_at, cell: (row) => moment(row.published_at), class: "short" },
    {
      key: "assistant",
      label: "Assistant",
      head: true,
      value: (row) => row.assistant,
      cell: (row) => (
        <>
          <a href={href("run", { domain: domain.name, assistant: row.assistant })}>{row.assistant}</a>{" "}
          <HealthTag health={healthOfRow(row)} />
        </>
      ),
    },
    {
      key: "value",
      label: metric.percent ? `${metric.title}, %` : metric.title,
      value: (row) => row.value,
      cell: (row) => (row.value === null ? <NoValue row={row} /> : <strong>{score(row.value, metric)}</strong>),
      numeric: true,
      descending: true,
    },
    { key: "interval", label: "95 % interval", cell: (row) => interval(row, (value) => score(value, metric), row.interval_reason), numeric: true },
    { key: "n", label: "Probes", value: (row) => row.n, numeric: true },
    { key: "model", label: "Model", value: (row) => row.model },
    { key: "judge", label: "Judge", value: (row) => row.judge ?? null },
    { key: "run", label: "Run", cell: (row) => row.run && <code title={row.run}>{row.run.slice(0, 8)}</code> },
  ];
  return (
    <Table
      caption={`${count(rows.length, "published score")} of ${metric.title} on ${domain.title}, newest first.`}
      columns={columns}
      rows={rows}
      sort={sort}
      onSort={onSort}
      rowKey={(row) => `${row.published_at}\n${row.assistant}`}
    />
  );
}
