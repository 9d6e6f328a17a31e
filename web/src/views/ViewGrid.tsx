// SPDX-License-Identifier: Apache-2.0
// The table of a view of the document, or the sentence that it is not there.

import { useReport } from '../context';
import { Grid } from '../grid/Grid';
import { Empty } from '../parts/parts';
import { type ViewRows, nestColumn } from '../grid/rows';
import { showsInlined } from './Inlining';
import { lineLinks, objectLinks } from './links';

interface Props {
    view: string;
    name: string; // in the address
    tall?: boolean;
    columns?: readonly string[];
    flat?: boolean; // although its rows are nested
}

export function ViewGrid({ view, name, tall, columns, flat }: Props) {
    const report = useReport();
    const binary = view === 'loops' && !showsInlined();
    const rows = binary
        ? report.binaryRows('loops', flat)
        : flat
          ? report.flatRows(view)
          : report.rows(view);
    if (!rows) return <Empty>{missing(view, report.view(view) !== null)}</Empty>;
    return (
        <Grid
            key={`${binary}`}
            rows={rows}
            name={name}
            label={rows.view.title}
            sort={rows.nested ? nestSort(rows) : rows.view.sort}
            groupBy={rows.view.group_by}
            columns={columns}
            linkOf={view === 'lines' ? lineLinks(report, rows) : objectLinks(rows)}
            tall={tall}
        />
    );
}

/** Returns the column of the first sort. Nested rows are sorted by the time that includes their
 * children. */
function nestSort(rows: ViewRows): string | null {
    const { sort } = rows.view;
    const at = sort ? rows.columnAt(sort) : -1;
    return at < 0 ? sort : rows.columns[nestColumn(rows.columns, at)]!.name;
}

export function missing(view: string, known: boolean): string {
    return known ? `This run has no ${view}.` : `The report has no table of ${view}.`;
}
