// SPDX-License-Identifier: Apache-2.0
// Results of a trace: the member `parallel` of the document (doc/reference/report-data.md).

import { type FinerLevels, type TimeLine, lanesOf } from './timeline';

export interface TraceFacts {
    /** The run that was traced: the report's, or another one of the same command. */
    traced_run_id: number;
    elapsed_s: number;
    bin_s: number;
    bin_n: number;
    location_n: number;
    rank_n: number;
    events_n: number;
    lost_n: number;
    damaged_n: number;
    matched_n: number;
    sends_n: number;
    receives_n: number;
    unmet_n: number;
    waited_s: number;
    record_ns: number | null;
    cost_s: number;
    cost_most_s: number;
    /** CPU time of the probes of functions; null without probes. */
    points_s: number | null;
}

/** A thread; `number` is what the lists below name it by. */
export interface TraceLocation {
    number: number;
    location: string;
    rank: number | null;
    thread: number;
    begin_s: number;
    end_s: number;
    waiting_s: number;
    late_s: number;
    path_s: number;
    mpi_transfer_s?: number | null;
    mpi_overhead_s?: number | null;
}

export interface TraceState {
    number: number;
    name: string;
    title: string;
    time_s: number;
}

/** Thousandths of each bin in a state, as JSON. */
export interface TraceBins {
    number: number;
    name: string;
    title: string;
    bins: string;
}

/** The readings of one counter by one thread. */
export interface TraceCounter {
    number: number;
    location: string;
    name: string;
    unit: string;
    n: number;
    first: number;
    last: number;
    least: number;
    most: number;
    /** The latest value at the end of each bin, null before the first, as JSON. */
    bins: string;
}

/** When nothing was recorded of a thread; `n` such times as one where they were too many. */
export interface TraceOff {
    number: number;
    location: string;
    begin_s: number;
    end_s: number;
    off_s: number;
    n: number;
    reason: string;
}

/** Samples of one thread in one state, by routine and function. */
export interface TraceSample {
    number: number;
    location: string;
    name: string;
    /** Title of the state; null: the thread spent no time in it. */
    title: string | null;
    /** The outermost call that it was in. */
    routine: string | null;
    function: string | null;
    module: string | null;
    source_file: string | null;
    line: number | null;
    caller: string | null;
    n: number;
    time_s: number;
    share_pct: number | null;
}

interface TraceSite {
    routine: string | null;
    function: string | null;
    source_file: string | null;
    line: number | null;
}

export interface TraceWait extends TraceSite {
    kind: string;
    title: string;
    n: number;
    time_s: number;
    longest_s: number;
    /** The thread that waited longest. */
    location: string;
    location_n: number;
}

export interface TraceLate extends TraceSite {
    number: number;
    location: string;
    n: number;
    direct_s: number;
    total_s: number;
    longest_s: number;
    elapsed_s: number;
}

export interface TraceMessages {
    from: number;
    to: number;
    n: number;
    size_b: number;
}

export interface TraceSizes {
    from_b: number;
    below_b: number;
    n: number;
    size_b: number;
    wait_s: number;
}

/** A region: all calls, or an iteration (`calls_n` of them from that one on). */
export interface TracePhase {
    name: string;
    iteration: number | null;
    calls_n: number;
    time_s: number;
    useful_s: number;
    mpi_s: number;
    busiest_rank: number | null;
    parallel_pct: number | null;
    balance_pct: number | null;
    communication_pct: number | null;
    mpi_balance_pct: number | null;
    mpi_communication_pct: number | null;
    mpi_serialisation_pct?: number | null;
    mpi_transfer_pct?: number | null;
}

/** The time that a change of the run saves, by simulations of its trace. */
export interface TraceGain {
    name: string;
    title: string;
    saved_s: number;
    low_s: number;
    high_s: number;
    share_pct: number | null;
}

export interface Parallel {
    trace: TraceFacts;
    locations: TraceLocation[];
    states: TraceState[];
    timeline: TraceBins[];
    counters: TraceCounter[];
    offs: TraceOff[];
    samples: TraceSample[];
    waits: TraceWait[];
    late: TraceLate[];
    messages: TraceMessages[];
    sizes: TraceSizes[];
    /** Not there: an older experiment. */
    phases?: TracePhase[];
    /** Not there: an older experiment. */
    gains?: TraceGain[];
    /** Null, or not there: the experiment has the time line alone. */
    levels?: FinerLevels | null;
}

export function lineOf({ trace, locations, timeline, levels }: Parallel): TimeLine {
    const threads = locations.map(({ number, location }) => ({ number, label: location }));
    return {
        binS: trace.bin_s,
        binN: trace.bin_n,
        lanes: lanesOf(threads, timeline),
        levels: levels ?? null,
        hasPath: true,
    };
}

export interface CounterLine {
    label: string;
    values: (number | null)[];
}

/** A line for each thread that read the counter; of many the least, the middle one and the most. */
export function counterLines(
    readings: readonly TraceCounter[],
    bins: number,
    most: number,
): CounterLine[] {
    const lines = readings.map(({ location, bins: text }) => {
        const values = JSON.parse(text) as (number | null)[];
        return {
            label: location,
            values: Array.from({ length: bins }, (_, i) => values[i] ?? null),
        };
    });
    if (lines.length <= most) return lines;
    const sorted = Array.from({ length: bins }, (_, bin) =>
        lines
            .map(line => line.values[bin])
            .filter(value => typeof value === 'number')
            .sort((a, b) => a - b),
    );
    const pick = (label: string, at: (n: number) => number): CounterLine => ({
        label,
        values: sorted.map(values => values[at(values.length)] ?? null),
    });
    return [
        pick('most of any', n => n - 1),
        pick('middle', n => Math.floor((n - 1) / 2)),
        pick('least of any', () => 0),
    ];
}

/** "solve, solve.c:120": where a call is made, as far as it is known. */
export function placeOf(site: TraceSite): string | null {
    const file = site.source_file?.replace(/^.*\//, '');
    const at = file ? `${file}:${site.line ?? '?'}` : null;
    return [site.function, at].filter(Boolean).join(', ') || null;
}

/** From one rank to another; those that sent each other nothing have no entry. */
export function matrixOf(messages: readonly TraceMessages[], of: 'n' | 'size_b') {
    const ranks = [...new Set(messages.flatMap(one => [one.from, one.to]))].sort((a, b) => a - b);
    const place = new Map(ranks.map((rank, i) => [rank, i]));
    const values = new Float64Array(ranks.length * ranks.length);
    let most = 0;
    for (const one of messages) {
        const at = place.get(one.from)! * ranks.length + place.get(one.to)!;
        values[at] = values[at]! + one[of];
        most = Math.max(most, values[at]!);
    }
    return { ranks, values, most };
}
