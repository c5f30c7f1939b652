// The probes that two assistants answer differently, both ways.

import { useState } from "preact/hooks";
import { Loaded, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { Text } from "../components/text.jsx";
import { load, loadVerdicts, records } from "../data.js";
import { count, score } from "../format.js";
import { href } from "../route.js";
import { flips } from "./pairs.js";

const AT_FIRST = 50;

export function Flipped({ domain, metric, variant, slice, baseline, other }) {
  const state = useData(async () => {
    const [verdicts, probes] = await Promise.all([loadVerdicts(domain.name), load("probes", domain.name)]);
    const byName = new Map(records(probes).map((probe) => [probe.probe, probe]));
    const number = domain.slices.indexOf(slice);
    return flips(verdicts, metric, variant, baseline, other)
      .map((flip) => ({ ...flip, question: byName.get(flip.probe) }))
      .filter(({ question }) => slice === "all" || question?.slices.includes(number));
  }, [domain.name, metric.name, variant, slice, baseline, other]);
  return (
    <section aria-labelledby="flipped">
      <h2 id="flipped">
        Probes that differ between {baseline} and {other}
      </h2>
      <Loaded state={state}>
        {(found) => (
          <div class="pair">
            <Flips
              title={`${other} is worse`}
              rows={found.filter(({ change }) => change < 0)}
              {...{ domain, metric, baseline, other }}
            />
            <Flips
              title={`${other} is better`}
              rows={found.filter(({ change }) => change > 0)}
              {...{ domain, metric, baseline, other }}
            />
          </div>
        )}
      </Loaded>
    </section>
  );
}

function Flips({ title, rows, domain, metric, baseline, other }) {
  const [shown, setShown] = useState(AT_FIRST);
  const label = `${title}: ${count(rows.length, "probe")}`;
  const columns = [
    {
      key: "probe",
      label: "Question",
      head: true,
      class: "question",
      cell: ({ probe, question }) => (
        <a href={href("probe", { domain: domain.name, probe, assistant: other })} lang={question?.language}>
          <Text>{question?.question ?? probe}</Text>
        </a>
      ),
    },
    { key: "episode", label: "Episode", cell: (row) => row.episode },
    { key: "checkpoint", label: "Checkpoint", cell: (row) => row.checkpoint, numeric: true },
    { key: "before", label: baseline, cell: (row) => score(row.before, metric), numeric: true },
    { key: "after", label: other, cell: (row) => score(row.after, metric), numeric: true },
  ];
  return rows.length === 0 ? (
    <p class="muted">{label}.</p>
  ) : (
    <div>
      <Table caption={label} columns={columns} rows={rows.slice(0, shown)} rowKey={(row) => row.probe} />
      {shown < rows.length && (
        <button type="button" class="action" onClick={() => setShown(shown + AT_FIRST * 4)}>
          Show more ({(rows.length - shown).toLocaleString("en")} left)
        </button>
      )}
    </div>
  );
}
