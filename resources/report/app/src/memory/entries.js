// The entries of a memory at a moment, and what changed between two moments. Moments are sequence numbers.

/** Return the entries that are current at a moment: `since <= moment < until`. */
export function entriesAt(entries, moment) {
  return entries.filter(({ since, until }) => since <= moment && (until === null || moment < until));
}

/**
 * Return how the memory at one moment differs from an earlier one.
 *
 * Returns `{added, retired, changed: [{entry, former}], kept}`. An entry is changed if a former version of it was current.
 */
export function difference(entries, from, to) {
  const known = new Map(entries.map((entry) => [entry.entry_id, entry]));
  const before = new Set(entriesAt(entries, from));
  const now = entriesAt(entries, to);
  const replaced = new Set();
  const found = { added: [], retired: [], changed: [], kept: [] };
  for (const entry of now) {
    if (before.has(entry)) {
      found.kept.push(entry);
      continue;
    }
    const former = formerVersion(known, entry, before);
    if (former) {
      replaced.add(former);
      found.changed.push({ entry, former });
    } else {
      found.added.push(entry);
    }
  }
  const current = new Set(now);
  found.retired = [...before].filter((entry) => !current.has(entry) && !replaced.has(entry));
  return found;
}

/** Return the next version of each entry, by the entry's id. */
export function successors(entries) {
  return new Map(entries.filter(({ previous }) => previous !== null).map((entry) => [entry.previous, entry]));
}

/** Return the checkpoint whose probes were asked last at a moment, or null before the first. */
export function checkpointAt(checkpoints, moment) {
  const past = Object.entries(checkpoints).filter(([, sequence]) => sequence <= moment);
  return past.length ? Math.max(...past.map(([checkpoint]) => Number(checkpoint))) : null;
}

function formerVersion(known, entry, before) {
  const seen = new Set([entry]);
  for (let each = known.get(entry.previous); each && !seen.has(each); each = known.get(each.previous)) {
    if (before.has(each)) {
      return each;
    }
    seen.add(each);
  }
  return null;
}
