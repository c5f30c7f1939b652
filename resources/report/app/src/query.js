// The filters of the list of probes as parameters of a link, shared by the list and by the pages of its probes.

import { EVERY_METRIC, PROBE_FACETS, ROW_FACETS } from "./verdicts.js";

const STANDARD = "standard";
export const EVERY_VARIANT = "every";
const NAMES = ["domain", ...ROW_FACETS, ...PROBE_FACETS, "text", "sort"];

/** Return the parameters of the list of probes among `params`, so that a link carries them. */
export function listParams(params) {
  return Object.fromEntries(NAMES.filter((name) => name in params).map((name) => [name, params[name]]));
}

/** Return a parameter as a list. */
export function listOf(value) {
  return value === undefined || value === "" ? [] : [value].flat();
}

/** Return the filter that `params` describe: the variant `standard` unless another or every is chosen. */
export function queryOf(params, verdicts) {
  const query = { text: params.text ?? "", sort: params.sort ?? "id" };
  for (const facet of [...ROW_FACETS, ...PROBE_FACETS]) {
    query[facet] = listOf(params[facet]);
  }
  if (query.variant.length === 0 && verdicts.values.variant.includes(STANDARD)) {
    query.variant = [STANDARD];
  } else if (query.variant.includes(EVERY_VARIANT)) {
    query.variant = [];
  }
  query.slice = query.slice.filter((name) => name !== "all");
  return query;
}

export { EVERY_METRIC };
