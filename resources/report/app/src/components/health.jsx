// The badge of a faulty or suspect memory, which stands beside its name wherever its score stands.

import { Tag } from "./tag.jsx";

const CONSEQUENCES = {
  faulty: "The memory is faulty, so it is not measured",
  suspect: "The memory is suspect: its scores may be those of a fault",
};

/** `health`: `{state, statement}`, or null. Nothing for other states. */
export function HealthTag({ health }) {
  const consequence = CONSEQUENCES[health?.state];
  return consequence ? (
    <Tag kind={health.state === "faulty" ? "bad" : "warn"} text={`${consequence}: ${health.statement}.`}>
      {health.state}
    </Tag>
  ) : null;
}

/** The same within a button, without an explanation that opens. */
export function HealthLabel({ health }) {
  return CONSEQUENCES[health?.state] ? (
    <span class={`tag ${health.state === "faulty" ? "bad" : "warn"}`} title={health.statement}>
      {health.state}
    </span>
  ) : null;
}

/** In place of a score that has no value, with the reason. */
export function NoValue({ row }) {
  return row.health === "faulty" ? (
    <Tag kind="bad" text={row.reason}>
      not measured
    </Tag>
  ) : (
    <Tag text={row.reason ?? "The score has no value."}>no value</Tag>
  );
}

/** Return the health of an assistant in a domain of the site, or of a row of scores, as `HealthTag` takes it. */
export function healthOf(domain, assistant) {
  return domain.health?.[assistant] ?? null;
}

export function healthOfRow({ health: state, health_reason: statement }) {
  return { state, statement };
}
