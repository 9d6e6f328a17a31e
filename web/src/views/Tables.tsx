// SPDX-License-Identifier: Apache-2.0
// Pages that are one table: functions with their loops, loops, lines, and all that is known of
// loops.

import { useReport } from '../context';
import { Grid } from '../grid/Grid';
import { servingColumns } from '../grid/rows';
import { Choice, Empty, PageHead } from '../parts/parts';
import { route, setParams } from '../route';
import { InlinedChoice, showsInlined } from './Inlining';
import { objectLinks } from './links';
import { ViewGrid, missing } from './ViewGrid';

export function Functions() {
    const report = useReport();
    const inlined = showsInlined();
    const nested = report.nestedLoops(inlined);
    const functions = inlined ? report.rows('functions') : report.binaryRows('functions');
    const rows = nested ?? functions;
    return (
        <div class="tall-page">
            <PageHead
                title="Functions"
                note={
                    nested && !report.isCode
                        ? 'Each function with its loops; times are summed over threads.'
                        : functions?.view.meaning
                }
            >
                <InlinedChoice />
            </PageHead>
            {rows && functions ? (
                <Grid
                    key={`${inlined}`}
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

const SHAPES = [
    { value: 'flat', text: 'Flat' },
    { value: 'nested', text: 'Nested' },
] as const;

export function Loops() {
    const report = useReport();
    const nested = route.value.params['shape'] === 'nested';
    return (
        <div class="tall-page">
            <PageHead title="Loops" note={report.view('loops')?.meaning}>
                <Choice
                    label="Shape of the table"
                    options={SHAPES}
                    value={nested ? 'nested' : 'flat'}
                    onChange={value =>
                        setParams({ shape: value === 'flat' ? undefined : value, open: undefined })
                    }
                />
                <InlinedChoice />
            </PageHead>
            <ViewGrid view="loops" name="" flat={!nested} tall />
        </div>
    );
}

export function Lines() {
    return <TablePage view="lines" title="Source lines" />;
}

export function Expert() {
    const report = useReport();
    const rows = report.rows('loops');
    const all = rows?.columns ?? [];
    const serving = servingColumns(all);
    // Numbers are what an expert comes for: of names the function alone, and nothing that is empty.
    const columns = all
        .filter(
            (column, at) =>
                !serving.has(column.name) &&
                column.kind !== 'id' &&
                (column.kind !== 'code' || column.name === 'function') &&
                rows?.hasValues(at),
        )
        .map(column => column.name);
    return (
        <div class="tall-page">
            <PageHead
                title="Expert: all metrics of all loops"
                note="Values that rest on few samples are marked with “?”."
            />
            <ViewGrid view="loops" name="" columns={columns} flat tall />
        </div>
    );
}
