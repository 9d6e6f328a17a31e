// SPDX-License-Identifier: Apache-2.0
// How far to trust what was said of loops: the model against what was measured, estimates against
// counts, what was left out and why, what measuring cost.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import type { Flag } from '../data/contract';
import type { Report } from '../data/report';
import { integer, percent } from '../format';
import { Grid } from '../grid/Grid';
import type { ViewRows } from '../grid/rows';
import { Empty, PageHead, Panel } from '../parts/parts';
import { resultLinks } from './links';
import { MetricCards } from './MetricCards';
import { refusals } from './refusals';
import { FlagsPanel } from './Summary';
import { type MadeColumn, madeView, textColumn } from './table';

const GROUP = 'trust';

/** Returns whether the page has more than caveats; called by the menu, for any data. */
export function hasTrust(report: Report): boolean {
    return !report.isCode && report.doc.metrics.some(metric => metric?.group === GROUP);
}

export function Trust() {
    const report = useReport();
    const metrics = report.doc.metrics.filter(metric => metric.group === GROUP);
    const isModelKnown = metrics.some(metric => metric.name === 'trust_model_pct');
    return (
        <>
            <PageHead title="Trust" note="How far the numbers of this run can be believed." />
            <Panel title="In short">
                {metrics.length ? (
                    <MetricCards metrics={metrics} />
                ) : (
                    <Empty>Nothing is known.</Empty>
                )}
            </Panel>
            <LoopTable
                title="Model against measured"
                note={
                    'Cycles of an iteration by the model, with data in the first level of the ' +
                    'cache, and as measured. If the data fit there (1), both should agree.' +
                    (isModelKnown
                        ? ''
                        : ' They certainly fit in none of these, so a total is missing.')
                }
                only="loop_model_ratio"
                columns={{
                    exclusive_pct: 'Own share',
                    cqa_cycles: 'Model',
                    iteration_cycles: 'Measured',
                    loop_model_ratio: 'Ratio',
                    loop_model_least_ratio: 'At best',
                    loop_fits: 'Fits',
                    instance_stability: 'Stability',
                }}
                sort="exclusive_pct"
            />
            <LoopTable
                title="Estimated against counted"
                note="Iterations estimated from instances drawn by chance, and counted in a run."
                only="loop_trips_error_pct"
                columns={{
                    exclusive_pct: 'Own share',
                    loop_iteration_n: 'Estimated',
                    executed_start_n: 'Counted',
                    loop_trips_error_pct: 'Error',
                }}
                sort="exclusive_pct"
            />
            <RefusedPanel report={report} />
            <FlagsPanel refused={false} />
        </>
    );
}

interface TableProps {
    title: string;
    note: string;
    /** Loops that have a value of this. */
    only: string;
    /** Their titles here, by name. */
    columns: Record<string, string>;
    sort: string;
}

function LoopTable({ title, note, only, columns, sort }: TableProps) {
    const report = useReport();
    const made = useMemo(() => loopTable(report, only, columns), [report]);
    if (!made) return null;
    return (
        <Panel title={title} note={note}>
            <Grid
                rows={made.rows}
                name={only}
                label={title}
                sort={sort}
                linkOf={resultLinks(made.ids.map(id => ({ object: 'loop', id })))}
            />
        </Panel>
    );
}

/** Loops with a value of `only`, and some of their columns. */
export function loopTable(
    report: Report,
    only: string,
    titles: Readonly<Record<string, string>>,
): { rows: ViewRows; ids: number[] } | null {
    const loops = report.rows('loops');
    const at = loops ? loops.columnAt(only) : -1;
    if (!loops || at < 0) return null;
    const nodes: number[] = [];
    for (let row = 0; row < loops.count(); row++)
        if (!Number.isNaN(loops.num(row, at))) nodes.push(row);
    if (!nodes.length) return null;
    const ids = nodes.map(row => loops.id(row));
    const columns = Object.entries(titles).flatMap(([name, title]): MadeColumn[] => {
        const index = loops.columnAt(name);
        if (index < 0) return [];
        const { unit, digits, meaning, origin, better } = loops.columns[index]!;
        const values = nodes.map(row => {
            const value = loops.num(row, index);
            return Number.isNaN(value) ? null : value;
        });
        const kind = name.endsWith('error_pct') ? 'number' : loops.columns[index]!.kind;
        return [{ name, title, unit, kind, digits, meaning, origin, better, shown: true, values }];
    });
    const labels = ids.map(id => report.label({ kind: 'loop', id }, 24));
    return {
        rows: madeView(only, 'Loops', [textColumn('name', 'Loop', labels, 'code'), ...columns]),
        ids,
    };
}

function RefusedPanel({ report }: { report: Report }) {
    const list = useMemo(() => {
        const shareOf = (flag: Flag): number => {
            const rows = report.rows(`${flag.object}s`);
            const row = rows && flag.id !== null ? rows.rowOf(flag.id) : -1;
            if (!rows || row < 0) return 0;
            return rows.num(row, rows.columnAt('exclusive_pct')) || 0;
        };
        return refusals(report.doc.flags, shareOf);
    }, [report]);
    if (!list.length) return null;
    return (
        <Panel title="Left out" note="Share of the run's time in it alone, by samples.">
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">What</th>
                        <th scope="col" class="number">
                            How many
                        </th>
                        <th scope="col" class="number">
                            Share
                        </th>
                        <th scope="col">Why</th>
                    </tr>
                </thead>
                <tbody>
                    {list.map(one => (
                        <tr key={`${one.what} ${one.reason}`}>
                            <th scope="row">{one.what}</th>
                            <td class="number">{integer(one.objects)}</td>
                            <td class="number">{percent(one.share)}</td>
                            <td>{one.reason}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </Panel>
    );
}
