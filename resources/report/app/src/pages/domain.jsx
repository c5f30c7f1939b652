// A domain: its users and how their states change, its dialogues, its data sets, data checks and quarantined rows.

import { Dialogue } from "../components/dialogue.jsx";
import { Select } from "../components/fields.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { DomainTags } from "../components/tag.jsx";
import { Text } from "../components/text.jsx";
import { load, loadEpisode } from "../data.js";
import { count } from "../format.js";
import { Timeline } from "../memory/timeline.jsx";
import { href } from "../route.js";
import { excerpt, visible } from "../text.js";

const LONGEST_NAME = 40;
const RESULTS = { failed: 0, error: 1, passed: 2 };

export default function Domain({ site, params, go }) {
  const domain = site.domains.find(({ name }) => name === (params.domain ?? site.domains[0]?.name));
  const state = useData(() => domain && load("domains", domain.name), [domain?.name]);
  if (!domain) {
    return <Problem link={{ href: href("domain"), label: "Show the first domain" }}>This report has no domain {params.domain}.</Problem>;
  }
  return (
    <>
      <h1>
        {domain.title} <DomainTags domain={domain} />
      </h1>
      <div class="fields">
        <Select
          label="Domain"
          value={domain.name}
          options={site.domains.map(({ name }) => ({ value: name, label: name }))}
          onChange={(name) => go("domain", { domain: name })}
        />
      </div>
      <Loaded state={state}>{(content) => <Content domain={domain} content={content} params={params} go={go} />}</Loaded>
    </>
  );
}

function Content({ domain, content, params, go }) {
  const { episodes, checks, quarantined, datasets, incomplete, users } = content;
  const chosen = params.episode ?? episodes[0]?.episode;
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  return (
    <>
      <p class="lead">
        {domain.benchmark}. {count(episodes.length, "episode")}, {count(total(episodes, "messages"), "given message")},{" "}
        <a href={href("probes", { domain: domain.name })}>{count(total(episodes, "probes"), "probe")}</a>,{" "}
        {count(domain.checkpoints.length, "checkpoint")}. Profile {domain.profile}.
      </p>
      {incomplete && <p class="failure">Incomplete: {incomplete}</p>}
      <Table
        caption="Data sets, their licenses and origins"
        rows={datasets}
        rowKey={({ name }) => name}
        columns={[
          { key: "title", label: "Data set", head: true, cell: ({ title, name }) => title ?? name },
          { key: "licence", label: "License", cell: ({ licence }) => licence },
          { key: "origin", label: "Origin", cell: ({ origin }) => <Text none="your own files">{origin}</Text> },
          { key: "shared", label: "May be passed on", cell: ({ may_be_shared }) => (may_be_shared ? "yes" : "not stated by the license") },
        ]}
      />
      <h2>Episodes</h2>
      <div class="fields">
        <Select
          label="Episode"
          value={chosen}
          options={episodes.map(({ episode }) => ({ value: episode, label: episodeLabel(names.get(episode), episode) }))}
          onChange={(episode) => go("domain", { ...params, domain: domain.name, episode })}
        />
      </div>
      {chosen && <Episode key={`${domain.name} ${chosen}`} domain={domain} episode={chosen} params={params} />}
      <h2>Data checks</h2>
      <Checks checks={checks} />
      <h2>Quarantined rows</h2>
      {quarantined.length === 0 ? (
        <p>No row is quarantined.</p>
      ) : (
        <Table
          caption="Rows with an error; they count in coverage only"
          rows={quarantined}
          columns={[
            { key: "table", label: "Table", cell: ({ table, count: all }) => `${table} (${all})` },
            { key: "key", label: "Row", head: true, cell: ({ key }) => <Text>{key}</Text> },
            { key: "reason", label: "Reason", cell: ({ reason }) => <Text>{reason}</Text> },
          ]}
        />
      )}
    </>
  );
}

function Episode({ domain, episode, params }) {
  const state = useData(() => loadEpisode(domain.name, episode), []);
  return (
    <Loaded state={state}>
      {({ profile, states, turns, entities }) => (
        <>
          {profile?.profile && (
            <details>
              <summary>
              Profile of <Text>{profile.name}</Text>
            </summary>
              <blockquote class="reply" tabindex={0}>
                <Text>{profile.profile}</Text>
              </blockquote>
            </details>
          )}
          {states.length > 0 && <Timeline states={states} checkpoints={domain.checkpoints} />}
          {entities.length > 0 && <Entities entities={entities} />}
          <h3>Dialogue as given</h3>
          {turns.length ? (
            <Dialogue label="Dialogue" messages={turns} target={params.message ? { id: params.message } : null} />
          ) : (
            <p class="muted">The episode has no given messages.</p>
          )}
        </>
      )}
    </Loaded>
  );
}

function Entities({ entities }) {
  return (
    <Table
      caption="Persons, events, items and places"
      rows={entities}
      rowKey={({ entity_id }) => entity_id}
      columns={[
        { key: "name", label: "Name", head: true, cell: ({ name, entity_id }) => <Text none={entity_id}>{name}</Text> },
        { key: "kind", label: "Kind", cell: ({ kind }) => kind },
        { key: "relationship", label: "Relation", cell: ({ relationship }) => <Text none="–">{relationship}</Text> },
        {
          key: "attributes",
          label: "Attributes",
          cell: ({ attributes }) => <Text none="–">{attributes && Object.entries(attributes).map(([name, value]) => `${name}: ${value}`).join("; ")}</Text>,
        },
      ]}
    />
  );
}

function Checks({ checks }) {
  const sorted = [...checks].sort((a, b) => RESULTS[a.result] - RESULTS[b.result]);
  const bad = sorted.filter(({ result }) => result !== "passed");
  const columns = [
    { key: "result", label: "Result", cell: ({ result, severity }) => <span class={`tag ${result === "passed" ? "good" : "warn"}`}>{result === "passed" ? result : `${result} (${severity})`}</span> },
    { key: "table", label: "Table", cell: ({ table }) => <code>{table}</code> },
    { key: "rule", label: "Rule", head: true, cell: ({ rule }) => rule },
    { key: "property", label: "Property", cell: ({ property, note }) => <Text>{[property, note].filter(Boolean).join(" ")}</Text> },
    { key: "rows", label: "Rows", numeric: true, cell: ({ rows }) => rows },
    { key: "unexpected", label: "Unexpected", numeric: true, cell: ({ unexpected }) => unexpected },
  ];
  return (
    <>
      <p>
        {checks.length - bad.length} of {checks.length} rules passed.
      </p>
      {bad.length > 0 && <Table caption="Rules that did not pass" rows={bad} columns={columns} />}
      <details>
        <summary>All rules</summary>
        <Table caption="All rules" rows={sorted} columns={columns} />
      </details>
    </>
  );
}

function episodeLabel(name, episode) {
  return visible(name ? `${excerpt(name, LONGEST_NAME)} (${episode})` : episode);
}

function total(episodes, name) {
  return episodes.reduce((sum, each) => sum + each[name], 0);
}
