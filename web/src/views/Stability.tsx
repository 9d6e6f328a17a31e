// SPDX-License-Identifier: Apache-2.0
// The same command many times: how much its time varies, and where.

import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import type { Stability as Data } from '../data/contract';
import { integer, percent, seconds, tickSeconds } from '../format';
import { Grid } from '../grid/Grid';
import { Amount, Empty, Facts, PageHead, Panel } from '../parts/parts';
import { resultLinks } from './links';
import { Notes } from './Notes';
import { type MadeColumn, madeView, objectColumns } from './table';

export function Stability() {
    const { stability } = useReport().doc;
    if (!stability)
        return (
            <>
                <PageHead title="Stability" />
                <Empty>
                    This experiment was run once. Stability mode repeats it and shows the spread.
                </Empty>
            </>
        );
    return <Known data={stability} />;
}

/** Wall times that fall in two groups, with how many each has. */
function levels(data: Data): string | null {
    if (!data.levels?.length) return null;
    return data.levels.map(level => `${seconds(level.mean_s)} (${level.n})`).join(', ');
}

function Known({ data }: { data: Data }) {
    const { wall_s: wall, outliers } = data;
    const deviation = (100 * wall.deviation) / wall.mean;
    const x = useMemo(() => wall.all.map((_, i) => i + 1), [wall]);
    const series = useMemo<Series[]>(
        () => [
            { label: 'wall time', values: wall.all, kind: 'bars' },
            { label: 'median', values: wall.all.map(() => wall.median), kind: 'ideal' },
        ],
        [wall],
    );
    const rows = useMemo(() => {
        const number = (
            name: string,
            title: string,
            unit: string,
            values: (number | null)[],
            meaning: string,
        ): MadeColumn => ({
            name,
            title,
            unit,
            values,
            meaning,
            kind: 'number',
            shown: true,
            origin: 'measured',
        });
        return madeView('rows', 'Spread', [
            ...objectColumns(data.rows),
            number(
                'min_s',
                'Minimum',
                's',
                data.rows.map(row => row.min_s),
                'Least time of all repetitions',
            ),
            number(
                'median_s',
                'Median',
                's',
                data.rows.map(row => row.median_s),
                'Median time of all repetitions',
            ),
            number(
                'max_s',
                'Maximum',
                's',
                data.rows.map(row => row.max_s),
                'Most time of all repetitions',
            ),
            number(
                'deviation_pct',
                'Deviation',
                '%',
                data.rows.map(row => row.deviation_pct),
                'Standard deviation over the mean',
            ),
        ]);
    }, [data]);
    return (
        <>
            <PageHead title="Stability" />
            <Facts
                facts={[
                    ['Repetitions', integer(data.repeats)],
                    ['Failed', data.failed ? integer(data.failed) : null],
                    ['Warm-up', data.warm_up ? integer(data.warm_up) : null],
                    ['Minimum', seconds(wall.min)],
                    ['Median', seconds(wall.median)],
                    ['Mean', seconds(wall.mean)],
                    ['Maximum', seconds(wall.max)],
                    [
                        'Deviation',
                        wall.mean > 0 ? `${seconds(wall.deviation)} (${percent(deviation)})` : null,
                    ],
                    [
                        'Drift, run to run',
                        data.drift_pct ? <Amount quantity={data.drift_pct} unit="%" /> : null,
                    ],
                    ['Levels', levels(data)],
                ]}
            />
            <Notes method={data.method} notes={data.notes} />
            <Panel title="Wall time of each repetition">
                <Chart
                    label="Wall time of each repetition"
                    xLabel="repetition"
                    yLabel="wall time"
                    x={x}
                    series={series}
                    format={tickSeconds}
                />
                {outliers.length > 0 && (
                    <ul class="flags">
                        {outliers.map(one => (
                            <li key={one.run_id}>
                                Run {one.run_id}, {seconds(one.wall_s)}: {one.text}
                            </li>
                        ))}
                    </ul>
                )}
            </Panel>
            <Panel title="Spread of functions and loops">
                <Grid
                    rows={rows}
                    name="spread"
                    label="Spread"
                    sort="median_s"
                    groupBy={['object']}
                    linkOf={resultLinks(data.rows)}
                />
            </Panel>
        </>
    );
}
