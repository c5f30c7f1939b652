// Parts as a stacked bar. Negative parts are left of zero, positive ones right.

const WIDTH = 160;
const HEIGHT = 14;

/** `parts`: `[{label, value, text}]`; `most`: the sum of sizes that fills the bar; `signed`: zero is in the middle. */
export function StackedBar({ parts, most, signed = false }) {
  const zero = signed ? WIDTH / 2 : 0;
  const scale = most > 0 ? (WIDTH - zero) / most : 0;
  const ends = { negative: zero, positive: zero };
  return (
    <svg class="stacked" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {parts.map(({ label, value, text }, i) => {
        const width = Math.abs(value ?? 0) * scale;
        const x = value < 0 ? (ends.negative -= width) : ends.positive;
        ends.positive += value > 0 ? width : 0;
        return width > 0 ? (
          <rect key={label} class={`part-${i + 1}`} x={x} y={1} width={width} height={HEIGHT - 2}>
            <title>{`${label} ${text}`}</title>
          </rect>
        ) : null;
      })}
      <line class="zero" x1={zero} x2={zero} y1={0} y2={HEIGHT} />
    </svg>
  );
}

/** What the colors of the parts stand for. */
export function StackedKey({ labels }) {
  return (
    <p class="key">
      {labels.map((label, i) => (
        <span key={label}>
          <svg width={12} height={12} aria-hidden="true">
            <rect class={`part-${i + 1}`} width={12} height={12} />
          </svg>{" "}
          {label}
        </span>
      ))}
    </p>
  );
}
