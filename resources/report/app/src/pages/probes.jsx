// The probes of a domain: facets with counts, text search, and a windowed list with the outcome of every assistant.

import { useMemo } from "preact/hooks";
import { Search, Select } from "../components/fields.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Outcomes } from "../components/outcome.jsx";
import { Text } from "../components/text.jsx";
import { Windowed } from "../components/windowed.jsx";
import { count } from "../format.js";
import { EVERY_METRIC, EVERY_VARIANT, listOf, listParams, queryOf } from "../query.js";
import { href } from "../route.js";
import { openVerdicts } from "../verdicts.js";

const TITLES = {
  assistant: "Assistant",
  verdict: "Verdict",
  failure: "Failure",
  differ: "Assistants differ",
  slice: "Slice",
  checkpoint: "Checkpoint",
  dataset: "Data set",
  category: "Category",
  kind: "Kind",
};
const LARGEST_LIST = 200_000;
const ROW_HEIGHT = 92;

export default function Probes({ site, params, go }) {
  const domain = site.domains.find(({ name }) => name === (params.domain ?? site.domains[0]?.name));
  if (!domain) {
    return <Problem link={{ href: href("probes"), label: "Show the first domain" }}>This report has no domain {params.domain}.</Problem>;
  }
  return <ProbeList key={domain.name} site={site} domain={domain} params={params} go={go} />;
}

function ProbeList({ site, domain, params, go }) {
  const state = useData(() => openVerdicts(site, domain.name), [domain.name]);
  const change = (changes, options) => go("probes", { ...params, domain: domain.name, ...changes }, options);
  return (
    <>
      <h1>Probes</h1>
      <div class="fields">
        <Select
          label="Domain"
          value={domain.name}
          options={site.domains.map(({ name }) => ({ value: name, label: name }))}
          onChange={(name) => go("probes", { domain: name })}
        />
        <Search
          label="Text in question or id"
          value={params.text ?? ""}
          onInput={(text) => change({ text }, { replace: true })}
        />
        <Select
          label="Sort by"
          value={params.sort ?? "id"}
          options={[
            { value: "id", label: "order in the domain" },
            { value: "-wrong", label: "most assistants wrong first" },
            { value: "wrong", label: "fewest assistants wrong first" },
            { value: "checkpoint", label: "checkpoint" },
            { value: "-checkpoint", label: "last checkpoint first" },
          ]}
          onChange={(sort) => change({ sort })}
        />
        {state.value && <Measures verdicts={state.value} params={params} change={change} />}
      </div>
      <Loaded state={state}>
        {(verdicts) => <Found verdicts={verdicts} domain={domain} params={params} change={change} go={go} />}
      </Loaded>
    </>
  );
}

function Measures({ verdicts, params, change }) {
  const { metric, variant } = verdicts.values;
  return (
    <>
      <Select
        label="Metric"
        value={listOf(params.metric)[0] ?? ""}
        options={[
          { value: "", label: "each probe's own metric" },
          { value: EVERY_METRIC, label: "every metric" },
          ...metric.map((name) => ({ value: name, label: verdicts.metrics.get(name)?.title ?? name })),
        ]}
        onChange={(name) => change({ metric: name })}
      />
      {variant.length > 1 && (
        <Select
          label="Variant"
          value={listOf(params.variant)[0] ?? ""}
          options={[
            { value: "", label: "standard" },
            { value: EVERY_VARIANT, label: "every variant" },
            ...variant.filter((name) => name !== "standard").map((name) => ({ value: name, label: name })),
          ]}
          onChange={(name) => change({ variant: name })}
        />
      )}
    </>
  );
}

function Found({ verdicts, domain, params, change, go }) {
  const query = queryOf(params, verdicts);
  const key = JSON.stringify(query);
  const { probes, counts, wrong, milliseconds } = useMemo(() => {
    const start = performance.now();
    const found = verdicts.filter(query);
    return { ...found, milliseconds: performance.now() - start };
  }, [verdicts, key]);
  const valuesOf = (facet) => (facet === "assistant" ? domain.assistants : verdicts.values[facet]).filter((value) => verdicts.offers(facet, value));
  const facets = Object.keys(TITLES).filter((facet) => valuesOf(facet).length > 1 || facet === "differ");
  const chosen = facets.filter((facet) => query[facet].length > 0);
  const shown = Math.min(probes.length, LARGEST_LIST);
  return (
    <div class="browse" data-filter-ms={milliseconds.toFixed(1)}>
      <details class="facets" open={matchMedia("(min-width: 60rem)").matches}>
        <summary>Filters{chosen.length ? ` (${chosen.length} in use)` : ""}</summary>
        {facets.map((facet) => (
          <Facet
            key={facet}
            title={TITLES[facet]}
            values={valuesOf(facet)}
            counted={(value) => counts[facet][verdicts.values[facet].indexOf(value)]}
            chosen={query[facet]}
            onChange={(values) => change({ [facet]: values })}
          />
        ))}
      </details>
      <section aria-label="Probes found">
        <p class="found" role="status">
          <strong>{count(probes.length, "probe")}</strong> of {verdicts.rows.length.toLocaleString("en")}
          {(chosen.length > 0 || query.text) && (
            <button type="button" class="action" onClick={() => go("probes", { domain: domain.name })}>
              Clear filters
            </button>
          )}
        </p>
        <p class="legend muted">
          One mark for each assistant, in this order: {domain.assistants.join(", ")}. ✓ right, ◐ partial, ✗ wrong, – no verdict.
          Keys: ↓ ↑ move, Enter opens.
        </p>
        {shown < probes.length && <p>The list shows the first {shown.toLocaleString("en")}. Choose a filter to see others.</p>}
        <Windowed key={key} label="Probes" count={shown} height={ROW_HEIGHT}>
          {(i) => (
            <Row verdicts={verdicts} index={probes[i]} wrong={wrong} domain={domain} query={query} params={params} />
          )}
        </Windowed>
      </section>
    </div>
  );
}

function Facet({ title, values, counted, chosen, onChange }) {
  return (
    <fieldset class="facet">
      <legend>{title}</legend>
      <div class="values">
        {values.map((value) => (
          <label key={value} class={counted(value) || chosen.includes(value) ? "check" : "check muted"}>
            <input
              type="checkbox"
              value={value}
              checked={chosen.includes(value)}
              onChange={(event) =>
                onChange(event.currentTarget.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
              }
            />
            <span>{value || "(none)"}</span>
            <span class="tally">{(counted(value) ?? 0).toLocaleString("en")}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Row({ verdicts, index, wrong, domain, query, params }) {
  const probe = verdicts.probe(index);
  const slices = (probe.slices ?? []).map((number) => verdicts.values.slice[number]).filter((name) => name && name !== "all");
  return (
    <article class="probe-row">
      <a href={href("probe", { ...listParams(params), domain: domain.name, probe: probe.probe })}>
        <Text marks={query.text ? [query.text] : []} none={probe.probe}>
          {probe.question?.replace(/\s+/g, " ")}
        </Text>
      </a>
      <Outcomes assistants={domain.assistants} results={verdicts.results(index, query)} />
      <p class="muted">
        <code>{probe.probe}</code> · checkpoint {probe.checkpoint} · {wrong[index]} wrong
        {slices.length > 0 && <> · {slices.slice(0, 3).join(", ")}</>}
      </p>
    </article>
  );
}
