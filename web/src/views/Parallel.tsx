// SPDX-License-Identifier: Apache-2.0
// How the run worked in parallel, from its trace.

import { useMemo } from 'preact/hooks';
import { Chart, type Series } from '../chart/Chart';
import { useReport } from '../context';
import { type Parallel as Data, type TraceSizes, lineOf } from '../data/parallel';
import { bytes, counted, integer, percent, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Empty, Facts, PageHead, Panel, POP_LEGEND } from '../parts/parts';
import { Efficiency } from './Efficiency';
import { Phases, TraceGains } from './Phases';
import { TraceCounters } from './TraceCounters';
import { TraceMatrix } from './TraceMatrix';
import { ThreadTimeline } from './ThreadTimeline';
import { lateRows, offRows, sampleRows, sizeName, threadRows, waitRows } from './trace_tables';

const GROUP = 'efficiency';

export function Parallel() {
    const { parallel, run_id } = useReport().doc;
    if (!parallel)
        return (
            <>
                <PageHead title="Parallel" />
                <Empty>This run was not traced: assay run --trace, or assay trace.</Empty>
            </>
        );
    return <Known data={parallel} runId={run_id} />;
}

function factsOf({ trace }: Data): [string, string][] {
    const cost =
        trace.record_ns === null
            ? 'not known'
            : `${percent((100 * trace.cost_most_s) / trace.elapsed_s)} of the thread with most ` +
              `(computed: ${trace.record_ns.toFixed(0)} ns an event on this machine)`;
    const lost = trace.lost_n + trace.damaged_n;
    const lonely = trace.sends_n + trace.receives_n + trace.unmet_n;
    return [
        ['Elapsed', seconds(trace.elapsed_s)],
        ['Threads', integer(trace.location_n)],
        ['Ranks', trace.rank_n ? integer(trace.rank_n) : ''],
        ['Events', integer(trace.events_n)],
        ['Cost of writing records', cost],
        [
            'Cost of points of functions',
            trace.points_s === null
                ? ''
                : `${seconds(trace.points_s)} of all threads together (measured)`,
        ],
        ['Messages matched', trace.matched_n ? integer(trace.matched_n) : ''],
        ['Without a partner', lonely ? integer(lonely) : ''],
        ['Lost or damaged', lost ? integer(lost) : ''],
    ];
}

