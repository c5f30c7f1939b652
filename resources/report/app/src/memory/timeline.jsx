// The states of a user over the checkpoints: one row per state, one bar per value, with the changes as a table.

import { Table } from "../components/table.jsx";
import { Text } from "../components/text.jsx";
import { visible } from "../text.js";

const ROW = 30;
const LABEL = 250;
const STEP = 128;
const TOP = 24;
const CHARACTER = 6.6;

/** `states`: `[{variable, changes: [{checkpoint, value, old, event}]}]`. `checkpoints`: numbers in order. */
export function Timeline({ states, checkpoints }) {
  const width = LABEL + STEP * checkpoints.length;
  const x = (checkpoint) => LABEL + STEP * checkpoints.indexOf(checkpoint);
  const changes = states.flatMap(({ variable, changes: all }) => all.map((change) => ({ variable, ...change })));
  return (
    <>
      <h3>States over the checkpoints</h3>
      <div class="scroll" tabindex={0} role="region" aria-label="States over the checkpoints">
        <svg class="timeline" role="img" aria-label="Values of each state by checkpoint; the table below lists every change" width={width} height={TOP + ROW * states.length + 4}>
          {checkpoints.map((checkpoint) => (
            <g key={checkpoint}>
              <text class="axis" x={x(checkpoint)} y={14}>
                checkpoint {checkpoint}
              </text>
              <line class="rule" x1={x(checkpoint)} x2={x(checkpoint)} y1={TOP - 4} y2={TOP + ROW * states.length} />
            </g>
          ))}
          {states.map(({ variable, changes: all }, row) => (
            <g key={variable} transform={`translate(0 ${TOP + ROW * row})`}>
              <text class="label" x={0} y={18}>
                {shorten(visible(variable), LABEL - 12)}
              </text>
              {all.map((change, i) => {
                const start = x(change.checkpoint);
                const end = i + 1 < all.length ? x(all[i + 1].checkpoint) : width;
                return (
                  <g key={change.checkpoint}>
                    <title>{visible(`${variable}: ${change.value} from checkpoint ${change.checkpoint}`)}</title>
                    <rect class={i === 0 ? "value" : "value changed"} x={start + 1} y={3} width={Math.max(2, end - start - 3)} height={ROW - 7} rx={3} />
                    <text class="in" x={start + 7} y={18}>
                      {shorten(visible(change.value ?? ""), end - start - 14)}
                    </text>
                  </g>
                );
              })}
            </g>
          ))}
        </svg>
      </div>
      <details>
        <summary>{changes.length} values as a table</summary>
        <Table
          caption="Values and the events that changed them"
          rows={changes.sort((a, b) => a.checkpoint - b.checkpoint)}
          columns={[
            { key: "checkpoint", label: "Checkpoint", numeric: true, cell: ({ checkpoint }) => checkpoint },
            { key: "variable", label: "State", head: true, cell: ({ variable }) => <Text>{variable}</Text> },
            { key: "old", label: "Before", cell: ({ old }) => <Text none="–">{old}</Text> },
            { key: "value", label: "Value", cell: ({ value }) => <Text none="(left out)">{value}</Text> },
            { key: "event", label: "Event", cell: ({ event }) => <Text none="–">{event}</Text> },
          ]}
        />
      </details>
    </>
  );
}

function shorten(text, width) {
  const most = Math.max(1, Math.floor(width / CHARACTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
