// Retrieval headroom: what another search over the same stored entries recalls, beside what each memory recalled itself.

import { Series } from "../components/series.jsx";
import { Table } from "../components/table.jsx";
import { NONE } from "../format.js";
import { visible } from "../text.js";

const RANKINGS = { memory: "Memory", vector: "Vector", text: "Text", hybrid: "Hybrid", random: "Random", best: "Best" };
const CURVES = ["memory", "vector", "text", "hybrid"];

/** `found`: the data file of headroom, `{at, rows}`. Nothing for a domain without measured assistants. */
export function Headroom({ domain, found, names, chosen, onChoose }) {
  const rows = found.rows.filter((row) => row.domain === domain.name).sort((a, b) => names.indexOf(a.assistant) - names.indexOf(b.assistant));
  if (rows.length === 0) {
    return null;
  }
  const row = rows.find(({ assistant }) => assistant === chosen) ?? rows.find(({ read_failures: failures }) => failures > 0) ?? rows[0];
  return (
    <section aria-labelledby="headroom">
      <h2 id="headroom">Retrieval headroom</h2>
      <p class="lead">
        Mean share of the evidence that is recalled from the same stored entries, with the memory's own number of entries and
        tokens. Best: for each episode, the search that recalls most in the other episodes. Avoided: share of the memory's read
        failures that best would have avoided, with its 95 % interval, and the share that random orders avoid.
      </p>
      <Table
        caption={`Recall of evidence by ranking, and avoided read failures, on ${domain.title}`}
        rows={rows}
        rowKey={({ assistant }) => assistant}
        columns={[
          {
            key: "assistant",
            label: "Assistant",
            head: true,
            cell: ({ assistant }) => (
              <button type="button" class="link" aria-pressed={assistant === row.assistant} onClick={() => onChoose(assistant)}>
                {assistant}
              </button>
            ),
          },
          { key: "k", label: "k", title: "Mean number of entries that the memory recalled.", numeric: true, cell: ({ k }) => whole(k) },
          { key: "tokens", label: "Tokens", title: "Their mean estimated tokens.", numeric: true, cell: ({ tokens }) => whole(tokens) },
          ...Object.entries(RANKINGS).map(([key, label]) => ({ key, label, numeric: true, cell: (each) => share(each[key]) })),
          { key: "gain", label: "Best − memory", numeric: true, cell: (each) => difference(each, "gain", true) },
          { key: "failures", label: "Read failures", title: "Mean loss by read failures.", numeric: true, cell: (each) => share(each.read_failures) },
          { key: "avoided", label: "Avoided", numeric: true, cell: (each) => difference(each, "avoided") },
          { key: "by_random", label: "By random", numeric: true, cell: (each) => share(each.avoided_by_random) },
        ]}
      />
      <p>
        <strong>{row.assistant}:</strong> {visible(row.statement)}
      </p>
      <Curves row={row} at={found.at} />
    </section>
  );
}

function Curves({ row, at }) {
  const points = CURVES.flatMap((name) => (row.curves[name] ?? []).map((value, i) => ({ assistant: name, x: at[i], value })));
  return points.length === 0 ? null : (
    <Series
      label={`Recall of evidence of ${row.assistant} by number of entries, without a limit of tokens`}
      names={CURVES}
      points={points}
      x={{ type: "log", label: "entries", ticks: at, tickFormat: "d" }}
      y={{ label: "recall of evidence", domain: [0, 1] }}
    >
      <Table
        caption={`Recall of evidence of ${row.assistant} by number of entries`}
        rows={CURVES}
        rowKey={(name) => name}
        columns={[
          { key: "ranking", label: "Ranking", head: true, cell: (name) => name },
          ...at.map((k, i) => ({ key: String(k), label: String(k), numeric: true, cell: (name) => share(row.curves[name]?.[i]) })),
        ]}
      />
    </Series>
  );
}

function share(value) {
  return value === null || value === undefined ? NONE : value.toFixed(3);
}

function whole(value) {
  return value === null ? NONE : Math.round(value).toLocaleString("en");
}

function difference(row, name, signed = false) {
  const [value, low, high] = [row[name], row[`${name}_low`], row[`${name}_high`]].map((each) =>
    each === null ? NONE : (signed && each > 0 ? "+" : "") + each.toFixed(2),
  );
  return row[name] === null || row[`${name}_low`] === null ? value : <>{value} <small>{low} to {high}</small></>;
}
