// A short label of what limits a score, with its explanation.

import { Term } from "./term.jsx";

export function Tag({ kind, children, text }) {
  return (
    <span class={`tag ${kind ?? ""}`}>
      <Term text={text}>{children}</Term>
    </span>
  );
}

/** Labels of a domain: a sample, or incomplete. */
export function DomainTags({ domain }) {
  const { sample, incomplete = [] } = domain;
  return (
    <>
      {sample && (
        <Tag kind="warn" text="Only the first users or samples of the domain were run. The scores are not those of the whole.">
          sample of {sample.limit}
          {sample.size ? ` of ${sample.size}` : ""} {domain.unit ? plural(domain.unit) : ""}
        </Tag>
      )}
      {incomplete.length > 0 && (
        <Tag kind="warn" text={incomplete.join("; ")}>
          incomplete
        </Tag>
      )}
    </>
  );
}

function plural(unit) {
  return unit.endsWith("s") ? unit : `${unit}s`;
}
