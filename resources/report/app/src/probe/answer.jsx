// What one assistant recalled for a probe, its prompt as sent, its reply, and the verdicts.

import { useState } from "preact/hooks";
import { HealthTag, healthOf } from "../components/health.jsx";
import { Outcome } from "../components/outcome.jsx";
import { Text } from "../components/text.jsx";
import { excerpt } from "../text.js";
import { amount, score } from "../format.js";
import { href } from "../route.js";
import { outcomeOf } from "../verdicts.js";
import { lifeOf } from "./life.js";

const FAILURES = {
  write: "Write failure, by evidence: no entry of the memory came from the missing evidence when the question was asked.",
  read: "Read failure, by evidence: the memory held the evidence, and the assistant did not recall it.",
  utilization: "Utilization failure, by evidence: the evidence was recalled, and the reply still is not right.",
};
/** AMemGym's metrics of the same names follow another rule; the names on the page state which. */
const BY_STATE_PROBES = new Set(["write_failure", "read_failure", "utilization_failure"]);
const FIRST_ENTRIES = 12;
const MORE_ENTRIES = 100;
const SHORTEST_MARK = 8;

/** `fact`: the messages of the probe's fact. `results`: what `loadResults` returns. `texts`: message texts by id. `onShow(id)` shows a message in the dialogue. */
export function Answer({ site, domain, assistant, probe, fact, results, failure, texts, onShow }) {
  const reply = results.replies[probe.probe];
  const verdicts = results.verdicts[probe.probe] ?? [];
  const [copied, setCopied] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(JSON.stringify(asJson(assistant, probe, results), null, 2)).then(
      () => setCopied("Copied."),
      (error) => setCopied(`Not copied: ${error.message}`),
    );
  return (
    <section class="answer" aria-label={assistant}>
      <h2>
        {assistant} <HealthTag health={healthOf(domain, assistant)} />
      </h2>
      <p class="bar">
        <a href={href("memory", { domain: domain.name, assistant, episode: probe.episode, at: reply?.sequence })}>Memory at this moment</a>
        <a href={href("run", { domain: domain.name, assistant })}>Run</a>
        <button type="button" class="action" onClick={copy}>
          Copy as JSON
        </button>
        <span role="status">{copied}</span>
      </p>
      <VerdictList site={site} verdicts={verdicts} />
      {failure && <p class="failure">{FAILURES[failure]}</p>}
      {reply ? (
        <>
          <h3>Reply</h3>
          <blockquote class="reply" tabindex={0}>
            <Text none={reply.reason ?? "(no reply)"}>{reply.text}</Text>
          </blockquote>
          {reply.parsed !== null && reply.parsed !== reply.text && (
            <p>
              Parsed as <Text>{reply.parsed}</Text>
            </p>
          )}
          <Numbers reply={reply} />
          <EvidenceTable probe={probe} reply={reply} entries={results.entries} texts={texts} onShow={onShow} />
          <Life fact={fact} reply={reply} results={results} texts={texts} onShow={onShow} />
          <Recalled probe={probe} reply={reply} entries={results.entries} texts={texts} onShow={onShow} />
          <Prompt probe={probe} reply={reply} results={results} texts={texts} />
        </>
      ) : (
        <p class="muted">This assistant was not asked this probe.</p>
      )}
    </section>
  );
}

function VerdictList({ site, verdicts }) {
  if (verdicts.length === 0) {
    return <p class="muted">No verdict.</p>;
  }
  return (
    <ul class="verdicts">
      {verdicts.map(({ metric, variant, value, reason, judge_reply, judge_reason }) => {
        const known = site.metrics.find(({ name }) => name === metric);
        return (
          <li key={`${metric} ${variant}`}>
            <Outcome outcome={outcomeOf(value, known)} /> {known?.title ?? metric}
            {BY_STATE_PROBES.has(metric) && <span class="muted"> (by state probes)</span>}
            {variant !== "standard" && <span class="muted"> ({variant})</span>}: <strong>{score(value, known, { unit: true })}</strong>
            {reason && <p class="muted">{reason}</p>}
            {judge_reply !== null && (
              <details>
                <summary>Grounds of the judge</summary>
                <blockquote class="reply" tabindex={0}>
                  <Text>{judge_reply}</Text>
                </blockquote>
              </details>
            )}
            {judge_reason && <p class="muted">The reply of the judge is {judge_reason}.</p>}
          </li>
        );
      })}
    </ul>
  );
}

function Numbers({ reply }) {
  const facts = [
    ["Prompt tokens", reply.prompt_tokens],
    ["Reply tokens", reply.completion_tokens],
    ["Thought tokens", reply.thoughts_tokens],
    ["Tokens from memory", reply.injected_tokens],
    ["Tokens dropped", reply.dropped_tokens || null],
    ["Messages dropped", reply.dropped_messages || null],
    ["Attempts", reply.attempts > 1 ? reply.attempts : null],
    ["Seconds", reply.latency_s || null],
  ];
  return (
    <>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== null && value !== undefined)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{Number.isInteger(value) ? value.toLocaleString("en") : amount(value)}</dd>
            </div>
          ))}
      </dl>
      {reply.cut && <p class="failure">The token limit cut the reply.</p>}
      {(reply.recall_failures ?? []).map((reason) => (
        <p key={reason} class="failure">
          Left out of what was recalled: <Text>{reason}</Text>
        </p>
      ))}
    </>
  );
}

