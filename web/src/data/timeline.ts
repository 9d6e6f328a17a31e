// SPDX-License-Identifier: Apache-2.0
// Threads over time, from any source: a lane per thread, with the thousandths of each state in each
// bin.

/** Bins of a finer level, of `segment_n` a row; those that are not there have nothing in them. */
export interface FinerLevels {
    /** Null: none of them fits into the document. */
    bin_s: number | null;
    /** The shortest that the experiment has. */
    least_bin_s: number;
    segment_n: number;
    rows: { number: number; name: string; segment: number; bins: string }[];
}

export interface LaneState {
    name: string;
    title: string;
    bins: readonly number[];
}

export interface Lane {
    number: number;
    label: string;
    /** In the order in which they are drawn. */
    states: LaneState[];
    /** Thousandths of the critical path; empty if unknown. */
    path: readonly number[];
}

export interface TimeLine {
    binS: number;
    binN: number;
    lanes: Lane[];
    levels: FinerLevels | null;
    /** Converts recorded states to drawn ones; without it the recorded states are drawn. */
    shown?: (states: readonly LaneState[]) => LaneState[];
    hasPath: boolean;
}

export const PATH = 'critical_path';

/** Lanes of threads, in their order, of rows of bins as JSON. */
export function lanesOf(
    threads: readonly { number: number; label: string }[],
    rows: readonly { number: number; name: string; title?: string; bins: string }[],
): Lane[] {
    const lanes = new Map<number, Lane>(
        threads.map(({ number, label }) => [number, { number, label, states: [], path: [] }]),
    );
    for (const { number, name, title = name, bins } of rows) {
        const lane = lanes.get(number);
        if (!lane) continue;
        const values = JSON.parse(bins) as number[];
        if (name === PATH) lane.path = values;
        else lane.states.push({ name, title, bins: values });
    }
    return [...lanes.values()];
}
