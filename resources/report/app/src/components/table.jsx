// A table whose columns sort, with a caption and numbers aligned.

import { NONE } from "../format.js";

/**
 * A sortable table.
 *
 * `columns`: `[{key, label, title, value(row), cell(row), numeric, head, wide}]`. `value` sorts; `cell` is what is shown;
 * `head` makes the cell the row's header; without `value` the column does not sort.
 * `rows`, or `groups`: `[{label, rows}]`, each sorted on its own.
 * `sort`: "key" or "-key" for descending; `onSort(sort)` stores it. Null values come last in either order.
 */
export function Table({ caption, columns, rows, groups = [{ rows }], sort, onSort, rowKey, rowClass }) {
  const key = sort?.replace(/^-/, "");
  const descending = sort?.startsWith("-");
  return (
    <Scroll caption={caption}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={column.numeric ? "number" : null}
                aria-sort={column.key === key ? (descending ? "descending" : "ascending") : null}
              >
                {column.value && onSort ? (
                  <button type="button" title={column.title} onClick={() => onSort(nextSort(column, sort))}>
                    {column.label}
                    <span class="arrow" aria-hidden="true">
                      {column.key === key ? (descending ? "▼" : "▲") : ""}
                    </span>
                  </button>
                ) : (
                  <span title={column.title}>{column.label}</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        {groups
          .filter((group) => group.rows.length > 0)
          .map((group, i) => (
            <tbody key={group.label ?? i}>
              {group.label && (
                <tr class="group">
                  <th scope="rowgroup" colspan={columns.length}>
                    {group.label}
                  </th>
                </tr>
              )}
              {sortRows(columns, group.rows, sort).map((row, j) => (
                <Row key={rowKey ? rowKey(row) : j} columns={columns} row={row} kind={rowClass?.(row)} />
              ))}
            </tbody>
          ))}
      </table>
    </Scroll>
  );
}

/** A frame that scrolls what is wider than the page, below a caption that does not scroll. */
export function Scroll({ caption, children }) {
  return (
    <>
      <p class="caption" aria-hidden="true">
        {caption}
      </p>
      <div class="scroll" tabindex={0} role="region" aria-label={caption}>
        {children}
      </div>
    </>
  );
}

function Row({ columns, row, kind }) {
  return (
    <tr class={kind}>
      {columns.map((column) => {
        const Cell = column.head ? "th" : "td";
        return (
          <Cell
            key={column.key}
            scope={column.head ? "row" : null}
            class={[column.numeric && "number", column.class].filter(Boolean).join(" ") || null}
          >
            {column.cell ? column.cell(row) : (column.value(row) ?? NONE)}
          </Cell>
        );
      })}
    </tr>
  );
}

/** Return rows in the order of `sort`. The order of equal rows stays. */
export function sortRows(columns, rows, sort) {
  const column = columns.find(({ key }) => key === sort?.replace(/^-/, ""));
  if (!column?.value) {
    return rows;
  }
  const factor = sort.startsWith("-") ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (isMissing(x) || isMissing(y)) {
      return isMissing(x) - isMissing(y);
    }
    return factor * (typeof x === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x - y);
  });
}

function nextSort(column, sort) {
  const first = column.descending ? `-${column.key}` : column.key;
  const second = column.descending ? column.key : `-${column.key}`;
  return sort === first ? second : first;
}

function isMissing(value) {
  return value === null || value === undefined || Number.isNaN(value);
}
