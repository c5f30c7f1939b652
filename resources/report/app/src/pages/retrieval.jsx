// What memories retrieve without a chat model: a metric of their rankings at each cutoff.

import { Select } from "../components/fields.jsx";
import { Loaded, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { load } from "../data.js";
import { NONE } from "../format.js";
import { chosen, domainTitle, findDomain } from "../site.js";

const METRICS = ["recall", "precision", "ndcg", "mrr"];

export default function Retrieval({ site, params, go }) {
  const state = useData(async () => (site.files.includes("retrieval") ? load("retrieval") : []), []);
  return (
    <>
      <h1>Retrieval</h1>
      <p class="lead">
        Of the messages that an answer rests on, what memories find, read without a chat model: no answer was requested, so there is no
        accuracy.
      </p>
      <Loaded state={state}>{(rows) => <Domain site={site} rows={rows} params={params} go={go} />}</Loaded>
    </>
  );
}

function Domain({ site, rows, params, go }) {
  if (rows.length === 0) {
    return (
      <p>
        This report has no measured retrieval. <code>memflow run --retrieval-only</code> measures it.
      </p>
    );
  }
  const domains = [...new Set(rows.map(({ domain }) => domain))];
  const domain = chosen(params.domain, domains);
  const metric = chosen(params.metric, METRICS);
  const shown = rows.filter((row) => row.domain === domain);
  const cutoffs = [...new Set(shown.flatMap(({ scores }) => scores.filter((score) => score.metric === metric).map(({ k }) => k)))];
  const columns = [
    { key: "assistant", label: "Memory", head: true, cell: memory },
    ...cutoffs.map((k) => column(metric, `@${k}`, k)),
    ...(metric === "recall" ? [column("own_recall", "as configured", null), column("stored", "stored", null)] : []),
    { key: "tokens", label: "Tokens", numeric: true, cell: (row) => (row.tokens === null ? NONE : Math.round(row.tokens)) },
  ];
  const notes = [...new Set(shown.flatMap((row) => [row.label && `${row.assistant}: ${row.label}`, row.incomplete]).filter(Boolean))];
  const title = (name) => (findDomain(site, name) ? domainTitle(site, findDomain(site, name)) : name);
  const select = (name, values, value) => (
    <Select
      label={name === "domain" ? "Domain" : "Metric"}
      value={value}
      options={values.map((each) => ({ value: each, label: name === "domain" ? title(each) : each }))}
      onChange={(next) => go("retrieval", { ...params, [name]: next })}
    />
  );
  return (
    <section>
      <div class="fields">
        {select("domain", domains, domain)}
        {select("metric", METRICS, metric)}
      </div>
      <Table
        caption={`${metric} at k entries, with 95 % intervals over episodes. As configured: what a memory recalls with its own parameters, so many tokens; stored: what is in any entry.`}
        columns={columns}
        rows={shown}
        rowKey={(row) => row.assistant}
      />
      <ul class="plain">
        {notes.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

/** A memory and, below it, its embedder. */
function memory({ assistant, embedder }) {
  return (
    <>
      {assistant}
      {embedder && <small>{embedder}</small>}
    </>
  );
}

function column(metric, label, k) {
  return {
    key: label,
    label,
    numeric: true,
    cell: ({ scores }) => {
      const score = scores.find((each) => each.metric === metric && each.k === k);
      if (!score || score.value === null) {
        return <span title={score?.reason ?? ""}>{NONE}</span>;
      }
      return (
        <span title={score.interval_reason ?? ""}>
          {score.value.toFixed(3)}
          {score.low !== null && <small>{`${score.low.toFixed(2)} to ${score.high.toFixed(2)}`}</small>}
        </span>
      );
    },
  };
}
