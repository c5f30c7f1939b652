// How the results of a domain were made: models, settings that differ, prompts, inputs and usage of each assistant.

import { Select } from "../components/fields.jsx";
import { HealthTag, healthOf } from "../components/health.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { Text } from "../components/text.jsx";
import { load } from "../data.js";
import { amount, moment, NONE } from "../format.js";
import { href } from "../route.js";

export default function Run({ site, params, go }) {
  const domain = site.domains.find(({ name }) => name === (params.domain ?? site.domains[0]?.name));
  const state = useData(async () => ({ runs: await load("runs"), costs: await load("costs") }), []);
  if (!domain) {
    return <Problem link={{ href: href("run"), label: "Show the first domain" }}>This report has no domain {params.domain}.</Problem>;
  }
  return (
    <>
      <h1>Runs</h1>
      <Loaded state={state}>
        {({ runs, costs }) => {
          const shown = runs.filter((run) => run.domain === domain.name);
          const run = shown.find(({ assistant }) => assistant === params.assistant) ?? shown[0];
          return (
            <>
              <div class="fields">
                <Select label="Domain" value={domain.name} options={plain(site.domains.map(({ name }) => name))} onChange={(name) => go("run", { domain: name })} />
                {run && <Select label="Assistant" value={run.assistant} options={plain(shown.map(({ assistant }) => assistant))} onChange={(assistant) => go("run", { domain: domain.name, assistant })} />}
              </div>
              {run ? <Details domain={domain} run={run} runs={shown} costs={costs} /> : <p>No run of this domain is recorded.</p>}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Details({ domain, run, runs, costs }) {
  const usage = costs.usage.filter((row) => row.domain === domain.name && (row.assistant === run.assistant || row.assistant === null));
  const differing = differences(runs);
  return (
    <>
      <dl class="facts">
        <Fact name="Started">{moment(run.started)}</Fact>
        <Fact name="Run">
          <code>{run.run}</code>
        </Fact>
        <Fact name="Model">{run.model}{run.scripted && " (scripted, not a language model)"}</Fact>
        {healthOf(domain, run.assistant) && (
          <Fact name="Health">
            <HealthTag health={healthOf(domain, run.assistant)} />
          </Fact>
        )}
        <Fact name="Embedder">{run.embedder ?? NONE}</Fact>
        <Fact name="Requests">{amount(run.requests ?? null)}</Fact>
        <Fact name="Judged by its own model">{run.self_judges?.length ? run.self_judges.join(", ") : "no"}</Fact>
      </dl>
      <h2>Settings that differ between assistants</h2>
      {differing.length ? (
        <Table
          caption="Settings with more than one value in this domain"
          rows={differing}
          rowKey={({ name }) => name}
          columns={[
            { key: "name", label: "Setting", head: true, cell: ({ name }) => name },
            ...runs.map(({ assistant }, i) => ({ key: assistant, label: assistant, cell: ({ values }) => <Text>{values[i]}</Text> })),
          ]}
        />
      ) : (
        <p>All assistants have the same settings.</p>
      )}
      <h2>Models by role</h2>
      <Table caption="Models that were called, with their fingerprints" rows={run.models ?? []} columns={columnsOf(run.models ?? [], "role")} />
      <h2>Usage</h2>
      <Table
        caption="Requests of this assistant, and those of the domain that all assistants share"
        rows={usage}
        columns={[
          { key: "stage", label: "Stage", head: true, cell: ({ stage }) => stage },
          { key: "role", label: "Role", cell: ({ role }) => role },
          { key: "assistant", label: "For", cell: ({ assistant }) => assistant ?? "all assistants" },
          ...["requests", "failed", "cut", "prompt_tokens", "completion_tokens", "seconds", "cost"].map((key) => ({
            key,
            label: title(key),
            numeric: true,
            cell: (row) => amount(row[key]),
          })),
        ]}
      />
      {run.planned && <Pairs caption="Planned usage" values={run.planned} />}
      <h2>Settings</h2>
      <Pairs caption="Protocol" values={run.protocol ?? {}} />
      <Pairs caption="Parameters of the memory" values={run.memory_parameters ?? {}} />
      <h2>Prompts</h2>
      <Table caption="Prompts by role" rows={run.prompts ?? []} columns={columnsOf(run.prompts ?? [], "prompt")} />
      <h2>Inputs</h2>
      <Table
        caption="Tables that the results were computed from, with their fingerprints"
        rows={Object.entries(run.inputs ?? {}).map(([table, facts]) => ({ table, ...facts }))}
        columns={columnsOf(Object.entries(run.inputs ?? {}).map(([table, facts]) => ({ table, ...facts })), "table")}
      />
    </>
  );
}

function Fact({ name, children }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Pairs({ caption, values }) {
  const rows = Object.entries(values).map(([name, value]) => ({ name, value: cellText(value) }));
  if (rows.length === 0) {
    return <p class="muted">{caption}: none.</p>;
  }
  return (
    <details>
      <summary>
        {caption} ({rows.length})
      </summary>
      <Table
        caption={caption}
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          { key: "name", label: "Setting", head: true, cell: ({ name }) => name },
          { key: "value", label: "Value", cell: ({ value }) => <Text>{value}</Text> },
        ]}
      />
    </details>
  );
}

/** Return the settings of runs that have more than one value: `[{name, values: one text per run}]`. */
function differences(runs) {
  const flat = runs.map((run) => ({ model: run.model, embedder: run.embedder, window: run.window, ...run.memory_parameters, ...run.protocol }));
  const names = [...new Set(flat.flatMap(Object.keys))];
  return names
    .map((name) => ({ name, values: flat.map((settings) => cellText(settings[name])) }))
    .filter(({ values }) => new Set(values).size > 1);
}

function columnsOf(rows, head) {
  const keys = [...new Set(rows.flatMap(Object.keys))].filter((key) => rows.some((row) => row[key] !== null));
  return keys.map((key) => ({ key, label: title(key), head: key === head, cell: (row) => <Text>{cellText(row[key])}</Text> }));
}

function cellText(value) {
  return value === null || value === undefined ? NONE : typeof value === "object" ? JSON.stringify(value) : String(value);
}

function title(name) {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function plain(names) {
  return names.map((name) => ({ value: name, label: name }));
}
