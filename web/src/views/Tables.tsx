// SPDX-License-Identifier: Apache-2.0
// Pages that are one table: functions with their loops, loops, lines, and all that is known of
// loops.

import { useReport } from '../context';
import { Grid } from '../grid/Grid';
import { Empty, PageHead } from '../parts/parts';
import { objectLinks } from './links';
import { ViewGrid, missing } from './ViewGrid';

export function Functions() {
    const report = useReport();
    const nested = report.nestedLoops();
    const functions = report.rows('functions');
    const rows = nested ?? functions;
    return (
        <div class="tall-page">
            <PageHead
                title="Functions"
                note={
                    nested
                        ? 'Each function with its loops; times are summed over threads.'
                        : functions?.view.meaning
                }
            />
            {rows && functions ? (
                <Grid
                    rows={rows}
                    name=""
                    label="Functions"
                    sort={functions.view.sort}
                    groupBy={functions.view.group_by}
                    linkOf={objectLinks(rows)}
                    tall
                />
            ) : (
                <Empty>{missing('functions', report.view('functions') !== null)}</Empty>
            )}
        </div>
    );
}

function TablePage({ view, title }: { view: string; title: string }) {
    const report = useReport();
    return (
        <div class="tall-page">
            <PageHead title={title} note={report.view(view)?.meaning} />
            <ViewGrid view={view} name="" tall />
        </div>
    );
}

export function Loops() {
    return <TablePage view="loops" title="Loops" />;
}

export function Lines() {
    return <TablePage view="lines" title="Source lines" />;
}

export function Expert() {
    const report = useReport();
    const backing = new Set(
        report.view('loops')?.columns.flatMap(column => [column.low, column.high, column.doubt]),
    );
    const columns = report
        .view('loops')
        ?.columns.filter(column => !backing.has(column.name))
        .map(column => column.name);
    return (
        <div class="tall-page">
            <PageHead
                title="Expert: all metrics of all loops"
                note="Values that rest on few samples are marked with “?”."
            />
            <ViewGrid view="loops" name="" columns={columns} tall />
        </div>
    );
}
