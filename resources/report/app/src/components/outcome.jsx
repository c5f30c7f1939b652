// The outcome of a verdict as a small mark with a text alternative. Shape and color both tell it.

const SIGNS = { right: "✓", wrong: "✗", partial: "◐", none: "–" };

export function Outcome({ outcome, name, quiet }) {
  return (
    <span class={`outcome ${outcome}`} title={name ? `${name}: ${outcome}` : outcome}>
      <span aria-hidden="true">{SIGNS[outcome]}</span>
      {!quiet && <span class="visually-hidden">{outcome}</span>}
    </span>
  );
}

/** The outcomes of all assistants for a probe. `results`: a Map of `{outcome}` by assistant. */
export function Outcomes({ assistants, results }) {
  const groups = Object.keys(SIGNS)
    .map((outcome) => [outcome, assistants.filter((name) => results.get(name)?.outcome === outcome)])
    .filter(([, names]) => names.length);
  return (
    <span class="outcomes">
      {assistants.map((name) => (
        <Outcome key={name} quiet name={name} outcome={results.get(name)?.outcome ?? "none"} />
      ))}
      <span class="visually-hidden">{groups.map(([outcome, names]) => `${outcome}: ${names.join(", ")}`).join("; ")}</span>
    </span>
  );
}
