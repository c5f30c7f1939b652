// Look-ups in the site's description, and the parameters that several pages share.

const BASELINES = ["none", "previous", "oracle"];
const CHECKPOINT_SLICE = /^(?:period|cycle|checkpoint) (\d+)$/;

/** Whether an assistant is a bound (no memory, the previous episodes' memory, the gold evidence) and not a memory system. */
export function isBaseline(site, assistant) {
  return BASELINES.includes(site.assistants.find(({ name }) => name === assistant)?.memory ?? assistant);
}

/** Whether a scripted chat contributed to everything that a page with these parameters shows. */
export function isScripted(site, { domain, assistant }) {
  const names = findDomain(site, domain)?.scripted;
  if (!names) {
    return site.scripted;
  }
  return assistant ? names.includes(assistant) : names.length === findDomain(site, domain).assistants.length;
}

/** Return the parameters of a link with the report's names of models; `models` has them by those of the settings. */
export function withModelNames(params, models) {
  const rename = (text, [name, shown]) => text.replaceAll(`@${name}"`, `@${shown}"`);
  return JSON.parse(Object.entries(models).reduce(rename, JSON.stringify(params)));
}

export function findDomain(site, name) {
  return site.domains.find((domain) => domain.name === name);
}

export function findMetric(site, name) {
  return site.metrics.find((metric) => metric.name === name) ?? { name, title: name };
}

/** Failure rates have two attributions: by evidence, which leads, and AMemGym's by state probes. */
const FAILURES = ["write_failure", "read_failure", "utilization_failure"];

/** Return the variant of a metric to show unless another is chosen: failures by evidence, other metrics as defined. */
export function leadingVariant(metric, variants) {
  return chosen(FAILURES.includes(metric) ? "by_evidence" : "standard", variants);
}

/** Return the name of a variant: the standard one of failure rates is by state probes. */
export function variantLabel(metric, variant) {
  return FAILURES.includes(metric) ? { standard: "by state probes", by_evidence: "by evidence" }[variant] ?? variant : variant;
}

/** Return the title of a metric, with the attribution of failure rates. */
export function metricTitle(metric, variant) {
  return FAILURES.includes(metric.name) ? `${metric.title} ${variantLabel(metric.name, variant)}` : metric.title;
}

/** Return the domain's first metric that ranks assistants. */
export function primaryMetric(site, domain) {
  return domain.metrics.find((name) => findMetric(site, name).direction) ?? domain.metrics[0];
}

/** Return a domain's title; the name distinguishes domains of one title. */
export function domainTitle(site, domain) {
  const same = site.domains.filter(({ title }) => title === domain.title).length;
  return same > 1 ? `${domain.title} (${domain.name})` : domain.title;
}

/** Return options of all domains, grouped by benchmark. */
export function domainOptions(site) {
  const groups = new Map();
  for (const domain of site.domains) {
    groups.set(domain.benchmark, [...(groups.get(domain.benchmark) ?? []), domain]);
  }
  return [...groups].map(([group, domains]) => ({
    group,
    options: domains.map((domain) => ({ value: domain.name, label: domainTitle(site, domain) })),
  }));
}

/** Return options of a domain's metrics that occur in the rows: primary metrics first. */
export function metricOptions(site, domain, rows) {
  const present = new Set(rows.map(({ metric }) => metric));
  const named = domain.metrics.filter((name) => present.has(name));
  const others = [...present].filter((name) => !named.includes(name));
  const metrics = [...named, ...others].map((name) => findMetric(site, name));
  const option = ({ name, title }) => ({ value: name, label: title });
  const primary = metrics.filter(({ name }) => domain.primary.includes(name));
  const rest = metrics.filter(({ name }) => !domain.primary.includes(name));
  return [
    { group: "Primary", options: primary.map(option) },
    { group: "Others", options: rest.map(option) },
  ].filter(({ options }) => options.length > 0);
}

/** Return options of names as they are. */
export function plainOptions(names) {
  return names.map((name) => ({ value: name, label: name }));
}

/** Return the first of the values, or the chosen one if it is among them. */
export function chosen(value, values) {
  return values.includes(value) ? value : values[0];
}

/** Return the number of the checkpoint that a slice consists of, or null. */
export function checkpointOf(slice) {
  const match = slice.match(CHECKPOINT_SLICE);
  return match ? Number(match[1]) : null;
}

/** Return the values of a field in the order of the rows, each once; those of `first` come first. */
export function distinct(rows, field, first = []) {
  const present = new Set(rows.map((row) => row[field]));
  return [...new Set([...first.filter((each) => present.has(each)), ...present])];
}

/** Return the slices of the rows: `all`, then those of the domain in its order, then others. */
export function slicesOf(domain, rows) {
  return distinct(rows, "slice", ["all", ...domain.slices]);
}

/** Compare two values of a metric: negative if `a` is better. Missing values come last. */
export function byBetter(metric, a, b) {
  const missing = (value) => value === null || value === undefined;
  if (missing(a) || missing(b)) {
    return missing(a) - missing(b);
  }
  return metric.direction === "lower" ? a - b : b - a;
}
