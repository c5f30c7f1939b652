// A comparison of assistants with a baseline on the same probes.

import { Differences, sentence, SliceDifferences, whyOpen } from "../compare/differences.jsx";
import { Flipped } from "../compare/flipped.jsx";
import { orient } from "../compare/pairs.js";
import { Select } from "../components/fields.jsx";
import { HealthTag, healthOf } from "../components/health.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { DomainTags } from "../components/tag.jsx";
import { load, records } from "../data.js";
import { href } from "../route.js";
import {
  byBetter,
  chosen,
  distinct,
  domainOptions,
  findDomain,
  findMetric,
  metricOptions,
  metricTitle,
  plainOptions,
  primaryMetric,
  slicesOf,
} from "../site.js";

export default function Compare({ site, params, go }) {
  const state = useData(async () => records(await load("comparisons")), []);
  return <Loaded state={state}>{(rows) => <Page site={site} rows={rows} params={params} go={go} />}</Loaded>;
}

function Page({ site, rows, params, go }) {
  const compared = site.domains.find(({ name }) => rows.some(({ domain }) => domain === name)) ?? site.domains[0];
  const name = params.domain ?? compared?.name;
  const domain = findDomain(site, name);
  if (!domain) {
    return <Problem link={{ href: href("compare"), label: "Compare in another domain" }}>This report has no domain {name}.</Problem>;
  }
  const choice = choose(site, domain, rows, params);
  const set = (changes) => go("compare", { ...params, domain: name, ...changes });
  const { metric, variant, slice, baseline, others, names, ofVariant } = choice;
  const link = (row) => href("compare", { ...params, domain: name, a: baseline, b: row.other });
  const unknown = [params.a, params.b].flat().find((each) => each && !names.includes(each));
  const oriented = ofVariant
    .filter((row) => (row.a === baseline && others.includes(row.b)) || (row.b === baseline && others.includes(row.a)))
    .map((row) => orient(row, baseline));
  const rowsOfSlice = oriented
    .filter((row) => row.slice === slice)
    .sort((x, y) => byBetter(metric, x.difference, y.difference));
  const slices = slicesOf(domain, oriented);
  return (
    <>
      <h1>
        Compare <DomainTags domain={domain} />
      </h1>
      <p class="lead">
        Differences over the same probes: each assistant minus the baseline.{" "}
        <a href={href("leaderboard", { domain: name, metric: metric.name })}>Leaderboard of {domain.title}</a>
      </p>
      <div class="fields">
        <Select label="Domain" value={name} options={domainOptions(site)} onChange={(value) => go("compare", { domain: value })} />
        {names.length > 0 && (
          <>
            <Select label="Metric" value={metric.name} options={choice.metrics} onChange={(value) => set({ metric: value, variant: "", slice: "" })} />
            {choice.variants.length > 1 && (
              <Select label="Variant" value={variant} options={plainOptions(choice.variants)} onChange={(value) => set({ variant: value })} />
            )}
            {slices.length > 1 && (
              <Select label="Slice" value={slice} options={plainOptions(slices)} onChange={(value) => set({ slice: value })} />
            )}
            <Select label="Baseline" value={baseline} options={plainOptions(names)} onChange={(value) => set({ a: value, b: others.filter((each) => each !== value) })} />
            <Others names={names.filter((each) => each !== baseline)} others={others} onChange={(b) => set({ a: baseline, b })} />
          </>
        )}
      </div>
      {unknown ? (
        <Problem link={{ href: href("compare", { domain: name }), label: "Compare the assistants of this domain" }}>
          This domain has no comparison with {unknown}.
        </Problem>
      ) : rowsOfSlice.length === 0 ? (
        <Problem>
          {domain.title} has no comparison: it needs two assistants with scores of a primary metric on the same probes.
        </Problem>
      ) : (
        <>
          {healthOf(domain, baseline) && (
            <p>
              {baseline} <HealthTag health={healthOf(domain, baseline)} />
            </p>
          )}
          {others.length === 1 && <p class="result">{sentence(rowsOfSlice[0], baseline, metric)}</p>}
          <Differences
            caption={`Paired differences to ${baseline}, with 95 % confidence intervals over episodes. Right of the line: higher ${metric.title} than ${baseline}.`}
            metric={metric}
            baseline={baseline}
            rows={rowsOfSlice}
            head={{
              key: "other",
              label: "Assistant",
              cell: (row) => (
                <>
                  <a href={link(row)}>{row.other}</a> <HealthTag health={healthOf(domain, row.other)} />
                </>
              ),
            }}
            sort={params.sort}
            onSort={(sort) => set({ sort })}
          />
          {others.length > 1 && <p class="muted">{whyOpen(rowsOfSlice)}</p>}
          <SliceDifferences {...{ domain, metric, variant, baseline }} rows={oriented} names={rowsOfSlice.map(({ other }) => other)} />
          {others.length === 1 ? (
            <Flipped {...{ domain, metric, variant, slice, baseline }} other={others[0]} />
          ) : (
            <p class="muted">Choose one assistant of the table to list the probes that differ.</p>
          )}
        </>
      )}
    </>
  );
}

function choose(site, domain, rows, params) {
  const inDomain = rows.filter((row) => row.domain === domain.name);
  const metrics = metricOptions(site, domain, inDomain);
  const metricNames = metrics.flatMap(({ options }) => options.map(({ value }) => value));
  const first = chosen(primaryMetric(site, domain), metricNames);
  const known = findMetric(site, chosen(params.metric ?? first, metricNames) ?? primaryMetric(site, domain));
  const ofMetric = inDomain.filter((row) => row.metric === known.name);
  const variants = distinct(ofMetric, "variant");
  const variant = chosen(params.variant ?? "standard", variants);
  const metric = { ...known, title: metricTitle(known, variant) };
  const ofVariant = ofMetric.filter((row) => row.variant === variant);
  const present = new Set(ofVariant.flatMap(({ a, b }) => [a, b]));
  const names = domain.assistants.filter((each) => present.has(each));
  const baseline = chosen(params.a ?? best(ofVariant, names, metric), names);
  const wanted = [params.b ?? []].flat().filter((each) => names.includes(each) && each !== baseline);
  const others = wanted.length > 0 ? wanted : names.filter((each) => each !== baseline);
  const slice = chosen(params.slice ?? "all", slicesOf(domain, ofVariant));
  return { metrics, metric, variants, variant, ofVariant, names, baseline, others, slice };
}

// The baseline at first: the assistant without a memory, otherwise the one with the best score.
function best(rows, names, metric) {
  if (names.includes("none")) {
    return "none";
  }
  const values = new Map(rows.flatMap((row) => [[row.a, row.value_a], [row.b, row.value_b]]));
  return [...names].sort((x, y) => byBetter(metric, values.get(x), values.get(y)))[0];
}

function Others({ names, others, onChange }) {
  const all = others.length === names.length;
  return (
    <details
      class="choices"
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.removeAttribute("open")}
      onFocusOut={(event) =>
        event.currentTarget.contains(event.relatedTarget) || event.currentTarget.removeAttribute("open")
      }
    >
      <summary>{all ? `With all ${names.length} others` : `With ${others.length} of ${names.length}`}</summary>
      <fieldset>
        <legend class="visually-hidden">Assistants compared with the baseline</legend>
        {names.map((name) => (
          <label class="check" key={name}>
            <input
              type="checkbox"
              checked={others.includes(name)}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? [...others, name] : others.filter((each) => each !== name))
              }
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
    </details>
  );
}
