// The tables of papers, in their rows and columns: published values, those of this report, and the difference.

import { Select } from "../components/fields.jsx";
import { Loaded, Problem, useData } from "../components/load.jsx";
import { Table } from "../components/table.jsx";
import { load } from "../data.js";
import { href } from "../route.js";
import { chosen } from "../site.js";

export default function Papers({ site, params, go }) {
  const state = useData(async () => (site.files.includes("papers") ? load("papers") : []), []);
  return (
    <>
      <h1>Papers</h1>
      <p class="lead">The tables and figures of papers: what they publish, and what this report has instead.</p>
      <Loaded state={state}>{(tables) => <Tables tables={tables} params={params} go={go} />}</Loaded>
    </>
  );
}

function Tables({ tables, params, go }) {
  const measured = tables.filter(({ rows }) => rows.length > 0);
  const others = tables.filter(({ rows }) => rows.length === 0);
  if (params.table && !tables.some(({ table }) => table === params.table)) {
    return <Problem link={{ href: href("papers"), label: "Show all tables" }}>This report has no table {params.table}.</Problem>;
  }
  const name = chosen(params.table, measured.map(({ table }) => table));
  const shown = measured.find(({ table }) => table === name);
  const options = [...new Set(measured.map(({ paper }) => paper))].map((paper) => ({
    group: paper,
    options: measured.filter((each) => each.paper === paper).map((each) => ({ value: each.table, label: `${each.name}: ${each.title}` })),
  }));
  return (
    <>
      {measured.length === 0 && <p>This report has no results of a table.</p>}
      {shown && (
        <>
          <div class="fields">
            <Select label="Table" value={name} options={options} onChange={(table) => go("papers", { ...params, table })} />
          </div>
          <Measured table={shown} />
        </>
      )}
      {others.length > 0 && <Others tables={others} />}
    </>
  );
}

function Measured({ table }) {
  const cells = table.rows.flatMap((row) => row.cells);
  const texts = [...new Set(cells.flatMap((cell) => [cell.note, ...cell.marks, cell.value === null && cell.domain && cell.reason]).filter(Boolean))];
  const letter = (text) => String.fromCharCode(97 + (texts.indexOf(text) % 26));
  const others = table.models.filter((model) => model !== table.model);
  const columns = [
    { key: "row", label: "", head: true, cell: (row) => row.label },
    ...table.rows[0].cells.map(({ column }, at) => ({
      key: column,
      label: column,
      numeric: true,
      cell: (row) => <Cell cell={row.cells[at]} letter={letter} />,
    })),
  ];
  return (
    <section>
      <h2>
        {table.name}: {table.title}
      </h2>
      <p class="muted">
        {table.source}. Values of {table.model}
        {others.length > 0 && `; the paper's: ${others.join(", ")}`}. {table.note}
      </p>
      <Table
        caption="Of each cell: the published value, the value of this report, and the difference: within or beyond the 95 % interval, or the noise between repeats."
        columns={columns}
        rows={table.rows}
        rowKey={(row) => row.label}
      />
      <ul class="plain">
        {texts.map((text) => (
          <li key={text}>
            {letter(text)}: {text}
          </li>
        ))}
      </ul>
      <p>
        <code>{table.command}</code> runs the table. How the runs differ from the published protocol:{" "}
        {table.domains.map((domain) => (
          <code key={domain}>memflow show deviations {domain}</code>
        ))}
      </p>
    </section>
  );
}

function Cell({ cell, letter }) {
  const digits = cell.published === null ? 3 : (cell.published.split(".")[1] ?? "").length;
  const own = cell.value === null ? (cell.domain && cell.reason && !cell.marks.length ? `none ${letter(cell.reason)}` : "–") : `${cell.value.toFixed(digits)} ${cell.marks.map(letter).join("")}`;
  return (
    <>
      <span class="muted" title={cell.source}>
        {cell.published ?? ""} {cell.note && letter(cell.note)}
      </span>
      <br />
      <strong>{own}</strong>
      {cell.difference !== null && (
        <>
          <br />
          {`${cell.difference < 0 ? "−" : "+"}${Math.abs(cell.difference).toFixed(digits)} ${cell.verdict ?? ""}`}
        </>
      )}
    </>
  );
}

function Others({ tables }) {
  const columns = [
    { key: "table", label: "Table", head: true, cell: (row) => row.table },
    { key: "title", label: "Title", cell: (row) => row.title },
    { key: "command", label: "Command, or why there is none", cell: (row) => (row.command ? <code>{row.command}</code> : row.unavailable) },
  ];
  return (
    <section>
      <h2>Tables without results</h2>
      <Table caption="Tables and figures that this report has no results of." columns={columns} rows={tables} rowKey={(row) => row.table} />
    </section>
  );
}
