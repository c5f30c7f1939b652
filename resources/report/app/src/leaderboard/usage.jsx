// What each assistant spent on a domain, by stage.

import { StackedBar, StackedKey } from "../components/stacked.jsx";
import { Table } from "../components/table.jsx";
import { amount } from "../format.js";
import { href } from "../route.js";
import { distinct } from "../site.js";

/** `rows`: the usage of all domains, by assistant, stage and role. `names`: the assistants, best first. */
export function Usage({ domain, rows, names }) {
  const ours = rows.filter((row) => row.domain === domain.name && names.includes(row.assistant));
  const stages = distinct(ours, "stage");
  const usage = names
    .map((assistant) => summarize(assistant, ours.filter((row) => row.assistant === assistant), stages))
    .filter(({ requests }) => requests > 0);
  if (usage.length === 0) {
    return null;
  }
  const most = Math.max(...usage.map(({ tokens }) => tokens));
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Tokens, cost and time by stage</h2>
      <StackedKey labels={stages} />
      <Table
        caption="Tokens of the prompts and completions of each stage, and the whole of requests, cost and seconds. A cached completion counts as it did when it was first requested."
        columns={[
          {
            key: "assistant",
            label: "Assistant",
            head: true,
            cell: ({ assistant }) => <a href={href("run", { domain: domain.name, assistant })}>{assistant}</a>,
          },
          {
            key: "bar",
            label: "Tokens",
            cell: ({ byStage }) => (
              <StackedBar
                parts={stages.map((label, i) => ({ label, value: byStage[i], text: amount(byStage[i]) }))}
                most={most}
              />
            ),
          },
          ...stages.map((stage, i) => column(stage, stage, ({ byStage }) => byStage[i])),
          column("tokens", "All tokens", ({ tokens }) => tokens),
          column("requests", "Requests", ({ requests }) => requests),
          column("failed", "Failed", ({ failed }) => failed),
          column("cost", "Cost", ({ cost }) => cost),
          column("seconds", "Seconds", ({ seconds }) => seconds),
        ]}
        rows={usage}
        rowKey={({ assistant }) => assistant}
      />
    </section>
  );
}

function summarize(assistant, rows, stages) {
  const sum = (field) => rows.reduce((total, row) => total + (row[field] ?? 0), 0);
  const byStage = stages.map((stage) =>
    rows
      .filter((row) => row.stage === stage)
      .reduce((total, row) => total + row.prompt_tokens + row.completion_tokens, 0),
  );
  return {
    assistant,
    byStage,
    tokens: byStage.reduce((total, tokens) => total + tokens, 0),
    requests: sum("requests"),
    failed: sum("failed"),
    seconds: sum("seconds"),
    cost: rows.some(({ cost }) => cost === null) ? null : sum("cost"),
  };
}

function column(key, label, value) {
  return { key, label, cell: (row) => amount(value(row)), numeric: true };
}
