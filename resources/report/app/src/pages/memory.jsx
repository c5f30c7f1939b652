// What a memory held: its entries at a moment, the difference of two moments, and the user's states beside it.

import { useMemo } from "preact/hooks";
import { Search, Select } from "../components/fields.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Text, TextDiff } from "../components/text.jsx";
import { Windowed } from "../components/windowed.jsx";
import { load, loadEpisode, loadResults } from "../data.js";
import { count } from "../format.js";
import { checkpointAt, difference, entriesAt, successors } from "../memory/entries.js";
import { States } from "../memory/states.jsx";
import { href } from "../route.js";
import { visible } from "../text.js";

const ENTRY_HEIGHT = 110;
const CHANGES = { added: "added", changed: "changed", retired: "retired" };

export default function Memory({ site, params, go }) {
  const domain = site.domains.find(({ name }) => name === (params.domain ?? site.domains[0]?.name));
  const state = useData(() => domain && load("domains", domain.name), [domain?.name]);
  if (!domain) {
    return <Problem link={{ href: href("memory"), label: "Show the first domain" }}>This report has no domain {params.domain}.</Problem>;
  }
  const stores = domain.assistants.filter((name) => !["none", "oracle"].includes(name));
  const assistant = params.assistant ?? stores[0] ?? domain.assistants[0];
  const set = (changes, options) => go("memory", { ...params, domain: domain.name, assistant, ...changes }, options);
  return (
    <>
      <h1>Memory</h1>
      <Loaded state={state}>
        {({ episodes }) => {
          const episode = params.episode ?? episodes[0]?.episode;
          return (
            <>
              <div class="fields">
                <Select label="Domain" value={domain.name} options={plain(site.domains.map(({ name }) => name))} onChange={(name) => go("memory", { domain: name })} />
                <Select label="Assistant" value={assistant} options={plain(domain.assistants)} onChange={(name) => set({ assistant: name, at: "", from: "", kind: "" })} />
                <Select
                  label="Episode"
                  value={episode}
                  options={episodes.map((each) => ({ value: each.episode, label: visible(each.episode) }))}
                  onChange={(name) => set({ episode: name, at: "", from: "" })}
                />
              </div>
              {episode && <Episode key={`${domain.name} ${assistant} ${episode}`} domain={domain} assistant={assistant} episode={episode} site={site} params={params} set={set} />}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Episode({ site, domain, assistant, episode, params, set }) {
  const state = useData(
    async () => ({ results: await loadResults(domain.name, assistant, episode), given: await loadEpisode(domain.name, episode) }),
    [],
  );
  return (
    <Loaded state={state}>
      {({ results, given }) =>
        results.entries.length === 0 ? (
          <p>The assistant {assistant} stored no entries in this episode.</p>
        ) : (
          <Moments site={site} domain={domain} assistant={assistant} episode={episode} results={results} given={given} params={params} set={set} />
        )
      }
    </Loaded>
  );
}

function Moments({ site, domain, assistant, episode, results, given, params, set }) {
  const { entries, checkpoints, messages } = results;
  const last = Math.max(...messages.map(({ sequence }) => sequence + 1), ...entries.map(({ since }) => since), ...Object.values(checkpoints), 0);
  const at = clamp(params.at ?? last, last);
  const from = params.from === undefined || params.from === "" ? null : clamp(params.from, last);
  const texts = useMemo(() => new Map(messages.map((each) => [each.message_id, each.text])), [messages]);
  const next = useMemo(() => successors(entries), [entries]);
  const byId = useMemo(() => new Map(entries.map((entry) => [entry.entry_id, entry])), [entries]);
  const kinds = useMemo(() => [...new Set(entries.map(({ kind }) => kind))].sort(), [entries]);
  const words = (params.text ?? "").toLocaleLowerCase();
  const rows = useMemo(() => {
    const matches = (entry) => (!params.kind || entry.kind === params.kind) && (!words || (entry.text ?? "").toLocaleLowerCase().includes(words));
    if (from === null) {
      return entriesAt(entries, at).map((entry) => ({ entry })).filter((row) => matches(row.entry));
    }
    const found = difference(entries, from, at);
    return [
      ...found.added.map((entry) => ({ entry, change: "added" })),
      ...found.changed.map((row) => ({ ...row, change: "changed" })),
      ...found.retired.map((entry) => ({ entry, change: "retired" })),
    ].filter((row) => matches(row.entry));
  }, [entries, at, from, params.kind, words]);
  const tallies = Object.keys(CHANGES).map((change) => `${rows.filter((row) => row.change === change).length} ${CHANGES[change]}`);
  const checkpoint = checkpointAt(checkpoints, at);
  const moments = Object.entries(checkpoints).map(([name, sequence]) => ({ value: String(sequence), label: `checkpoint ${name} (${sequence})` }));
  return (
    <>
      <div class="fields moments">
        <label class="field slider">
          <span>
            Moment: after {at} of {count(last, "message")}
            {checkpoint !== null && `, checkpoint ${checkpoint}`}
          </span>
          <input type="range" min={0} max={last} value={at} list="checkpoints" onInput={(event) => set({ at: event.currentTarget.value }, { replace: true })} />
          <datalist id="checkpoints">
            {moments.map(({ value }) => (
              <option key={value} value={value} />
            ))}
          </datalist>
        </label>
        <Select
          label="Checkpoint"
          value={moments.some(({ value }) => value === String(at)) ? String(at) : ""}
          options={[{ value: "", label: "another moment" }, ...moments]}
          onChange={(value) => value && set({ at: value })}
        />
        <Select label="Compare with" value={from === null ? "" : String(from)} options={comparisons(moments, from)} onChange={(value) => set({ from: value })} />
        <Select label="Kind" value={params.kind ?? ""} options={[{ value: "", label: "every kind" }, ...plain(kinds)]} onChange={(kind) => set({ kind })} />
        <Search label="Text in entries" value={params.text ?? ""} onInput={(text) => set({ text }, { replace: true })} />
      </div>
      <div class="beside">
        <section aria-label="Entries">
          <p role="status" class="found">
            <strong>{from === null ? count(rows.length, "entry").replace("entrys", "entries") : tallies.join(", ")}</strong>
            {from === null ? ` of ${entries.length.toLocaleString("en")} ever stored` : ` from moment ${from} to ${at}`}
          </p>
          <Windowed key={`${at} ${from} ${params.kind} ${words}`} label="Entries" count={rows.length} height={ENTRY_HEIGHT}>
            {(i) => <EntryRow row={rows[i]} next={next} byId={byId} texts={texts} words={words} onMoment={(moment) => set({ at: moment, from: "" })} />}
          </Windowed>
        </section>
        <States site={site} domain={domain} assistant={assistant} episode={episode} given={given} results={results} checkpoint={checkpoint} />
      </div>
    </>
  );
}

function EntryRow({ row: { entry, change, former }, next, byId, texts, words, onMoment }) {
  const previous = former ?? byId.get(entry.previous);
  const successor = next.get(entry.entry_id);
  return (
    <article class={`entry ${change ?? ""}`}>
      <p class="head">
        {change && <span class={`tag ${change}`}>{CHANGES[change]}</span>}
        <span class="tag">{entry.kind}</span>
        <code>{entry.entry_id}</code>
        <span class="muted">
          since {entry.since}
          {entry.until !== null && `, retired at ${entry.until}`}
        </span>
      </p>
      {change === "changed" ? <TextDiff before={former.text} after={entry.text} /> : <Text marks={words ? [words] : []} none="(text left out)">{entry.text}</Text>}
      {(entry.sources.length > 0 || previous || successor) && (
        <details>
          <summary>{count(entry.sources.length, "source")}{previous ? ", former version" : ""}{successor ? ", next version" : ""}</summary>
          <ul>
            {entry.sources.slice(0, 50).map((id) => (
              <li key={id}>
                <code>{id}</code> <Text none="(not in this episode)">{texts.get(id)}</Text>
              </li>
            ))}
          </ul>
          {entry.sources.length > 50 && <p class="muted">and {entry.sources.length - 50} more</p>}
          {previous && <Version label="Former version" entry={previous} onMoment={onMoment} />}
          {successor && <Version label="Next version" entry={successor} onMoment={onMoment} />}
        </details>
      )}
    </article>
  );
}

function Version({ label, entry, onMoment }) {
  return (
    <p>
      <button type="button" class="link" onClick={() => onMoment(entry.since)}>
        {label} ({entry.entry_id}, since {entry.since})
      </button>{" "}
      <Text none="(text left out)">{entry.text}</Text>
    </p>
  );
}

function comparisons(moments, from) {
  const known = moments.some(({ value }) => value === String(from));
  const other = from === null || known ? [] : [{ value: String(from), label: `moment ${from}` }];
  return [{ value: "", label: "nothing" }, { value: "0", label: "the beginning (0)" }, ...other.filter(({ value }) => value !== "0"), ...moments.filter(({ value }) => value !== "0")];
}

function clamp(text, last) {
  const number = Number(text);
  return Number.isFinite(number) ? Math.max(0, Math.min(last, Math.round(number))) : last;
}

function plain(names) {
  return names.map((name) => ({ value: name, label: name }));
}
