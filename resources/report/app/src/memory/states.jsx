// The user's states at a checkpoint beside what the assistant answered about them, and the judged claims.

import { useMemo } from "preact/hooks";
import { Outcome } from "../components/outcome.jsx";
import { Loaded, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { Text } from "../components/text.jsx";
import { stateValues } from "../probe/gold.js";
import { href } from "../route.js";
import { openVerdicts } from "../verdicts.js";

/** `given`: the episode; `results`: what the assistant did in it; `checkpoint`: null before the first. */
export function States({ site, domain, assistant, episode, given, results, checkpoint }) {
  const state = useData(() => openVerdicts(site, domain.name), [domain.name]);
  if (checkpoint === null || (given.states.length === 0 && results.claims.length === 0)) {
    return null;
  }
  const claims = results.claims.filter((claim) => claim.checkpoint === checkpoint);
  return (
    <section aria-label="States" class="states">
      {given.states.length > 0 && (
        <Loaded state={state}>
          {(verdicts) => <StateTable verdicts={verdicts} domain={domain} assistant={assistant} episode={episode} given={given} results={results} checkpoint={checkpoint} />}
        </Loaded>
      )}
      {claims.length > 0 && (
        <Table
          caption={`Facts that were new at checkpoint ${checkpoint}, and whether the judge found them in the memory`}
          rows={claims}
          rowKey={({ claim_id, variant }) => `${claim_id} ${variant}`}
          columns={[
            { key: "text", label: "Fact", head: true, cell: ({ text, claim_id }) => <Text none={claim_id}>{text}</Text> },
            { key: "value", label: "In the memory", cell: ({ value, reason }) => reason ?? (value === null ? "unknown" : value >= 1 ? "yes" : value <= 0 ? "no" : value.toFixed(2)) },
          ]}
        />
      )}
    </section>
  );
}

function StateTable({ verdicts, domain, assistant, episode, given, results, checkpoint }) {
  const answers = useMemo(() => stateAnswers(verdicts, episode, checkpoint, results.replies), [verdicts, episode, checkpoint, results]);
  const rows = given.states.map(({ variable, changes }) => {
    const past = changes.filter((change) => change.checkpoint <= checkpoint).sort((a, b) => a.checkpoint - b.checkpoint);
    return { variable, value: past.at(-1)?.value ?? null, since: past.at(-1)?.checkpoint, former: past.at(-2)?.value ?? null, ...answers.get(variable) };
  });
  return (
    <Table
      caption={`The user's states at checkpoint ${checkpoint}, and what ${assistant} answered about them`}
      rows={rows}
      rowKey={({ variable }) => variable}
      columns={[
        { key: "variable", label: "State", head: true, cell: ({ variable }) => <Text>{variable}</Text> },
        { key: "value", label: "Value", cell: ({ value }) => <Text none="(left out)">{value}</Text> },
        { key: "since", label: "Since", numeric: true, cell: ({ since }) => since },
        {
          key: "answer",
          label: "Answered",
          cell: ({ probe, answer, value, former }) =>
            probe ? (
              <a href={href("probe", { domain: domain.name, probe, assistant, metric: "state_match" })}>
                <Outcome outcome={answer === undefined ? "none" : answer === value ? "right" : "wrong"} /> <Text none="not parsed">{answer}</Text>
                {answer !== undefined && answer !== value && answer === former && <span class="tag warn">former value</span>}
              </a>
            ) : (
              <span class="muted">not asked</span>
            ),
        },
      ]}
    />
  );
}

/** Return what the assistant answered about each variable in the state probes of a checkpoint: `{probe, answer}`. */
function stateAnswers(verdicts, episode, checkpoint, replies) {
  const place = Object.fromEntries(verdicts.columns.map((name, i) => [name, i]));
  const found = new Map();
  for (const row of verdicts.rows) {
    if (row[place.episode] === episode && row[place.checkpoint] === checkpoint && row[place.kind] === "state") {
      const values = stateValues(replies[row[place.probe]]?.parsed) ?? {};
      for (const variable of row[place.variables] ?? []) {
        if (!found.has(variable) || found.get(variable).answer === undefined) {
          found.set(variable, { probe: row[place.probe], answer: values[variable] });
        }
      }
    }
  }
  return found;
}
