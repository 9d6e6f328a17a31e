// SPDX-License-Identifier: Apache-2.0
// Origin of the numbers: run, machine, environment, cost of measuring, and caveats.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import { integer, moment, plural, seconds, withUnit, words } from '../format';
import { Grid } from '../grid/Grid';
import { Empty, Facts, PageHead, Panel } from '../parts/parts';
import { FlagsPanel } from './Summary';
import { madeView, textColumn } from './table';
import { ViewGrid } from './ViewGrid';

const UNITS: [RegExp, string][] = [
    [/_s$/, 's'],
    [/_pct$/, '%'],
    [/_b$/, 'B'],
    [/_hz$/, 'Hz'],
];

/** Views that have a place of their own; all others are shown here. */
const PLACED = new Set([
    'functions',
    'loops',
    'lines',
    'modules',
    'categories',
    'processes',
    'threads',
    'runs',
    'hosts',
    'machine',
    'machine_places',
    'machine_findings',
    'flags',
    'waits',
    'late',
    'phases',
    'trace_gains',
    'messages',
    'message_sizes',
    'ranks',
]);

/** A fact by the unit that its name ends in. */
export function factText(name: string, value: string | number | null): string | null {
    if (value === null || value === '') return null;
    if (name.endsWith('_utc')) return moment(String(value));
    if (typeof value === 'string') return value;
    const unit = UNITS.find(([end]) => end.test(name));
    return unit ? withUnit(value, unit[1]) : integer(value);
}

const TITLES: Record<string, string> = {
    cwd: 'Directory',
    start_utc: 'Started',
    wall_s: 'Wall time',
    event: 'Sampled by',
    event_reason: 'Why not a better event',
    rate_hz: 'Sampling rate',
    sampled_time_s: 'Time in threads',
    blocked_time_s: 'Waiting',
    overhead_s: 'Overhead',
    overhead_pct: 'Overhead, of wall time',
    assay_version: 'Measured by assay',
};

/** A word of the database as a reader would say it. */
export function factTitle(name: string): string {
    const known = TITLES[name];
    if (known) return known;
    if (name.endsWith('_n')) return plural(words(name.slice(0, -2)));
    return words(name.replace(/_(s|pct|b|hz|utc)$/, ''));
}

export function Experiment() {
    const report = useReport();
    const { doc } = report;
    const environment = useMemo(
        () =>
            madeView('environment', 'Environment', [
                textColumn(
                    'name',
                    'Variable',
                    doc.environment.map(one => one.name),
                    'code',
                ),
                textColumn(
                    'value',
                    'Value',
                    doc.environment.map(one => one.value),
                    'code',
                ),
            ]),
        [doc],
    );
    const others = doc.views.filter(view => !PLACED.has(view.name) && view.row_n > 0);
    return (
        <>
            <PageHead title="Experiment" note={doc.experiment} />
            <Panel title="Run">
                <Facts
                    facts={Object.entries(doc.run)
                        .filter(([name]) => name !== 'run_id')
                        .map(([name, value]) => [factTitle(name), factText(name, value)])}
                />
            </Panel>
            <FlagsPanel />
            <Panel title="Cost of measuring">
                {doc.overheads.length ? (
                    <table class="plain">
                        <thead>
                            <tr>
                                <th scope="col">Part</th>
                                <th scope="col" class="number">
                                    CPU time
                                </th>
                                <th scope="col" class="number">
                                    Wall time
                                </th>
                                <th scope="col">Origin</th>
                            </tr>
                        </thead>
                        <tbody>
                            {doc.overheads.map(one => (
                                <tr key={one.part}>
                                    <th scope="row">{words(one.part)}</th>
                                    <td class="number">
                                        {one.cpu_s === null ? '–' : seconds(one.cpu_s)}
                                    </td>
                                    <td class="number">
                                        {one.wall_s === null ? '–' : seconds(one.wall_s)}
                                    </td>
                                    <td>{one.origin}</td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                ) : (
                    <Empty>The cost of measuring was not recorded.</Empty>
                )}
            </Panel>
            <Panel title="Hosts">
                <ViewGrid view="hosts" name="hosts" />
            </Panel>
            {report.rows('runs') && (
                <Panel title="Runs">
                    <ViewGrid view="runs" name="runs" />
                </Panel>
            )}
            {others.map(view => (
                <Panel title={view.title} key={view.name}>
                    <ViewGrid view={view.name} name={view.name} />
                </Panel>
            ))}
            <Panel title="Environment">
                {doc.environment.length ? (
                    <Grid rows={environment} name="environment" label="Environment" />
                ) : (
                    <Empty>No variables were kept.</Empty>
                )}
            </Panel>
            <Panel title="This report">
                <Facts
                    facts={[
                        ['Made', doc.made_utc ? moment(doc.made_utc) : null],
                        ['assay', doc.assay],
                        ['Data schema', String(doc.schema)],
                        ['Run', String(doc.run_id)],
                    ]}
                />
            </Panel>
        </>
    );
}