function Known({ data, runId }: { data: Data; runId: number }) {
    const { doc } = useReport();
    const metrics = doc.metrics.filter(metric => metric.group === GROUP);
    const threads = useMemo(() => threadRows(data), [data]);
    const waits = useMemo(() => waitRows(data), [data]);
    const late = useMemo(() => lateRows(data), [data]);
    const offs = useMemo(() => offRows(data.offs), [data]);
    const samples = useMemo(() => sampleRows(data.samples), [data]);
    const line = useMemo(() => lineOf(data), [data]);
    const { trace, locations, phases = [], gains = [] } = data;
    return (
        <>
            <PageHead
                title="Parallel"
                note={
                    trace.traced_run_id === runId
                        ? 'Activity of threads over time, and wait states with their causes.'
                        : 'Activity of threads over time, and wait states with their causes. ' +
                          `Traced in run ${trace.traced_run_id} of the same command.`
                }
            />
            <Panel title="The trace">
                <Facts facts={factsOf(data)} />
                <Partial />
            </Panel>
            {metrics.length > 0 && (
                <Panel
                    title="Efficiency"
                    note={
                        'Useful is what is neither communication nor waiting nor having no work. ' +
                        POP_LEGEND
                    }
                >
                    <Efficiency metrics={metrics} />
                </Panel>
            )}
            {gains.length > 0 && <TraceGains gains={gains} />}
            {phases.length > 0 && <Phases phases={phases} />}
            <Panel
                title="Over time"
                note={
                    locations.length < trace.location_n
                        ? `The first ${locations.length} of ${integer(trace.location_n)} threads.`
                        : undefined
                }
            >
                <ThreadTimeline line={line} />
            </Panel>
            {data.offs.length > 0 && (
                <Panel
                    title="Not recorded"
                    note={
                        'Hatched above. Nothing is known of these times: they are neither ' +
                        'computing nor waiting.'
                    }
                >
                    <Grid rows={offs} name="off" label="When nothing was recorded" sort={null} />
                </Panel>
            )}
            <Panel title="Seconds of each">
                <Grid rows={threads} name="traced" label="Seconds of each thread" sort={null} />
            </Panel>
            {data.samples.length > 0 && (
                <Panel
                    title="Activity by samples"
                    note="Samples among the events of each thread, the most frequent of each state."
                >
                    <Grid
                        rows={samples}
                        name="sampled"
                        label="Samples of each thread"
                        sort="time_s"
                    />
                </Panel>
            )}
            <Panel
                title="Waiting"
                note={
                    'By kind and call, summed over all threads. A call that sends and receives ' +
                    'may wait for both, and then counts in both rows.'
                }
            >
                {data.waits.length ? (
                    <Grid rows={waits} name="waiting" label="Wait states" sort="time_s" />
                ) : (
                    <Empty>No wait states were found.</Empty>
                )}
            </Panel>
            {data.counters.length > 0 && (
                <Panel title="Counters">
                    <TraceCounters counters={data.counters} trace={trace} />
                </Panel>
            )}
            {data.late.length > 0 && (
                <Panel
                    title="Root causes of waiting"
                    note={
                        'Costs go to the first cause: a delay by waiting passes them on. ' +
                        'Elapsed is the maximum gain of the run without that delay.'
                    }
                >
                    <Grid rows={late} name="late" label="Delay costs" sort="total_s" />
                </Panel>
            )}
            {data.messages.length > 0 && (
                <Panel title="Messages between ranks">
                    <TraceMatrix messages={data.messages} />
                </Panel>
            )}
            {data.sizes.length > 0 && <Sizes sizes={data.sizes} />}
        </>
    );
}

/** Parts of the run that are missing in its trace. */
function Partial() {
    const flags = useReport().doc.flags.filter(({ name }) => name.startsWith('trace_'));
    if (!flags.length) return null;
    return (
        <>
            <h3>Not all of the run is in it</h3>
            <ul class="flags">
                {flags.map(({ name, text, n }) => (
                    <li key={name}>
                        {text}
                        {n !== null && n > 1 && <span class="muted"> ({integer(n)})</span>}
                    </li>
                ))}
            </ul>
        </>
    );
}

function Sizes({ sizes }: { sizes: TraceSizes[] }) {
    const series = useMemo<Series[]>(
        () => [{ label: 'messages', values: sizes.map(one => one.n), kind: 'bars' }],
        [sizes],
    );
    const x = useMemo(() => sizes.map((_, i) => i), [sizes]);
    return (
        <Panel title="Sizes of messages">
            <Chart
                label={`Messages of ${counted(sizes.length, 'size')}`}
                xLabel="bytes, from"
                yLabel="messages"
                x={x}
                series={series}
                height={200}
                legend={false}
                format={integer}
                xFormat={at => (sizes[at] ? sizeName(sizes[at]) : '')}
                xTicks={at => (sizes[at] ? bytes(sizes[at].from_b) : '')}
            />
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">Size</th>
                        <th scope="col" class="number">
                            Messages
                        </th>
                        <th scope="col" class="number">
                            Together
                        </th>
                        <th scope="col" class="number">
                            Receivers waited
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {sizes.map(one => (
                        <tr key={one.from_b}>
                            <th scope="row">{sizeName(one)}</th>
                            <td class="number">{integer(one.n)}</td>
                            <td class="number">{bytes(one.size_b)}</td>
                            <td class="number">{seconds(one.wait_s)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </Panel>
    );
}
