// SPDX-License-Identifier: Apache-2.0
// Activity of threads over time, by samples and records of switches: the member `over_time` of the
// document (doc/reference/report-data.md).

import { type FinerLevels, type LaneState, type TimeLine, lanesOf } from './timeline';

export interface OverTimeThread {
    number: number;
    label: string;
    rank: number | null;
    tid: number;
    name: string | null;
    role: string | null;
    cpu_time_s: number | null;
    /** Time ready to run without a CPU. */
    runnable_time_s: number | null;
    blocked_time_s: number | null;
}

export interface OverTime {
    line: { level: number; bin_s: number; bin_n: number; thread_n: number };
    threads: OverTimeThread[];
    /** Thousandths of each bin in a state, as JSON. */
    timeline: { number: number; name: string; bins: string }[];
    levels: FinerLevels | null;
}

const TITLES: Record<string, string> = {
    running: 'running',
    user: 'running',
    kernel: 'in the kernel',
    ready: 'ready, no CPU',
    waiting: 'waiting',
};

export const titleOf = (name: string): string => TITLES[name] ?? name;

/**
 * Records of switches say how long a thread ran; samples say how much of that was in the kernel,
 * and stand alone where there are no such records.
 */
export function shownStates(states: readonly LaneState[]): LaneState[] {
    const of = (name: string): readonly number[] =>
        states.find(state => state.name === name)?.bins ?? [];
    const [running, user, kernel] = [of('running'), of('user'), of('kernel')];
    const made = (name: string, bins: readonly number[]): LaneState => ({
        name,
        title: titleOf(name),
        bins,
    });
    if (!running.length) return states.map(({ name, bins }) => made(name, bins));
    const inKernel = running.map((part, bin) => {
        const sampled = (user[bin] ?? 0) + (kernel[bin] ?? 0);
        return sampled ? Math.round((part * (kernel[bin] ?? 0)) / sampled) : 0;
    });
    const inProgram = running.map((part, bin) => part - inKernel[bin]!);
    return [
        made('user', inProgram),
        made('kernel', inKernel),
        made('ready', of('ready')),
        made('waiting', of('waiting')),
    ].filter(({ bins }) => bins.some(Boolean));
}

export function lineOf({ line, threads, timeline, levels }: OverTime): TimeLine {
    return {
        binS: line.bin_s,
        binN: line.bin_n,
        lanes: lanesOf(threads, timeline),
        levels,
        shown: shownStates,
        hasPath: false,
    };
}
