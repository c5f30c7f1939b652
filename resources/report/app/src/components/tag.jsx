// A short label of what limits a score, with its explanation.

import { isScripted } from "../site.js";
import { Term } from "./term.jsx";

export function Tag({ kind, children, text }) {
  return (
    <span class={`tag ${kind ?? ""}`}>
      <Term text={text}>{children}</Term>
    </span>
  );
}

export const SCRIPTED =
  "A scripted chat answered, not a language model. The scores show that everything runs; they say nothing about memory systems.";

/** Labels of a domain: a sample, incomplete, or scripted in the `site` where not all is. */
export function DomainTags({ domain, site }) {
  const { sample, incomplete = [] } = domain;
  return (
    <>
      {site && !site.scripted && isScripted(site, { domain: domain.name }) && (
        <Tag kind="warn" text={SCRIPTED}>
          scripted chat
        </Tag>
      )}
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
