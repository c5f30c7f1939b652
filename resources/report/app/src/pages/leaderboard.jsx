// The leaderboard: all domains at a glance, or one domain in depth.

import { Select } from "../components/fields.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { DomainTags } from "../components/tag.jsx";
import { Term } from "../components/term.jsx";
import { load, records } from "../data.js";
import { count } from "../format.js";
import { leaderSentence, terms } from "../leaderboard/leader.js";
import { Headroom } from "../leaderboard/headroom.jsx";
import { Overview } from "../leaderboard/overview.jsx";
import { Ranking } from "../leaderboard/ranking.jsx";
import { Checkpoints, SliceMap } from "../leaderboard/slices.jsx";
import { Tradeoffs } from "../leaderboard/tradeoffs.jsx";
import { Usage } from "../leaderboard/usage.jsx";
import { href } from "../route.js";
import {
  byBetter,
  chosen,
  distinct,
  domainOptions,
  findDomain,
  findMetric,
  leadingVariant,
  metricOptions,
  metricTitle,
  plainOptions,
  primaryMetric,
  slicesOf,
  variantLabel,
} from "../site.js";

export default function Leaderboard({ site, params, go }) {
  const state = useData(async () => {
    const retrieved = site.files.includes("retrieval") ? load("retrieval") : [];
    const [scores, costs, headroom, retrieval] = await Promise.all([load("scores"), load("costs"), load("headroom"), retrieved]);
    return { scores: records(scores), costs, headroom, retrieval };
  }, []);
  const name = params.domain ?? (site.domains.length === 1 ? site.domains[0].name : null);
  const domain = name && findDomain(site, name);
  if (name && !domain) {
    return (
      <Problem link={{ href: href("leaderboard"), label: "Show all domains" }}>This report has no domain {name}.</Problem>
    );
  }
  return (
    <Loaded state={state}>
      {({ scores, costs, headroom, retrieval }) => {
        if (!domain) {
          return <AllDomains {...{ site, scores, retrieval, go }} />;
        }
        const answered = scores.some((row) => row.domain === domain.name);
        return !answered && retrieval.some((row) => row.domain === domain.name) ? (
          <Searched {...{ site, domain, go }} />
        ) : (
          <OneDomain {...{ site, domain, scores, costs, headroom, params, go }} />
        );
      }}
    </Loaded>
  );
}

/** A domain without answers, of which only the retrieval was measured. */
function Searched({ site, domain, go }) {
  return (
    <>
      <h1>
        {domain.title} <DomainTags domain={domain} />
      </h1>
      <div class="fields">
        <DomainField site={site} value={domain.name} go={go} />
      </div>
      <p>
        No answers were requested in this domain, so it has no accuracy.{" "}
        <a href={href("retrieval", { domain: domain.name })}>What its memories retrieve</a> was measured without a chat model.
      </p>
    </>
  );
}

function AllDomains({ site, scores, retrieval, go }) {
  return (
    <>
      <h1>Leaderboard</h1>
      <p class="lead">
        {count(distinct(scores, "assistant").length, "assistant")} in {count(distinct(scores, "domain").length, "domain")}
      </p>
      <div class="fields">
        <DomainField site={site} value="" go={go} />
      </div>
      {scores.length + retrieval.length === 0 ? (
        <Problem>No scores are published yet. Run `memflow run`, then build the report again.</Problem>
      ) : (
        <Overview site={site} scores={scores} retrieval={retrieval} />
      )}
    </>
  );
}

