// SPDX-License-Identifier: Apache-2.0
// How evenly ranks or threads computed: one bar each, with the mean. The balance is the report's,
// the same as among the metrics and in findings.

import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import { counted, percent, seconds, tickSeconds } from '../format';
import { Empty } from '../parts/parts';
import { loadOf } from './load';

export function LoadHistogram() {
    const report = useReport();
    const threads = report.rows('threads');
    const main = report.doc.balance.find(it => it.is_main);
    const within = report.doc.balance.find(it => !it.is_main);
    const byRank = main?.over === 'ranks';
    const load = useMemo(() => (threads ? loadOf(threads, byRank) : null), [threads, byRank]);
    const mean = main?.mean_s;
    const series = useMemo<Series[]>(() => {
        if (!load) return [];
        const bars: Series[] = [{ label: 'computing', values: load.computing, kind: 'bars' }];
        if (typeof mean === 'number')
            bars.push({ label: 'mean', values: load.computing.map(() => mean), kind: 'ideal' });
        return bars;
    }, [load, mean]);
    const x = useMemo(() => (load ? load.computing.map((_, i) => i) : []), [load]);
    if (!load || !load.computing.length) return <Empty>The report has no threads.</Empty>;
    if (load.computing.length === 1)
        return <Empty>One thread ran: there is no load to share out.</Empty>;
    const what = byRank ? 'rank' : 'thread';
    return (
        <>
            <p class="note">
                {counted(load.computing.length, what)}
                {main && typeof main.balance_pct === 'number' && (
                    <>
                        , mean {seconds(main.mean_s ?? 0)}, longest {seconds(main.max_s ?? 0)}: load
                        balance {percent(main.balance_pct)} (mean over longest)
                        {typeof within?.balance_pct === 'number' &&
                            `, ${percent(within.balance_pct)} among the threads of a rank`}
                    </>
                )}
                . Time in MPI, OpenMP and thread libraries is left out
                {load.idle > 0 && `, and ${counted(load.idle, 'thread')} idle or of launchers`}.
            </p>
            <Chart
                label={`Computing time of ${counted(load.computing.length, what)}`}
                xLabel={what}
                yLabel="computing time"
                x={x}
                series={series}
                height={220}
                format={tickSeconds}
                xFormat={value => load.labels[value] ?? String(value)}
            />
        </>
    );
}
