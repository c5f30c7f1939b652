// A value and its interval drawn on an axis that a column of cells shares.

const WIDTH = 180;
const HEIGHT = 18;
const MARGIN = 5;

/** Return the shared axis of rows with value, low and high: `[from, to]`. */
export function axisOf(rows, include = []) {
  const ends = rows.flatMap(({ value, low, high }) => [value, low, high]).concat(include).filter(Number.isFinite);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  return ends.length === 0 ? [0, 1] : from === to ? [from - 0.5, to + 0.5] : [from, to];
}

/**
 * A point with its interval. The numbers stand in the cell beside it, so the drawing is hidden from screen readers.
 *
 * `axis`: `[from, to]` in the metric's unit. `references`: values drawn as dashed lines. `zero`: whether a line is at 0. `tone`: a class for the color.
 */
export function Interval({ value, low, high, axis, references = [], zero, tone = "", width = WIDTH }) {
  const [from, to] = axis;
  const x = (at) => MARGIN + ((at - from) / (to - from)) * (width - 2 * MARGIN);
  const middle = HEIGHT / 2;
  return (
    <svg class={`interval ${tone}`} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
      <line class="axis" x1={MARGIN} x2={width - MARGIN} y1={middle} y2={middle} />
      {references.filter(Number.isFinite).map((at) => (
        <line key={at} class="reference" x1={x(at)} x2={x(at)} y1={1} y2={HEIGHT - 1} />
      ))}
      {zero && <line class="zero" x1={x(0)} x2={x(0)} y1={0} y2={HEIGHT} />}
      {Number.isFinite(low) && Number.isFinite(high) && (
        <rect class="range" x={x(low)} y={middle - 3} width={Math.max(1, x(high) - x(low))} height={6} rx={1} />
      )}
      {Number.isFinite(value) && <circle class="point" cx={x(value)} cy={middle} r={4} />}
    </svg>
  );
}

/** The ends of the axis, for the head of the column. */
export function AxisLabels({ axis: [from, to], format, width = WIDTH }) {
  return (
    <span class="axis-labels" style={{ width: `${width}px` }}>
      <span>{format(from)}</span>
      <span>{format(to)}</span>
    </span>
  );
}