function OneDomain({ site, domain, scores, costs, headroom, params, go }) {
  const inDomain = scores.filter((row) => row.domain === domain.name);
  const metrics = metricOptions(site, domain, inDomain);
  const names = metrics.flatMap(({ options }) => options.map(({ value }) => value));
  const metricName = params.metric ?? chosen(primaryMetric(site, domain), names);
  const known = findMetric(site, metricName);
  const ofMetric = inDomain.filter((row) => row.metric === metricName);
  const variant = params.variant ?? leadingVariant(metricName, distinct(ofMetric, "variant"));
  const metric = { ...known, title: metricTitle(known, variant) };
  const ofVariant = ofMetric.filter((row) => row.variant === variant);
  const slices = slicesOf(domain, ofVariant);
  const slice = params.slice ?? chosen("all", slices);
  const rows = ofVariant.filter((row) => row.slice === slice).map((row) => ({ ...row, ...spentPerProbe(costs.totals, row) }));
  const ranked = [...rows].sort((a, b) => byBetter(metric, a.value, b.value)).map(({ assistant }) => assistant);
  const set = (changes) => go("leaderboard", { ...params, domain: domain.name, ...changes });
  return (
    <>
      <h1>
        {domain.title} <DomainTags domain={domain} />
      </h1>
      <p class="lead">
        {count(rows.length, "assistant")} · <Term text={metric.description}>{metric.title}</Term>
        {metric.direction && `, ${metric.direction} is better`} ·{" "}
        <a href={href("domain", { domain: domain.name })}>About this domain</a> ·{" "}
        <a href={href("compare", { domain: domain.name, metric: metricName, variant })}>Compare assistants</a> ·{" "}
        <a href={href("history", { domain: domain.name, metric: metricName })}>History</a>
      </p>
      <div class="fields">
        <DomainField site={site} value={domain.name} go={go} />
        <Select label="Metric" value={metricName} options={metrics} onChange={(value) => set({ metric: value, variant: "", slice: "", sort: "" })} />
        {slices.length > 1 && (
          <Select label="Slice" value={slice} options={plainOptions(slices)} onChange={(value) => set({ slice: value })} />
        )}
        <Variant metric={metricName} rows={ofMetric} value={variant} onChange={(value) => set({ variant: value, slice: "" })} />
      </div>
      {rows.length === 0 ? (
        <Problem link={{ href: href("leaderboard", { domain: domain.name }), label: "Show the primary metric" }}>
          This domain has no score of the metric {metricName} in the slice {slice}.
        </Problem>
      ) : (
        <>
          <p class="leader">{leaderSentence(site, metric, rows)}</p>
          <p class="lead">{terms(site, domain)}</p>
          <Ranking
            site={site}
            domain={domain}
            metric={metric}
            rows={rows}
            params={{ variant: params.variant, slice: params.slice, sort: params.sort }}
            onSort={(sort) => set({ sort })}
          />
          {metric.group === "failure" &&
            domain.contradictions?.map((line) => (
              <p key={line} class="muted">
                {line}
              </p>
            ))}
          <Tradeoffs site={site} metric={metric} rows={rows} />
          <Checkpoints metric={metric} rows={ofVariant} names={ranked} />
          <SliceMap domain={domain} metric={metric} rows={ofVariant} names={ranked} variant={params.variant} />
          <Headroom domain={domain} found={headroom} names={ranked} chosen={params.searched} onChoose={(searched) => set({ searched })} />
          <Usage domain={domain} rows={costs.usage} names={ranked} />
        </>
      )}
    </>
  );
}

function DomainField({ site, value, go }) {
  const all = { value: "", label: "All domains" };
  const options = site.domains.length > 1 ? [all, ...domainOptions(site)] : domainOptions(site);
  return (
    <Select label="Domain" value={value} options={options} onChange={(domain) => go("leaderboard", { domain })} />
  );
}

function Variant({ metric, rows, value, onChange }) {
  const variants = distinct(rows, "variant");
  return variants.length > 1 ? (
    <Select
      label="Variant"
      value={value}
      options={variants.map((name) => ({ value: name, label: variantLabel(metric, name) }))}
      onChange={onChange}
    />
  ) : null;
}

function spentPerProbe(totals, { domain, assistant }) {
  const total = totals.find((each) => each.domain === domain && each.assistant === assistant);
  const per = (value) => (total?.probes && value !== null ? value / total.probes : null);
  return {
    tokens: per(total && total.prompt_tokens + total.completion_tokens),
    cost: per(total?.cost ?? null),
    seconds: per(total?.seconds ?? null),
  };
}
