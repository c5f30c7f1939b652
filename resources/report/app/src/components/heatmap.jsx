// A table whose cells are colored by their values. The value stands in every cell, so color is never alone.

import { Scroll } from "./table.jsx";

/**
 * A heat map.
 *
 * `rows`, `columns`: `[{key, label, href}]`. `cell(row, column)`: `{text, share, href, title, strong}` or null, where
 * `share` is the strength of the color, from 0 to 1, or from -1 to 1 where `diverging`.
 */
export function HeatMap({ caption, corner, rows, columns, cell }) {
  return (
    <Scroll caption={caption}>
      <table class="heat">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map((column) => (
              <th key={column.key} scope="col" class="number">
                <Label {...column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} class={row.class}>
              <th scope="row">
                <Label {...row} />
              </th>
              {columns.map((column) => (
                <Cell key={column.key} {...cell(row, column)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Label({ label, href, tags }) {
  return (
    <>
      {href ? <a href={href}>{breakable(label)}</a> : breakable(label)}
      {tags}
    </>
  );
}

// A name may break after the characters that join its words.
function breakable(label) {
  return label.split(/(?<=[_@~])/).flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]));
}

function Cell({ text, share, href, title, strong }) {
  if (text === undefined) {
    return <td class="number muted">–</td>;
  }
  const shade = Number.isFinite(share)
    ? `color-mix(in oklab, var(--heat-${share < 0 ? "low" : "high"}) ${Math.round(Math.abs(share) * 100)}%, var(--page))`
    : undefined;
  const content = strong ? <strong>{text}</strong> : text;
  return (
    <td class="number" style={{ background: shade }} title={title}>
      {href ? <a href={href}>{content}</a> : content}
    </td>
  );
}
