// The result of a domain in sentences: who leads, by how much, whether beyond the noise, and on which terms.

import { count, score } from "../format.js";
import { byBetter, isBaseline } from "../site.js";

/** Return who leads among rows of one domain, metric and slice, or what is missing for it, and who is not measured. */
export function leaderSentence(site, metric, rows) {
  const faulty = rows.filter(({ health }) => health === "faulty").map(({ assistant }) => assistant);
  const unmeasured = faulty.length > 0 ? ` Faulty, so not measured: ${faulty.join(", ")}.` : "";
  const systems = rows
    .filter(({ assistant, value }) => !isBaseline(site, assistant) && value !== null)
    .sort((a, b) => byBetter(metric, a.value, b.value));
  if (!metric.direction || systems.length === 0) {
    return unmeasured.trim() || null;
  }
  const [best] = systems;
  const unit = metric.percent ? "\u00a0%" : "";
  const equal = systems.filter(({ value }) => value === best.value);
  const next = systems[equal.length];
  const names = `${best.assistant}${best.health === "suspect" ? " (suspect)" : ""}`;
  const interval = best.low === null ? "" : ` (${score(best.low, metric)} to ${score(best.high, metric)})`;
  const leads =
    equal.length > 1
      ? `${names} and ${count(equal.length - 1, "other")} lead with ${score(best.value, metric)}${unit}${interval}`
      : `${names} leads with ${score(best.value, metric)}${unit}${interval}`;
  const margin = next ? `, ${score(Math.abs(best.value - next.value), metric)}${metric.percent ? " points" : ""} better than ${next.assistant}` : "";
  return `${leads}${margin}.${noise(best, systems, equal)}${unmeasured}`;
}

function noise(best, systems, equal) {
  if (systems.length === 1) {
    return "";
  }
  if (best.rank_low === null || best.rank_low === undefined) {
    return " There are too few episodes to tell the difference from noise.";
  }
  const open = systems.filter(({ rank_low: low }) => low === 1).length;
  return open > equal.length ? ` That is within the noise: ${count(open, "assistant")} cannot be told apart.` : open > 1 ? "" : " That is beyond the noise.";
}

/** Return which memory recalls most evidence with its own parameters, by the rows of a domain's measured retrieval. */
export function retrievalSentence(rows) {
  const recalls = rows
    .map(({ assistant, scores }) => ({ assistant, ...scores.find(({ metric, k }) => metric === "own_recall" && k === null) }))
    .filter(({ value }) => value !== null && value !== undefined)
    .sort((a, b) => b.value - a.value);
  if (recalls.length === 0) {
    return null;
  }
  const [best, next] = recalls;
  const interval = best.low === null ? "" : ` (${best.low.toFixed(2)} to ${best.high.toFixed(2)})`;
  const margin = next ? `, ${(best.value - next.value).toFixed(3)} better than ${next.assistant}` : "";
  const overlap = next && best.low !== null && next.high !== null && next.high >= best.low ? " Their intervals overlap." : "";
  return `${best.assistant} recalls ${best.value.toFixed(3)}${interval} of the evidence${margin}.${overlap}`;
}

/** Return on which terms a domain was measured: models, judges, the name of the domain and its profile. */
export function terms(site, domain) {
  const used = site.assistants.filter(({ name, model }) => model && domain.assistants.includes(name)).map(({ model }) => model);
  const parts = [named("model", used), named("judge", domain.judges ?? []), `domain ${domain.name}`, domain.profile && `profile ${domain.profile}`];
  return `Terms: ${parts.filter(Boolean).join(", ")}.`;
}

function named(what, names) {
  const all = [...new Set(names)];
  return all.length > 0 && `${what}${all.length > 1 ? "s" : ""} ${all.join(" and ")}`;
}
