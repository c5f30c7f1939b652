// A line for each assistant, told apart by color, symbol and a label at the line's end.

import { dot, initializer, line, text } from "@observablehq/plot";
import { Chart } from "./chart.jsx";

const COLORS = 8;
const LABEL_GAP = 14;

/**
 * Lines of points `{x, value, assistant}` for the assistants of `names`.
 *
 * `scale` multiplies the values; `x` and `y` are options of Plot's scales.
 */
export function Series({ label, names, points, scale = 1, x, y, children }) {
  const options = (width) => {
    const color = (name) => `var(--series-${(names.indexOf(name) % COLORS) + 1})`;
    const height = Math.max(280, Math.min(420, width * 0.45));
    const value = (point) => point.value * scale;
    return {
      height,
      marginLeft: 44,
      marginRight: Math.min(width * 0.45, 18 + 7.4 * Math.max(...names.map((name) => name.length))),
      marginBottom: 38,
      x: { grid: true, ...x },
      y: { grid: true, nice: true, ...y },
      symbol: { domain: names },
      marks: [
        line(points, { x: "x", y: value, z: "assistant", stroke: ({ assistant }) => color(assistant), strokeWidth: 1.75 }),
        dot(points, {
          x: "x",
          y: value,
          symbol: "assistant",
          fill: "var(--page)",
          stroke: ({ assistant }) => color(assistant),
          r: 4,
          channels: { assistant: "assistant" },
          tip: { fill: "var(--page)", format: { stroke: false, fill: false, symbol: false } },
        }),
        text(
          lastPoints(points),
          initializer(
            {
              x: "x",
              y: value,
              dx: 9,
              text: "assistant",
              textAnchor: "start",
              fill: ({ assistant }) => color(assistant),
              fontWeight: 500,
            },
            spreadLabels,
          ),
        ),
      ],
    };
  };
  return (
    <Chart label={label} keys={[points]} options={options}>
      {children}
    </Chart>
  );
}

function lastPoints(points) {
  const last = new Map();
  for (const point of points) {
    if (!last.has(point.assistant) || last.get(point.assistant).x <= point.x) {
      last.set(point.assistant, point);
    }
  }
  return [...last.values()];
}

// Move labels down until each has room below the one above, then back up from the lower end.
function spreadLabels(data, facets, { y: { value, scale } }, scales, { height, marginBottom }) {
  const places = Array.from(value, scales[scale]);
  const order = Array.from(places.keys()).sort((a, b) => places[a] - places[b]);
  for (let i = 1; i < order.length; i++) {
    places[order[i]] = Math.max(places[order[i]], places[order[i - 1]] + LABEL_GAP);
  }
  let limit = height - marginBottom;
  for (const i of order.reverse()) {
    places[i] = Math.min(places[i], limit);
    limit = places[i] - LABEL_GAP;
  }
  return { data, facets, channels: { y: { value: places } } };
}
