// SPDX-License-Identifier: Apache-2.0
// Counters that threads read while they were traced: one at a time, over time and as a table.

import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../chart/Chart';
import { type TraceCounter, type TraceFacts, counterLines } from '../data/parallel';
import { bytes, integer, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { counterRows } from './trace_tables';

const LINES_MOST = 6;

export function TraceCounters({
    counters,
    trace,
}: {
    counters: readonly TraceCounter[];
    trace: TraceFacts;
}) {
    const names = useMemo(() => [...new Set(counters.map(one => one.name))], [counters]);
    const [name, setName] = useState(names[0]!);
    const readings = useMemo(() => counters.filter(one => one.name === name), [counters, name]);
    const rows = useMemo(() => counterRows(readings), [readings]);
    const lines = useMemo(
        () => counterLines(readings, trace.bin_n, LINES_MOST),
        [readings, trace.bin_n],
    );
    const x = useMemo(
        () => Array.from({ length: trace.bin_n }, (_, i) => (i + 1) * trace.bin_s),
        [trace],
    );
    const format = readings[0]?.unit === 'B' ? bytes : integer;
    return (
        <>
            {names.length > 1 && (
                <label>
                    <span class="tool-label">Counter </span>
                    <select value={name} onChange={event => setName(event.currentTarget.value)}>
                        {names.map(one => (
                            <option key={one} value={one}>
                                {one}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <Chart
                label={`${name} over time; the table below has first, last, least and most`}
                xLabel="time"
                yLabel={name}
                x={x}
                series={lines}
                height={220}
                format={value => format(value)}
                xFormat={value => seconds(value)}
                xFractions
            />
            <Grid rows={rows} name="counted" label={`Readings of ${name}`} sort={null} />
        </>
    );
}
