// Paired differences of assistants to a baseline, and the probes on which two assistants differ.

/**
 * Return a comparison as seen from the baseline `a`: `{...row, other, difference, low, high, value, valueBaseline, ..}`.
 *
 * A row of the data has each two assistants once, in either order; the difference here is always other minus baseline.
 */
export function orient(row, a) {
  if (row.b === a) {
    return {
      ...row,
      other: row.a,
      value: row.value_a,
      valueBaseline: row.value_b,
      onlyOther: row.unpaired_a,
      onlyBaseline: row.unpaired_b,
      better: row.better && (row.better === "a" ? "other" : "baseline"),
    };
  }
  const negative = (value) => (value === null ? null : -value);
  return {
    ...row,
    other: row.b,
    value: row.value_b,
    valueBaseline: row.value_a,
    difference: negative(row.difference),
    low: negative(row.high),
    high: negative(row.low),
    onlyOther: row.unpaired_b,
    onlyBaseline: row.unpaired_a,
    better: row.better && (row.better === "b" ? "other" : "baseline"),
  };
}

/**
 * Return the probes on which two assistants' values differ: `[{probe, episode, checkpoint, before, after, change}]`.
 *
 * `change` is positive where the other assistant is better; probes without a value for both are left out.
 */
export function flips(verdicts, metric, variant, baseline, other) {
  const sides = [baseline, other].map((assistant) => valuesOf(verdicts, assistant, metric.name, variant));
  const sign = metric.direction === "lower" ? -1 : 1;
  const value = verdicts.column("value");
  const checkpoint = verdicts.column("checkpoint");
  const found = [];
  for (const [probe, row] of sides[0]) {
    const match = sides[1].get(probe);
    if (match !== undefined && value[row] !== value[match]) {
      found.push({
        probe,
        episode: verdicts.text("episode", row),
        checkpoint: checkpoint[row],
        before: value[row],
        after: value[match],
        change: sign * (value[match] - value[row]),
      });
    }
  }
  return found.sort((x, y) => Math.abs(y.change) - Math.abs(x.change));
}

function valuesOf(verdicts, assistant, metric, variant) {
  const wanted = Object.entries({ assistant, metric, variant }).map(([name, text]) => {
    const { values, codes } = verdicts.column(name);
    return { codes, code: values.indexOf(text) };
  });
  const value = verdicts.column("value");
  const rows = new Map();
  for (let row = 0; row < verdicts.length; row++) {
    if (wanted.every(({ codes, code }) => codes[row] === code) && !Number.isNaN(value[row])) {
      rows.set(verdicts.text("probe", row), row);
    }
  }
  return rows;
}