function EvidenceTable({ probe, reply, entries, texts, onShow }) {
  if (probe.evidence.length === 0) {
    return null;
  }
  const stored = new Set(entries.filter((entry) => isCurrent(entry, reply.sequence)).flatMap(({ sources }) => sources));
  const recalled = new Set(reply.recalled_sources);
  return (
    <>
      <h3>Evidence</h3>
      <div class="scroll" tabindex={0} role="region" aria-label="Evidence in the memory">
        <table>
          <thead>
            <tr>
              <th scope="col">Message</th>
              <th scope="col">Stored</th>
              <th scope="col">Recalled</th>
            </tr>
          </thead>
          <tbody>
            {probe.evidence.map((id) => (
              <tr key={id}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => onShow(id)}>
                    <Text none={id}>{excerpt(texts.get(id), 70) ?? id}</Text>
                  </button>
                </th>
                <td>{stored.has(id) ? "yes" : "no"}</td>
                <td>{recalled.has(id) ? "yes" : "no"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Life({ fact, reply, results, texts, onShow }) {
  const events = lifeOf(fact, reply, results.messages, results.entries);
  if (events.length === 0) {
    return null;
  }
  return (
    <details open={events.some(({ what }) => what === "taken back")}>
      <summary>Life of the fact in this memory ({events.length.toLocaleString("en")} events)</summary>
      <div class="scroll" tabindex={0} role="region" aria-label="Life of the fact">
        <table>
          <thead>
            <tr>
              <th scope="col">Messages so far</th>
              <th scope="col">Event</th>
              <th scope="col">Message or entry</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {events.slice(0, MORE_ENTRIES).map(({ at, what, id, text, note }) => (
              <tr key={`${what} ${id}`}>
                <td>{at.toLocaleString("en")}</td>
                <th scope="row">{what}</th>
                <td>
                  {texts.has(id) ? (
                    <button type="button" class="link" onClick={() => onShow(id)}>
                      {id}
                    </button>
                  ) : (
                    <code>{id}</code>
                  )}
                </td>
                <td>
                  {text && <Text>{excerpt(text, 160)}</Text>}
                  {note && <p class="muted">{note}</p>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Recalled({ probe, reply, entries, texts, onShow }) {
  const [shown, setShown] = useState(FIRST_ENTRIES);
  const known = new Map(entries.map((entry) => [entry.entry_id, entry]));
  const evidence = new Set(probe.evidence);
  return (
    <>
      <h3>Recalled, best first ({reply.recalled.length.toLocaleString("en")})</h3>
      {reply.recalled.length === 0 && <p class="muted">Nothing was recalled.</p>}
      <ol class="recalled">
        {reply.recalled.slice(0, shown).map((id) => {
          const entry = known.get(id);
          const sources = entry?.sources ?? [];
          return (
            <li key={id} class={sources.some((source) => evidence.has(source)) ? "evidence" : null}>
              <p class="head">
                <span class="tag">{entry?.kind ?? "entry"}</span>
                {sources.some((source) => evidence.has(source)) && <span class="tag evidence">from evidence</span>}
                <code>{id}</code>
              </p>
              <Text scrolls none="(text left out)">{entry?.text}</Text>
              {sources.length > 0 && (
                <p class="sources">
                  from{" "}
                  {sources.slice(0, 6).map((source) => (
                    <button key={source} type="button" class="link" disabled={!texts.has(source)} onClick={() => onShow(source)}>
                      {source}
                    </button>
                  ))}
                  {sources.length > 6 && <span class="muted">and {sources.length - 6} more</span>}
                </p>
              )}
            </li>
          );
        })}
      </ol>
      {reply.recalled.length > shown && (
        <button type="button" class="action" onClick={() => setShown(shown + MORE_ENTRIES)}>
          Show {Math.min(MORE_ENTRIES, reply.recalled.length - shown)} more
        </button>
      )}
    </>
  );
}

function Prompt({ probe, reply, results, texts }) {
  if (!reply.prompt) {
    return <p class="muted">The prompt is not shown: {reply.prompt_reason}.</p>;
  }
  const marks = probe.evidence.map((id) => texts.get(id)).filter((text) => text?.length >= SHORTEST_MARK);
  return (
    <>
      <h3>Prompt as sent</h3>
      {reply.prompt.map(([role, number], i) => (
        <details key={i} class="prompt" open={i === reply.prompt.length - 1}>
          <summary>
            {role} <span class="muted">{contentLength(results.contents[number]).toLocaleString("en")} characters</span>
          </summary>
          <Content content={results.contents[number]} marks={marks} />
        </details>
      ))}
    </>
  );
}

function Content({ content, marks }) {
  if (typeof content === "string") {
    return <Text scrolls marks={marks}>{content}</Text>;
  }
  const [head, omitted, tail] = content;
  return (
    <>
      <Text scrolls marks={marks}>{head}</Text>
      <p class="muted">… {omitted.toLocaleString("en")} characters left out …</p>
      <Text scrolls marks={marks}>{tail}</Text>
    </>
  );
}

function contentLength(content) {
  return typeof content === "string" ? content.length : content[0].length + content[1] + content[2].length;
}

function isCurrent({ since, until }, sequence) {
  return sequence === null || (since <= sequence && (until === null || sequence < until));
}

function asJson(assistant, probe, { replies, verdicts, contents }) {
  const { prompt, ...reply } = replies[probe.probe] ?? {};
  return {
    assistant,
    probe,
    reply: { ...reply, prompt: prompt?.map(([role, number]) => ({ role, content: contents[number] })) ?? null },
    verdicts: verdicts[probe.probe] ?? [],
  };
}
