// SPDX-License-Identifier: Apache-2.0
// How evenly threads worked: one bar a thread, with the mean.

import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import { percent, seconds } from '../format';
import { Empty } from '../parts/parts';
import { threadLoad } from './load';

export function LoadHistogram() {
    const threads = useReport().rows('threads');
    const load = useMemo(() => (threads ? threadLoad(threads) : null), [threads]);
    const series = useMemo<Series[]>(
        () =>
            load
                ? [
                      { label: 'running', values: load.running, kind: 'bars' },
                      { label: 'mean', values: load.running.map(() => load.mean), kind: 'ideal' },
                  ]
                : [],
        [load],
    );
    const x = useMemo(() => (load ? load.running.map((_, i) => i) : []), [load]);
    if (!load || !load.running.length) return <Empty>The report has no threads.</Empty>;
    if (load.running.length === 1)
        return <Empty>One thread ran: there is no load to share out.</Empty>;
    const balance = load.max > 0 ? (100 * load.mean) / load.max : 100;
    return (
        <>
            <p class="note">
                {load.running.length} threads, mean {seconds(load.mean)}, longest{' '}
                {seconds(load.max)}: load balance {percent(balance)} (mean over longest).
            </p>
            <Chart
                label={`Running time of ${load.running.length} threads`}
                xLabel="thread"
                yLabel="running time"
                x={x}
                series={series}
                height={220}
                format={value => seconds(value)}
                xFormat={value => load.labels[value] ?? String(value)}
            />
        </>
    );
}
