// SPDX-License-Identifier: Apache-2.0
// The printed report: the summary, the metrics and the first rows of the main tables. All of it is
// plain markup without scrolling boxes.

import { ReportContext } from '../context';
import type { Report } from '../data/report';
import { cellText } from '../grid/Cell';
import { doubtOf, headerUnit, marginText } from '../grid/cells';
import { sortNodes } from '../grid/order';
import { type Rows, isNumeric } from '../grid/rows';
import { moment } from '../format';
import { Panel } from '../parts/parts';
import { Summary } from './Summary';

const ROWS = 40;
const COLUMNS = 8;

function cellClass(numeric: boolean, inner: boolean): string {
    return (numeric ? 'number' : '') + (inner ? ' inner' : '');
}

function PrintTable({ rows, sort, title }: { rows: Rows; sort: string | null; title: string }) {
    const shown = rows.columns.flatMap((column, at) =>
        column.shown || at === rows.treeColumn ? [at] : [],
    );
    const columns = [rows.treeColumn, ...shown.filter(at => at !== rows.treeColumn)].slice(
        0,
        COLUMNS,
    );
    const by = rows.columns.findIndex(column => column.name === sort);
    const order =
        by < 0 ? rows.roots() : sortNodes(rows, rows.roots(), { column: by, descending: true });
    const lines: { node: number; level: number }[] = [];
    const add = (node: number, level: number): void => {
        if (lines.length >= ROWS) return;
        lines.push({ node, level });
        if (level === 0)
            Array.from(rows.children(node))
                .slice(0, 3)
                .forEach(child => add(child, 1));
    };
    for (let i = 0; i < order.length && lines.length < ROWS; i++) add(order[i]!, 0);
    return (
        <Panel
            title={title}
            note={
                lines.length < rows.count()
                    ? `The first ${lines.length} of ${rows.count()} rows`
                    : null
            }
        >
            <table class="plain print-table">
                <thead>
                    <tr>
                        {columns.map(at => (
                            <th
                                key={at}
                                scope="col"
                                class={isNumeric(rows.columns[at]!) ? 'number' : ''}
                            >
                                {rows.columns[at]!.title} {headerUnit(rows.columns[at]!)}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {lines.map(({ node, level }) => (
                        <tr key={node}>
                            {columns.map((at, i) => {
                                const column = rows.columns[at]!;
                                return (
                                    <td
                                        key={at}
                                        class={cellClass(isNumeric(column), i === 0 && level > 0)}
                                    >
                                        {cellText(rows, node, at)} {marginText(rows, node, at)}
                                        {` ${doubtOf(rows, node, column)?.mark ?? ''}`}
                                    </td>
                                );
                            })}
                        </tr>
                    ))}
                </tbody>
            </table>
        </Panel>
    );
}

export function Print({ report }: { report: Report }) {
    const functions = report.rows('functions');
    const loops = report.rows('loops');
    const modules = report.rows('modules');
    return (
        <ReportContext.Provider value={report}>
            <Summary />
            <p class="note">
                {report.doc.experiment}, report made {moment(report.doc.made_utc)} by assay{' '}
                {report.doc.assay}
            </p>
            {functions && (
                <PrintTable
                    rows={report.nestedLoops() ?? functions}
                    sort={functions.view.sort}
                    title="Functions"
                />
            )}
            {!functions && loops && (
                <PrintTable rows={loops} sort={loops.view.sort} title="Loops" />
            )}
            {modules && <PrintTable rows={modules} sort={modules.view.sort} title="Modules" />}
        </ReportContext.Provider>
    );
}
