// The health of each memory of a domain: assistants x measures, and what the measures of one assistant state.

import { Select } from "../components/fields.jsx";
import { HealthTag, healthOf } from "../components/health.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { DomainTags } from "../components/tag.jsx";
import { load, records } from "../data.js";
import { amount, count, NONE } from "../format.js";
import { href } from "../route.js";
import { distinct, domainOptions, findDomain } from "../site.js";
import { visible } from "../text.js";

const STATES = ["faulty", "suspect", "not measurable", "ok"];
const KINDS = { faulty: "bad", suspect: "warn", ok: "good" };

export default function Health({ site, params, go }) {
  const state = useData(async () => records(await load("health")), []);
  const alarmed = site.domains.find(({ health }) => Object.keys(health ?? {}).length > 0);
  const name = params.domain ?? (alarmed ?? site.domains[0])?.name;
  const domain = findDomain(site, name);
  if (!domain) {
    return <Problem link={{ href: href("health"), label: "Show another domain" }}>This report has no domain {name}.</Problem>;
  }
  return (
    <>
      <h1>
        Health <DomainTags domain={domain} />
      </h1>
      <p class="lead">
        What each memory did with what it was given, measured from what is stored, without a model. A faulty memory is not
        measured; the flag of a suspect one stands beside its scores.
      </p>
      <Loaded state={state}>
        {(rows) => (
          <Domain
            key={domain.name}
            site={site}
            domain={domain}
            rows={rows.filter((row) => row.domain === domain.name)}
            params={params}
            go={go}
          />
        )}
      </Loaded>
    </>
  );
}

function Domain({ site, domain, rows, params, go }) {
  const assistants = distinct(rows, "assistant", domain.assistants);
  const worst = new Map(assistants.map((name) => [name, worstState(rows.filter((row) => row.assistant === name))]));
  const sorted = [...assistants].sort((a, b) => STATES.indexOf(worst.get(a)) - STATES.indexOf(worst.get(b)));
  const alarms = sorted.filter((name) => healthOf(domain, name));
  const chosen = assistants.includes(params.assistant) ? params.assistant : sorted[0];
  const set = (changes) => go("health", { ...params, domain: domain.name, ...changes });
  return (
    <>
      <div class="fields">
        <Select label="Domain" value={domain.name} options={domainOptions(site)} onChange={(value) => go("health", { domain: value })} />
        {chosen && (
          <Select
            label="Assistant"
            value={chosen}
            options={sorted.map((name) => ({ value: name, label: name }))}
            onChange={(assistant) => set({ assistant })}
          />
        )}
      </div>
      {assistants.length === 0 ? (
        <p>The health of no memory of this domain is measured yet. Run `memflow run`, then build the report again.</p>
      ) : (
        <>
          {alarms.length > 0 ? (
            <ul class="sentences">
              {alarms.map((name) => (
                <li key={name}>
                  <a href={href("health", { domain: domain.name, assistant: name })}>{name}</a>{" "}
                  <HealthTag health={healthOf(domain, name)} /> {healthOf(domain, name).statement}.
                </li>
              ))}
            </ul>
          ) : (
            <p>No memory is faulty or suspect.</p>
          )}
          <Matrix domain={domain} assistants={sorted} rows={rows} />
          <Measures domain={domain} assistant={chosen} rows={rows.filter((row) => row.assistant === chosen)} />
        </>
      )}
    </>
  );
}

/** Return the worst state of an assistant's measures, where a measure that cannot be measured is no alarm. */
function worstState(rows) {
  const states = new Set(rows.map(({ state }) => state));
  return ["faulty", "suspect", "ok"].find((state) => states.has(state)) ?? "not measurable";
}

function Matrix({ domain, assistants, rows }) {
  const found = new Map(rows.map((row) => [`${row.assistant}\n${row.measure}`, row]));
  // What is wrong comes first, so that it is seen without scrolling.
  const alarmed = rows.filter(({ state }) => state === "faulty" || state === "suspect").map(({ measure }) => measure);
  const measures = distinct(rows, "measure", alarmed);
  return (
    <Table
      caption={`The state of each measure, by assistant, on ${domain.title}. ${NONE}: not measurable. Measures with an alarm come first.`}
      rows={assistants}
      rowKey={(name) => name}
      columns={[
        {
          key: "assistant",
          label: "Assistant",
          head: true,
          cell: (name) => <a href={href("health", { domain: domain.name, assistant: name })}>{name}</a>,
        },
        ...measures.map((measure) => ({
          key: measure,
          label: words(measure),
          cell: (name) => <State row={found.get(`${name}\n${measure}`)} unknown={NONE} />,
        })),
      ]}
    />
  );
}

function State({ row, unknown = "not measurable" }) {
  const kind = KINDS[row?.state];
  return (
    <span class={kind ? `tag ${kind}` : "muted"} title={row?.statement}>
      {kind ? row.state : unknown}
    </span>
  );
}

function Measures({ domain, assistant, rows }) {
  const state = useData(async () => new Set((await load("probes", domain.name)).rows.map(([probe]) => probe)), [domain.name]);
  const sorted = [...rows].sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  return (
    <section aria-labelledby="measures">
      <h2 id="measures">
        {assistant} <HealthTag health={healthOf(domain, assistant)} />
      </h2>
      <p class="bar">
        <a href={href("leaderboard", { domain: domain.name })}>Leaderboard</a>
        <a href={href("memory", { domain: domain.name, assistant })}>Memory</a>
        <a href={href("probes", { domain: domain.name, assistant })}>Probes</a>
        <a href={href("run", { domain: domain.name, assistant })}>Run</a>
      </p>
      <Loaded state={state}>
        {(probes) => (
          <Table
            caption={`${count(rows.length, "measure")} of ${assistant} on ${domain.title}, the worst first`}
            rows={sorted}
            rowKey={({ measure }) => measure}
            columns={[
              { key: "measure", label: "Measure", head: true, cell: ({ measure }) => words(measure) },
              { key: "state", label: "State", cell: (row) => <State row={row} /> },
              { key: "statement", label: "Statement", cell: ({ statement }) => visible(statement) },
              { key: "affected", label: "Affected", title: "How many show what the measure looks for, of those examined.", numeric: true, cell: ({ affected, n }) => `${amount(affected)} / ${amount(n)}` },
              { key: "examples", label: "Examples", cell: ({ examples }) => <Examples {...{ domain, assistant, examples, probes }} /> },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}

function Examples({ domain, assistant, examples, probes }) {
  if (!examples?.length) {
    return NONE;
  }
  return (
    <ul class="plain">
      {examples.map((id) => (
        <li key={id}>
          {probes.has(id) ? (
            <a href={href("probe", { domain: domain.name, probe: id, view: assistant })}>{visible(id)}</a>
          ) : (
            <code>{visible(id)}</code>
          )}
        </li>
      ))}
    </ul>
  );
}

function words(name) {
  return name.replaceAll("_", " ");
}
