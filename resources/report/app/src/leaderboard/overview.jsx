// All assistants in all domains, by the first primary metric of each domain.

import { HealthTag } from "../components/health.jsx";
import { HeatMap } from "../components/heatmap.jsx";
import { DomainTags } from "../components/tag.jsx";
import { interval, score } from "../format.js";
import { href } from "../route.js";
import { domainTitle, findMetric, isBaseline, primaryMetric } from "../site.js";
import { leaderSentence, retrievalSentence, terms } from "./leader.js";

export function Overview({ site, scores, retrieval }) {
  const scored = site.domains.filter(({ name, health }) => scores.some(({ domain }) => domain === name) || Object.keys(health ?? {}).length > 0);
  const searched = site.domains.filter((domain) => !scored.includes(domain));
  const columns = scored.map((domain) => columnOf(site, domain, scores));
  const strength = new Map(site.assistants.map(({ name }) => [name, meanShare(columns, name)]));
  const present = site.assistants.filter(({ name }) =>
    columns.some(({ values, health }) => values.has(name) || name in health),
  );
  const rows = present
    .map(({ name }) => ({ key: name, label: name, class: isBaseline(site, name) ? "baseline" : null }))
    .sort((a, b) => (a.class !== null) - (b.class !== null) || strength.get(b.key) - strength.get(a.key));
  return (
    <>
      {scored.map((domain) => (
        <Headline key={domain.name} site={site} domain={domain} scores={scores} />
      ))}
      {searched.map((domain) => (
        <Searched key={domain.name} site={site} domain={domain} rows={retrieval.filter((row) => row.domain === domain.name)} />
      ))}
      {scored.length > 0 && (
        <HeatMap
          caption="Score of the primary metric and its 95 % confidence interval, by assistant and domain. The stronger the color, the better within a domain. Baselines are at the bottom. Choose a domain for its leaderboard, a score for its probes."
          corner="Assistant"
          rows={rows}
          columns={columns}
          cell={(row, column) => {
            const found = column.values.get(row.key);
            if (found) {
              return { ...found, share: 0.08 + 0.92 * shareOf(column, found.value) };
            }
            return column.health[row.key]?.state === "faulty" && { text: <HealthTag health={column.health[row.key]} /> };
          }}
        />
      )}
    </>
  );
}

function Headline({ site, domain, scores }) {
  const { metric, rows } = primaryRows(site, domain, scores);
  return (
    <>
      <p class="leader">
        <a href={href("leaderboard", { domain: domain.name })}>{domainTitle(site, domain)}</a>, {metric.title}: {leaderSentence(site, metric, rows)}
      </p>
      <p class="lead">
        {terms(site, domain)} <DomainTags domain={domain} site={site} />
      </p>
    </>
  );
}

/** The headline of a domain without answers: what its memories retrieve. */
function Searched({ site, domain, rows }) {
  const sentence = retrievalSentence(rows);
  return (
    sentence && (
      <>
        <p class="leader">
          <a href={href("retrieval", { domain: domain.name })}>{domainTitle(site, domain)}</a>, retrieval: {sentence}
        </p>
        <p class="lead">Terms: no chat model, no answers, domain {domain.name}.</p>
      </>
    )
  );
}

function primaryRows(site, domain, scores) {
  const metric = findMetric(site, primaryMetric(site, domain));
  const wanted = { domain: domain.name, metric: metric.name, slice: "all", variant: "standard" };
  return { metric, rows: scores.filter((row) => Object.entries(wanted).every(([key, value]) => row[key] === value)) };
}

function columnOf(site, domain, scores) {
  const { metric, rows } = primaryRows(site, domain, scores);
  const found = rows.filter(({ value }) => value !== null);
  const values = new Map(
    found.map((row) => [
      row.assistant,
      {
        value: row.value,
        text: (
          <>
            {score(row.value, metric)}
            {row.health === "suspect" && <small class="flag">suspect</small>}
            {(row.low !== null || row.interval_reason) && <small>{interval(row, (end) => score(end, metric), row.interval_reason)}</small>}
          </>
        ),
        title: `${row.assistant}, ${metric.title} on ${domain.title}${row.health_reason ? `; ${row.health}: ${row.health_reason}` : ""}`,
        href: href("probes", { domain: domain.name, assistant: row.assistant, metric: metric.name }),
      },
    ]),
  );
  return {
    key: domain.name,
    label: domain.title,
    href: href("leaderboard", { domain: domain.name }),
    tags: (
      <small>
        {domain.name !== domain.title && (
          <>
            <code>{domain.name}</code>
            <br />
          </>
        )}
        {metric.title}
        {metric.percent ? ", %" : ""} <DomainTags domain={domain} site={site} />
      </small>
    ),
    lower: metric.direction === "lower",
    values,
    health: domain.health ?? {},
    range: [Math.min(...found.map(({ value }) => value)), Math.max(...found.map(({ value }) => value))],
  };
}

function shareOf({ range: [from, to], lower }, value) {
  const share = to > from ? (value - from) / (to - from) : 0.5;
  return lower ? 1 - share : share;
}

function meanShare(columns, assistant) {
  const shares = columns
    .filter(({ values }) => values.has(assistant))
    .map((column) => shareOf(column, column.values.get(assistant).value));
  return shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
}
