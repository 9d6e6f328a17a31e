// SPDX-License-Identifier: Apache-2.0
// Activity of the threads of a run over time, by its samples and its records of switches.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import { type OverTime as Data, lineOf, titleOf } from '../data/over_time';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import type { ViewRows } from '../grid/rows';
import { Empty, PageHead, Panel } from '../parts/parts';
import { ThreadTimeline } from './ThreadTimeline';
import { madeView, secondsColumn, textColumn } from './table';

export function OverTime() {
    const { over_time } = useReport().doc;
    if (!over_time)
        return (
            <>
                <PageHead title="Over time" />
                <Empty>Nothing is known of when the threads of this run did what.</Empty>
            </>
        );
    return <Known data={over_time} />;
}

export function threadRows({ threads }: Data): ViewRows {
    return madeView('over_time', 'Threads', [
        textColumn(
            'who',
            'Trace thread',
            threads.map(one => one.label),
        ),
        textColumn(
            'thread_name',
            'Its name',
            threads.map(one => one.name),
        ),
        secondsColumn(
            'cpu_s',
            'running',
            'CPU time by the account of the kernel.',
            threads.map(one => one.cpu_time_s),
            { bar: true },
        ),
        secondsColumn(
            'ready_s',
            titleOf('ready'),
            'Ready to run, but without a CPU.',
            threads.map(one => one.runnable_time_s),
        ),
        secondsColumn(
            'waiting_s',
            titleOf('waiting'),
            'It waited for others: threads, processes, files, time.',
            threads.map(one => one.blocked_time_s),
        ),
    ]);
}

/** Returns the source of the picture. */
function noteOf({ line, threads, timeline }: Data): string {
    const most =
        threads.length < line.thread_n
            ? `The ${integer(threads.length)} of ${integer(line.thread_n)} threads that ran most. `
            : '';
    const hasSwitches = timeline.some(({ name }) => name === 'running' || name === 'waiting');
    return (
        most +
        (hasSwitches
            ? 'By every switch of a thread; what is in the kernel is by samples.'
            : 'By samples: where there are none a thread did not run, or ran too shortly.')
    );
}

function Known({ data }: { data: Data }) {
    const line = useMemo(() => lineOf(data), [data]);
    const threads = useMemo(() => threadRows(data), [data]);
    return (
        <>
            <PageHead title="Over time" note="Activity of each thread over time." />
            <Panel title="Threads" note={noteOf(data)}>
                <ThreadTimeline line={line} />
            </Panel>
            <Panel title="Seconds of each">
                <Grid rows={threads} name="over_time" label="Seconds of each thread" sort={null} />
            </Panel>
        </>
    );
}
