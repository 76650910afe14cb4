// A table; on a narrow screen each row becomes a block of named values. The column `lead` stands
// above the others there, without its name.
import type { ReactNode } from "react";

export interface Column<Row> {
  name: string;
  value(row: Row): ReactNode;
  end?: boolean; // at the right, as figures are
  lead?: boolean;
  unnamed?: boolean; // buttons
}

export function DataTable<Row>(props: {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey(row: Row): string;
}) {
  return (
    <div className="table-scroll">
      <table className="table" aria-label={props.label}>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.name} scope="col" className={column.end ? "end" : undefined}>
                {column.unnamed ? <span className="unseen">{column.name}</span> : column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowKey(row)}>
              {props.columns.map((column) => <Cell key={column.name} column={column} value={column.value(row)} />)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, value }: { column: Column<Row>; value: ReactNode }) {
  const isEmpty = value === undefined || value === null || value === false || value === "";
  const names = [column.end && "end", column.lead && "lead", isEmpty && "blank"].filter(Boolean);
  return (
    <td data-label={column.unnamed ? undefined : column.name} className={names.join(" ") || undefined}>
      <div>{value}</div>
    </td>
  );
}
