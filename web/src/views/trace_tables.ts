// SPDX-License-Identifier: Apache-2.0
// The tables of the page Parallel, made of what the trace says.

import {
    type Parallel,
    type TraceCounter,
    type TraceOff,
    type TracePhase,
    type TraceSample,
    type TraceSizes,
    placeOf,
} from '../data/parallel';
import { bytes } from '../format';
import type { ViewRows } from '../grid/rows';
import { type MadeColumn, madeView, secondsColumn, textColumn } from './table';

function countColumn(name: string, title: string, meaning: string, values: number[]): MadeColumn {
    return {
        name,
        title,
        meaning,
        values,
        kind: 'integer',
        unit: '1',
        shown: true,
        group: 'count',
    };
}

/** Seconds of each thread: a column a state, whichever there are. */
export function threadRows({ locations, states }: Parallel): ViewRows {
    const titles = new Map(states.map(one => [one.name, one.title]));
    const time = new Map(states.map(one => [`${one.number} ${one.name}`, one.time_s]));
    return madeView(
        'traced',
        'Threads',
        [
            textColumn(
                'who',
                'Trace thread',
                locations.map(one => one.location),
            ),
            ...[...titles].map(([name, title]) =>
                secondsColumn(
                    `${name}_s`,
                    title,
                    `Time in this state: ${title}, waiting in it included.`,
                    locations.map(one => time.get(`${one.number} ${name}`) ?? 0),
                ),
            ),
            secondsColumn(
                'waiting_s',
                'waiting',
                'Time in wait states; overlapping ones count once.',
                locations.map(one => one.waiting_s),
                { bar: true },
            ),
            secondsColumn(
                'mpi_transfer_s',
                'transfer',
                'Of MPI: calls that start or complete a transfer, without waiting.',
                locations.map(one => one.mpi_transfer_s ?? 0),
            ),
            secondsColumn(
                'mpi_overhead_s',
                'overhead',
                'Of MPI: neither waiting nor transfer.',
                locations.map(one => one.mpi_overhead_s ?? 0),
            ),
            secondsColumn(
                'late_s',
                'makes others wait',
                'While anybody waited for it.',
                locations.map(one => one.late_s),
                { bar: true },
            ),
            secondsColumn(
                'path_s',
                'critical path',
                'Its part of the critical path.',
                locations.map(one => one.path_s),
                { bar: true },
            ),
        ],
        'number',
    );
}

/** Readings of one counter. */
export function counterRows(readings: readonly TraceCounter[]): ViewRows {
    const unit = readings[0]?.unit ?? '1';
    const values = (name: 'first' | 'last' | 'least' | 'most', meaning: string): MadeColumn => ({
        ...countColumn(
            name,
            name,
            meaning,
            readings.map(one => one[name]),
        ),
        unit,
        bar: name === 'most',
    });
    return madeView(
        'counted',
        'Counter',
        [
            textColumn(
                'who',
                'Trace thread',
                readings.map(one => one.location),
            ),
            values('first', 'First value.'),
            values('last', 'Last value.'),
            values('least', 'Minimum.'),
            values('most', 'Maximum.'),
            countColumn(
                'n',
                'readings',
                'Number of readings.',
                readings.map(one => one.n),
            ),
        ],
        null,
    );
}

/** Returns the table of activity by samples. */
export function sampleRows(samples: readonly TraceSample[]): ViewRows {
    const share = 'Share of the samples of the thread in that state.';
    return madeView(
        'sampled',
        'Sampled',
        [
            textColumn(
                'who',
                'Trace thread',
                samples.map(one => one.location),
            ),
            textColumn(
                'state',
                'State',
                samples.map(one => one.title ?? one.name),
            ),
            textColumn(
                'function',
                'Function',
                samples.map(one => one.function ?? one.module),
            ),
            textColumn(
                'place',
                'At',
                samples.map(one => placeOf({ ...one, function: null })),
            ),
            textColumn(
                'caller',
                'Called by',
                samples.map(one => one.caller),
            ),
            textColumn(
                'routine',
                'In',
                samples.map(one => one.routine),
            ),
            secondsColumn(
                'time_s',
                'Time',
                'CPU time that these samples stand for.',
                samples.map(one => one.time_s),
                { bar: true, origin: 'sampled' },
            ),
            secondsColumn(
                'share_pct',
                'Share',
                share,
                samples.map(one => one.share_pct),
                { unit: '%', digits: 1, group: 'share', origin: 'sampled' },
            ),
            countColumn(
                'n',
                'Samples',
                'Fewer than ten say little.',
                samples.map(one => one.n),
            ),
        ],
        null,
    );
}

/** When nothing was recorded. */
export function offRows(offs: readonly TraceOff[]): ViewRows {
    return madeView(
        'off',
        'Not recorded',
        [
            textColumn(
                'who',
                'Trace thread',
                offs.map(one => one.location),
            ),
            secondsColumn(
                'begin_s',
                'From',
                'Since the beginning of the trace.',
                offs.map(one => one.begin_s),
            ),
            secondsColumn(
                'end_s',
                'To',
                'Since the beginning of the trace.',
                offs.map(one => one.end_s),
            ),
            secondsColumn(
                'off_s',
                'Not recorded',
                'Time in between in which nothing was recorded.',
                offs.map(one => one.off_s),
                { bar: true },
            ),
            countColumn(
                'n',
                'Times',
                'How often it was switched off in between.',
                offs.map(one => one.n),
            ),
            textColumn(
                'reason',
                'Why',
                offs.map(one => one.reason),
            ),
        ],
        null,
    );
}

