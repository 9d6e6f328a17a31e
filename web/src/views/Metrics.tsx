// SPDX-License-Identifier: Apache-2.0
// Every global metric with its definition, and the cumulative gain of fixing loops or functions one
// after the other.

import { useMemo, useState } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import type { Metric, WhatIf } from '../data/contract';
import { counted, fixed, withUnit, words } from '../format';
import { Amount, Empty, Gain, ObjectLink, PageHead, Panel, RatingMark } from '../parts/parts';
import { metricGroups } from './MetricCards';
import { gainSeries } from './gain';

function thresholds(metric: Metric): string {
    if (metric.good === null || metric.fair === null) return '';
    const sign = metric.better === 'lower' ? '≤' : '≥';
    const bound = (value: number): string => `${sign} ${withUnit(value, metric.unit)}`;
    return `good ${bound(metric.good)}, fair ${bound(metric.fair)}`;
}

export function Metrics() {
    const { doc } = useReport();
    return (
        <>
            <PageHead title="Global metrics" />
            <GainPanel whatIfs={doc.what_ifs} />
            {doc.metrics.length ? (
                metricGroups(doc.metrics).map(([group, members]) => (
                    <Panel title={words(group)} key={group}>
                        <table class="plain">
                            <thead>
                                <tr>
                                    <th scope="col">Metric</th>
                                    <th scope="col" class="number">
                                        Value
                                    </th>
                                    <th scope="col">Rating</th>
                                    <th scope="col">Meaning</th>
                                </tr>
                            </thead>
                            <tbody>
                                {members.map(metric => (
                                    <tr key={metric.name}>
                                        <th scope="row">{metric.title}</th>
                                        <td class="number">
                                            <Amount quantity={metric.quantity} unit={metric.unit} />
                                        </td>
                                        <td>
                                            <RatingMark rating={metric.rating} />
                                            <div class="muted small">{thresholds(metric)}</div>
                                        </td>
                                        <td>
                                            {metric.meaning}
                                            {metric.formula && (
                                                <div class="formula">{metric.formula}</div>
                                            )}
                                            <div class="muted small">
                                                Origin: {metric.quantity?.origin ?? 'not known'}
                                            </div>
                                        </td>
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </Panel>
                ))
            ) : (
                <Empty>The report has no global metrics.</Empty>
            )}
        </>
    );
}

function GainPanel({ whatIfs }: { whatIfs: WhatIf[] }) {
    const curves = useMemo(() => gainSeries(whatIfs), [whatIfs]);
    const series: Series[] = useMemo(
        () => curves.series.map(one => ({ label: one.title, values: one.values })),
        [curves],
    );
    const [picked, setPicked] = useState<string | null>(null);
    if (!whatIfs.length)
        return (
            <Panel title="What-ifs">
                <p class="empty">
                    The report has no what-if results: they come with static analysis.
                </p>
            </Panel>
        );
    const chosen = whatIfs.find(one => one.name === picked) ?? whatIfs.find(one => one.id.length);
    return (
        <Panel
            title="What-ifs"
            note={
                'Speed-up of the whole run if the first objects by gain are fixed ' +
                "(Amdahl's law over measured shares). If threads waited for a CPU, " +
                'a thread with less work waits less. ≤: the lower bound is unknown, ' +
                'because the level of the data is unknown.'
            }
        >
            {series.length === 0 && whatIfs.some(one => one.id.length > 0) && (
                <p class="empty">None of what objects could give is worth a curve.</p>
            )}
            {series.length > 0 && (
                <Chart
                    label="Cumulative gain curves"
                    xLabel="fixed objects, by gain"
                    yLabel="speed-up of the run"
                    x={curves.x}
                    series={series}
                    height={300}
                    yFromZero={false}
                    format={(value, decimals = 2) => `${fixed(value, decimals)}×`}
                />
            )}
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">What if</th>
                        <th scope="col" class="number">
                            Speed-up
                        </th>
                        <th scope="col" class="number">
                            Gain
                        </th>
                        <th scope="col" class="number">
                            For 80 % of it
                        </th>
                        <th scope="col">Meaning</th>
                    </tr>
                </thead>
                <tbody>
                    {whatIfs.map(one => (
                        <tr key={one.name}>
                            <th scope="row">
                                {one.id.length ? (
                                    <button
                                        type="button"
                                        class="link"
                                        aria-pressed={one === chosen}
                                        onClick={() => setPicked(one.name)}
                                    >
                                        {one.title}
                                    </button>
                                ) : (
                                    one.title
                                )}
                            </th>
                            <td class="number">
                                <Gain quantity={one.speedup} unit="x" none={1} />
                            </td>
                            <td class="number">
                                <Gain quantity={one.gain_s} unit="s" none={0} />
                            </td>
                            <td class="number">
                                {one.to_80_n === null || !one.id.length
                                    ? '–'
                                    : counted(one.to_80_n, one.object)}
                            </td>
                            <td>{one.meaning}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {chosen && chosen.id.length > 0 && (
                <>
                    <h3>{chosen.title}: where</h3>
                    <ol class="gains">
                        {chosen.id.slice(0, 10).map((id, i) => (
                            <li key={id}>
                                <ObjectLink object={{ kind: chosen.object, id }} />{' '}
                                <span class="muted">
                                    {withUnit(chosen.each_s[i], 's')}, with those before{' '}
                                    {withUnit(chosen.cumulative[i], 'x')}
                                </span>
                            </li>
                        ))}
                    </ol>
                </>
            )}
        </Panel>
    );
}
