// One probe: question, gold, the dialogue with its evidence, and what each assistant recalled, was asked and answered.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Dialogue } from "../components/dialogue.jsx";
import { HealthLabel, healthOf } from "../components/health.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Outcome } from "../components/outcome.jsx";
import { Text } from "../components/text.jsx";
import { loadEpisode, loadResults } from "../data.js";
import { score } from "../format.js";
import { Answer } from "../probe/answer.jsx";
import { chosenOption, goldText } from "../probe/gold.js";
import { listOf, listParams, queryOf } from "../query.js";
import { href } from "../route.js";
import { excerpt } from "../text.js";
import { openVerdicts } from "../verdicts.js";

const MOST_SHOWN = 2;
const LONGEST_TITLE = 300;

export default function Probe({ site, params, go }) {
  const domain = site.domains.find(({ name }) => name === params.domain);
  const state = useData(() => domain && openVerdicts(site, domain.name), [params.domain]);
  if (!domain) {
    return <Problem link={{ href: href("probes"), label: "Show all probes" }}>This report has no domain {params.domain}.</Problem>;
  }
  return (
    <Loaded state={state}>
      {(verdicts) => {
        const index = verdicts.indexOf(params.probe);
        return index < 0 ? (
          <Problem link={{ href: href("probes", { domain: domain.name }), label: "Show the domain's probes" }}>
            The domain {domain.name} has no probe {params.probe}.
          </Problem>
        ) : (
          <Page site={site} domain={domain} verdicts={verdicts} index={index} params={params} go={go} />
        );
      }}
    </Loaded>
  );
}

function Page({ site, domain, verdicts, index, params, go }) {
  const query = queryOf(params, verdicts);
  const list = useMemo(() => verdicts.filter(query).probes, [verdicts, JSON.stringify(query)]);
  const probe = verdicts.probe(index);
  const results = verdicts.results(index, query);
  const preferred = [...listOf(params.view), ...listOf(params.assistant), ...domain.assistants];
  const views = listOf(params.view).length
    ? listOf(params.view).filter((name) => domain.assistants.includes(name)).slice(0, MOST_SHOWN)
    : preferred.filter((name) => domain.assistants.includes(name)).slice(0, 1);
  const state = useData(async () => {
    const [episode, ...answers] = await Promise.all([
      loadEpisode(domain.name, probe.episode),
      ...views.map((name) => loadResults(domain.name, name, probe.episode)),
    ]);
    return { key: `${probe.probe} ${views}`, episode, answers };
  }, [domain.name, probe.probe, views.join("\n")]);
  const fact = useMemo(() => evidenceOfFact(probe, verdicts), [probe.probe]);
  const toggle = (name) => {
    const next = views.includes(name) ? views.filter((each) => each !== name) : [...views, name].slice(-MOST_SHOWN);
    go("probe", { ...params, view: next.length ? next : views });
  };
  return (
    <div class="probe">
      <Position list={list} index={index} verdicts={verdicts} params={params} go={go} />
      <Question probe={probe} />
      <Facts probe={probe} verdicts={verdicts} domain={domain} />
      <Gold probe={probe} answers={state.value?.answers} views={views} />
      <h2>Assistants</h2>
      <p class="muted">Choose one or two to see in full.</p>
      <ul class="assistants">
        {domain.assistants.map((name) => {
          const result = results.get(name);
          return (
            <li key={name}>
              <button type="button" aria-pressed={views.includes(name)} onClick={() => toggle(name)}>
                <Outcome outcome={result?.outcome ?? "none"} /> {name}
                <span class="muted"> {score(result?.value ?? null, verdicts.metrics.get(probe.metric))}</span>
                {result?.failure && <span class="muted"> {result.failure} failure by evidence</span>}
                <HealthLabel health={healthOf(domain, name)} />
              </button>
            </li>
          );
        })}
      </ul>
      <Loaded state={state}>
        {({ episode, answers }) => (
          <Detail site={site} domain={domain} probe={probe} fact={fact} episode={episode} answers={answers} views={views} results={results} params={params} />
        )}
      </Loaded>
    </div>
  );
}

/** Return the evidence of a probe and of all earlier probes of the same variables: all messages of the fact so far. */
function evidenceOfFact(probe, verdicts) {
  const key = JSON.stringify(probe.variables ?? []);
  const found = new Set(probe.evidence);
  if (key !== "[]") {
    for (let i = 0; i < verdicts.ids.length; i++) {
      const other = verdicts.probe(i);
      if (other.episode === probe.episode && other.checkpoint <= probe.checkpoint && JSON.stringify(other.variables) === key) {
        other.evidence.forEach((id) => found.add(id));
      }
    }
  }
  return [...found];
}

