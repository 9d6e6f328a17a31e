// SPDX-License-Identifier: Apache-2.0
// The same command over more and more threads, processes or nodes.

import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import type { Quantity, Scalability as Data, ScalabilityPoint } from '../data/contract';
import { fixed, integer, percent, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Amount, Empty, PageHead, Panel } from '../parts/parts';
import { EfficiencyMatrix } from './EfficiencyMatrix';
import { resultLinks } from './links';
import { Notes } from './Notes';
import { coresOf, curvesOverCores, isFlat, timesOverSetting } from './settings';
import { type MadeColumn, madeView, objectColumns, quantityColumns } from './table';

/** Fractions of 1 are shown in per cent. */
function inPercent(quantity: Quantity | null | undefined): Quantity | null {
    if (!quantity) return null;
    const times = (value: number | null): number | null => (value === null ? null : 100 * value);
    return {
        ...quantity,
        value: times(quantity.value),
        low: times(quantity.low),
        high: times(quantity.high),
    };
}

function remarks(point: ScalabilityPoint, reference: boolean): string {
    const all = [];
    if (reference) all.push('reference');
    if (point.failed) all.push(`${point.failed} failed`);
    if (point.oversubscribed) all.push('more threads than CPUs');
    return all.length ? ` (${all.join(', ')})` : '';
}

function values(quantities: (Quantity | null | undefined)[]): (number | null)[] {
    return quantities.map(quantity => quantity?.value ?? null);
}

export function Scalability() {
    const { scalability } = useReport().doc;
    if (!scalability || !scalability.points?.length)
        return (
            <>
                <PageHead title="Scalability" />
                <Empty>
                    This experiment was not run at several sizes. Scalability mode runs the same
                    command over threads, processes, nodes or other settings.
                </Empty>
            </>
        );
    return <Known data={scalability} />;
}

/** One curve, and what it would be at best. */
function chartsOfOne(data: Data) {
    const cores = data.points.map(coresOf);
    const least = cores[0] ?? 1;
    const speedup: Series[] = [
        { label: 'measured', values: values(data.points.map(point => point.speedup)) },
        { label: 'ideal', values: cores.map(n => n / least), kind: 'ideal' },
    ];
    const efficiency: Series[] = [
        {
            label: 'measured',
            values: values(data.points.map(point => inPercent(point.efficiency))),
        },
        { label: 'ideal', values: cores.map(() => 100), kind: 'ideal' },
    ];
    return { speedup: { x: cores, series: speedup }, efficiency: { x: cores, series: efficiency } };
}

function Charts({ data }: { data: Data }) {
    const { speedup, efficiency } = useMemo(
        () =>
            data.varied?.length
                ? {
                      speedup: curvesOverCores(data, point => point.speedup),
                      efficiency: curvesOverCores(data, point => inPercent(point.efficiency)),
                  }
                : chartsOfOne(data),
        [data],
    );
    return (
        <div class="columns even">
            {data.mode === 'strong' && (
                <Panel title="Speed-up">
                    <Chart
                        label="Speed-up over cores"
                        xLabel="threads in all processes"
                        yLabel="speed-up"
                        x={speedup.x}
                        series={speedup.series}
                        format={(value, decimals = 1) => `${fixed(value, decimals)}×`}
                    />
                </Panel>
            )}
            <Panel title="Efficiency">
                <Chart
                    label="Efficiency over cores"
                    xLabel="threads in all processes"
                    yLabel="efficiency"
                    x={efficiency.x}
                    series={efficiency.series}
                    format={(value, decimals) =>
                        decimals === undefined ? percent(value) : `${fixed(value, decimals)} %`
                    }
                />
            </Panel>
        </div>
    );
}

/** Settings of which no two are alike: their times, where they can be drawn over something. */
function SettingChart({ data }: { data: Data }) {
    const curves = useMemo(() => timesOverSetting(data), [data]);
    if (!curves) return null;
    const name = data.varied?.[0] ?? '';
    return (
        <Panel title="Wall time">
            <Chart
                label={`Wall time over ${name}`}
                xLabel={name}
                yLabel="wall time"
                x={curves.x}
                series={curves.series}
                format={value => seconds(value)}
            />
        </Panel>
    );
}

function noteOf(data: Data): string {
    if (isFlat(data)) return 'The same command with other settings, compared with the reference.';
    if (data.mode === 'weak')
        return (
            'Weak scaling: the problem grows with the machine; efficiency is the ' +
            'time at the reference over the time here.'
        );
    return 'Strong scaling: the same problem on more cores.';
}

function Known({ data }: { data: Data }) {
    const { points, mode } = data;
    const varied = data.varied ?? [];
    const flat = isFlat(data);
    return (
        <>
            <PageHead title="Scalability" note={noteOf(data)} />
            {flat ? <SettingChart data={data} /> : <Charts data={data} />}
            <Notes method={data.method} notes={data.notes} />
            <Panel title="Runs">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">Run</th>
                            {varied.map(name => (
                                <th scope="col" key={name}>
                                    {name}
                                </th>
                            ))}
                            <th scope="col" class="number">
                                Processes
                            </th>
                            <th scope="col" class="number">
                                Threads each
                            </th>
                            <th scope="col" class="number">
                                Repeats
                            </th>
                            <th scope="col" class="number">
                                Wall time
                            </th>
                            {mode === 'strong' && (
                                <th scope="col" class="number">
                                    Speed-up
                                </th>
                            )}
                            {!flat && (
                                <th scope="col" class="number">
                                    Efficiency
                                </th>
                            )}
                        </tr>
                    </thead>
                    <tbody>
                        {points.map(point => (
                            <tr key={point.run_id}>
                                <th scope="row">
                                    {point.label}
                                    <span class="muted">
                                        {remarks(point, point.run_id === data.reference_run)}
                                    </span>
                                </th>
                                {varied.map(name => (
                                    <td key={name}>{point.settings?.[name] ?? '–'}</td>
                                ))}
                                <td class="number">{integer(point.processes)}</td>
                                <td class="number">
                                    {point.threads === null ? '–' : integer(point.threads)}
                                </td>
                                <td class="number">{integer(point.repeats)}</td>
                                <td class="number">
                                    <Amount quantity={point.wall_s} unit="s" />
                                </td>
                                {mode === 'strong' && (
                                    <td class="number">
                                        <Amount quantity={point.speedup} unit="x" />
                                    </td>
                                )}
                                {!flat && (
                                    <td class="number">
                                        <Amount quantity={inPercent(point.efficiency)} unit="%" />
                                    </td>
                                )}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Panel>
            {!flat && (
                <Panel title="Efficiency of categories, functions and loops">
                    <EfficiencyMatrix data={data} />
                </Panel>
            )}
            <Panel title="Times">
                <Times data={data} />
            </Panel>
        </>
    );
}

function Times({ data }: { data: Data }) {
    const rows = useMemo(() => {
        const columns: MadeColumn[] = objectColumns(data.rows);
        data.points.forEach((point, i) =>
            columns.push(
                ...quantityColumns(
                    `time_${point.run_id}`,
                    point.label,
                    's',
                    `Time at ${point.label}; ${seconds(point.wall_s?.value ?? 0)} wall time`,
                    data.rows.map(row => row.time_s[i]),
                ),
            ),
        );
        return madeView('times', 'Times', columns);
    }, [data]);
    return (
        <Grid
            rows={rows}
            name="times"
            label="Times"
            sort={`time_${data.points[0]?.run_id}`}
            groupBy={['object']}
            linkOf={resultLinks(data.rows)}
        />
    );
}