export function waitRows({ waits }: Parallel): ViewRows {
    return madeView(
        'waiting',
        'Waiting',
        [
            textColumn(
                'title',
                'Wait state',
                waits.map(one => one.title),
            ),
            textColumn(
                'routine',
                'In',
                waits.map(one => one.routine),
                'code',
            ),
            textColumn('place', 'Called at', waits.map(placeOf), 'code'),
            secondsColumn(
                'time_s',
                'Time',
                'Sum over all threads.',
                waits.map(one => one.time_s),
                { bar: true },
            ),
            secondsColumn(
                'longest_s',
                'Longest',
                'Longest single wait.',
                waits.map(one => one.longest_s),
            ),
            countColumn(
                'n',
                'Times',
                'Waits.',
                waits.map(one => one.n),
            ),
            countColumn(
                'location_n',
                'Threads',
                'That waited so.',
                waits.map(one => one.location_n),
            ),
            textColumn(
                'location',
                'Most of it',
                waits.map(one => one.location),
            ),
        ],
        'time_s',
    );
}

export function lateRows({ late }: Parallel): ViewRows {
    return madeView(
        'late',
        'Delay costs',
        [
            textColumn(
                'who',
                'Trace thread',
                late.map(one => one.location),
            ),
            textColumn(
                'routine',
                'To',
                late.map(one => one.routine),
                'code',
            ),
            textColumn('place', 'Called at', late.map(placeOf), 'code'),
            secondsColumn(
                'total_s',
                'Delay cost',
                'Waiting that it explains: for it, and for those that it made late.',
                late.map(one => one.total_s),
                { bar: true },
            ),
            secondsColumn(
                'direct_s',
                'Direct delay',
                'Waiting that it caused directly.',
                late.map(one => one.direct_s),
            ),
            secondsColumn(
                'elapsed_s',
                'Elapsed',
                'Time in which anybody waited for it: what the run gains at most.',
                late.map(one => one.elapsed_s),
            ),
            countColumn(
                'n',
                'Waits',
                'Number of waits that it caused.',
                late.map(one => one.n),
            ),
        ],
        'total_s',
    );
}

function shareColumn(
    name: string,
    title: string,
    meaning: string,
    values: (number | null)[],
): MadeColumn {
    return {
        name,
        title,
        meaning,
        values,
        kind: 'number',
        digits: 1,
        unit: '%',
        shown: true,
        group: 'share',
    };
}

function iterationOf({ iteration, calls_n }: TracePhase): string {
    if (iteration === null) return 'all';
    return calls_n > 1 ? `${iteration} to ${iteration + calls_n - 1}` : `${iteration}`;
}

interface PhaseFactor {
    name: string;
    title: string;
    meaning: string;
    of: (phase: TracePhase) => number | null | undefined;
}

/** Shares of a phase. Communication is the product of the two behind it. */
export const PHASE_FACTORS: PhaseFactor[] = [
    {
        name: 'parallel_pct',
        title: 'Parallel efficiency',
        meaning: 'Mean useful time of threads over the time.',
        of: phase => phase.parallel_pct,
    },
    {
        name: 'balance_pct',
        title: 'Load balance',
        meaning: 'Mean over longest time outside MPI; without ranks of useful time of threads.',
        of: phase => phase.mpi_balance_pct ?? phase.balance_pct,
    },
    {
        name: 'communication_pct',
        title: 'Communication',
        meaning: 'Longest time outside MPI over the time; without ranks useful time of a thread.',
        of: phase => phase.mpi_communication_pct ?? phase.communication_pct,
    },
    {
        name: 'serialisation_pct',
        title: 'Serialisation',
        meaning: 'Longest time of a rank outside MPI over the time on an ideal network.',
        of: phase => phase.mpi_serialisation_pct,
    },
    {
        name: 'transfer_pct',
        title: 'Transfer',
        meaning: 'Time on an ideal network over the time.',
        of: phase => phase.mpi_transfer_pct,
    },
];

export function phaseRows(phases: TracePhase[]): ViewRows {
    return madeView(
        'phases',
        'Phases',
        [
            textColumn(
                'name',
                'Region',
                phases.map(one => one.name),
                'code',
            ),
            textColumn('iteration', 'Iteration', phases.map(iterationOf)),
            countColumn(
                'calls_n',
                'Calls',
                'Calls of the rank with most, or iterations in this row.',
                phases.map(one => one.calls_n),
            ),
            secondsColumn(
                'time_s',
                'Time',
                'Longest time of a rank in the region.',
                phases.map(one => one.time_s),
                { bar: true },
            ),
            ...PHASE_FACTORS.map(({ name, title, meaning, of }) =>
                shareColumn(
                    name,
                    title,
                    meaning,
                    phases.map(one => of(one) ?? null),
                ),
            ),
            textColumn(
                'busiest',
                'Busiest',
                phases.map(one => (one.busiest_rank === null ? '' : `rank ${one.busiest_rank}`)),
            ),
        ],
        null,
    );
}

export function sizeName({ from_b, below_b }: TraceSizes): string {
    if (below_b - from_b === 1) return bytes(from_b);
    return `${bytes(from_b)} to ${bytes(below_b - 1)}`;
}