function Detail({ site, domain, probe, fact, episode, answers, views, results, params }) {
  const [target, setTarget] = useState(params.message ? { id: params.message } : null);
  const evidence = useMemo(() => new Set(probe.evidence), [probe]);
  const recalled = useMemo(
    () => new Set(answers.flatMap(({ replies }) => replies[probe.probe]?.recalled_sources ?? [])),
    [answers, probe],
  );
  const messages = useMemo(() => {
    const played = answers.find((each) => each.messages.length > 0);
    return played ? [...played.messages].sort((a, b) => a.sequence - b.sequence) : episode.turns;
  }, [answers, episode]);
  const texts = useMemo(() => new Map([...episode.turns, ...messages].map((each) => [each.message_id, each.text])), [episode, messages]);
  const after = messages.findIndex(({ message_id }) => message_id === probe.after);
  const later = messages.findIndex(({ checkpoint }) => checkpoint > probe.checkpoint);
  const until = after >= 0 ? after + 1 : later >= 0 ? later : messages.length;
  return (
    <div class={`detail views-${views.length}`}>
      <section class="history" aria-labelledby="dialogue">
        <h2 id="dialogue">Dialogue</h2>
        <Evidence probe={probe} texts={texts} onShow={(id) => setTarget({ id })} />
        <Dialogue label="Dialogue" messages={messages} evidence={evidence} recalled={recalled} target={target} until={until} />
      </section>
      {views.map((name, i) => (
        <Answer
          key={name}
          site={site}
          domain={domain}
          assistant={name}
          probe={probe}
          fact={fact}
          results={answers[i]}
          failure={results.get(name)?.failure ?? null}
          texts={texts}
          onShow={(id) => setTarget({ id })}
        />
      ))}
    </div>
  );
}

function Evidence({ probe, texts, onShow }) {
  if (probe.evidence.length === 0) {
    return <p class="muted">The data do not name the messages that contain the answer.</p>;
  }
  return (
    <ul class="evidence-list" aria-label="Evidence">
      {probe.evidence.slice(0, 8).map((id) => (
        <li key={id}>
          <button type="button" class="link" onClick={() => onShow(id)}>
            {texts.has(id) ? <Text none={id}>{excerpt(texts.get(id), 120)}</Text> : <>{id} (not in this dialogue)</>}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Position({ list, index, verdicts, params, go }) {
  const at = list.indexOf(index);
  const link = (place) => {
    const id = place >= 0 && place < list.length ? verdicts.ids[list[place]] : null;
    return id && { ...params, probe: id, message: "" };
  };
  const [previous, next] = at < 0 ? [null, null] : [link(at - 1), link(at + 1)];
  const keys = useRef();
  keys.current = (event) => {
    const to = { n: next, p: previous }[event.key];
    if (to && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, select, textarea")) {
      go("probe", to);
    }
  };
  useEffect(() => {
    const follow = (event) => keys.current(event);
    addEventListener("keydown", follow);
    return () => removeEventListener("keydown", follow);
  }, []);
  return (
    <nav class="position" aria-label="Probes of the list">
      <a href={href("probes", listParams(params))}>Probes</a>
      <span class="muted">{at < 0 ? "not in the filtered list" : `${(at + 1).toLocaleString("en")} of ${list.length.toLocaleString("en")}`}</span>
      {previous && <a href={href("probe", previous)}>Previous (p)</a>}
      {next && <a href={href("probe", next)}>Next (n)</a>}
    </nav>
  );
}

function Question({ probe }) {
  const long = probe.kind === "state" || probe.question?.length > LONGEST_TITLE;
  return (
    <>
      <h1>
        <Text none={probe.probe}>{long ? null : probe.question}</Text>
      </h1>
      {long && (
        <blockquote class="reply" tabindex={0}>
          <Text>{probe.question}</Text>
        </blockquote>
      )}
    </>
  );
}

function Facts({ probe, verdicts, domain }) {
  const slices = (probe.slices ?? []).map((number) => verdicts.values.slice[number]).filter((name) => name && name !== "all");
  const facts = [
    ["Probe", <code>{probe.probe}</code>],
    ["Episode", <a href={href("domain", { domain: domain.name, episode: probe.episode })}>{probe.episode}</a>],
    ["Checkpoint", probe.checkpoint],
    ["Kind", probe.kind],
    ["Scored by", verdicts.metrics.get(probe.metric)?.title ?? probe.metric],
    ["Data set", probe.dataset],
    ["Category", probe.category],
    ["Asked at", probe.asked_at],
    ["Slices", slices.join(", ")],
  ];
  return (
    <>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== null && value !== undefined && value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {probe.reason && <Problem>This probe is quarantined: {probe.reason}</Problem>}
    </>
  );
}

function Gold({ probe, answers, views }) {
  const options = probe.options ?? [];
  if (options.length === 0) {
    return (
      <section aria-label="Gold">
        <h2>Gold</h2>
        <p class="gold">
          <Text>{goldText(probe)}</Text>
        </p>
      </section>
    );
  }
  const choices = views.map((name, i) => [name, chosenOption(answers?.[i]?.replies[probe.probe])]);
  return (
    <ol class="options" aria-label="Options">
      {options.map((option, i) => {
        const by = choices.filter(([, number]) => number === i + 1).map(([name]) => name);
        const gold = probe.gold === String(i + 1);
        return (
          <li key={i} class={[gold && "gold", by.length && "chosen"].filter(Boolean).join(" ")}>
            <Text>{option}</Text>
            {gold && <span class="tag good">gold</span>}
            {by.map((name) => (
              <span key={name} class="tag">
                chosen by {name}
              </span>
            ))}
          </li>
        );
      })}
    </ol>
  );
}
