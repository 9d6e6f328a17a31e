// SPDX-License-Identifier: Apache-2.0
// Models of a traced run: simulations on other machines, and factors over sizes. They are members
// of the document, which doc/reference/report-data.md describes.

import type { Series } from '../chart/Chart';
import { bytes, integer, seconds, significant } from '../format';
import { type TimeLine, lanesOf } from './timeline';

export interface SimulatedRun {
    run_id: number;
    label: string | null;
    settings: string | null;
    time_s: number;
    ratio: number | null;
    parallel_pct: number | null;
}

export interface Simulated {
    recorded: {
        recorded_run_id: number;
        recorded_time_s: number | null;
        ideal_time_s: number;
    };
    simulations: SimulatedRun[];
    /** Limits that are not set have no row. */
    settings: { run_id: number; name: string; value: string }[];
    /** The recorded run, and the first simulated ones. */
    traces: { run_id: number; elapsed_s: number; bin_s: number; bin_n: number }[];
    locations: { run_id: number; number: number; location: string }[];
    timeline: { run_id: number; number: number; name: string; title: string; bins: string }[];
}

export interface ScalingFactor {
    part: 'measured' | 'projected' | 'curve';
    factor: string;
    title: string;
    depth: number;
    size: number;
    trace_n: number;
    value: number;
    low: number | null;
    high: number | null;
}

export interface ScalingLaw {
    factor: string;
    title: string;
    law: string;
    formula: string;
    a: number;
    f: number | null;
    error: number | null;
    used_law: string | null;
    used_value: number | null;
    rival_law: string | null;
    rival_value: number | null;
}

export interface Scaling {
    model: {
        kind: 'strong' | 'weak';
        is_given: number;
        is_doubtful: number;
        work: string;
        growth: number | null;
        size_n: number;
        lowest: string;
    };
    factors: ScalingFactor[];
    laws: ScalingLaw[];
}

// ---- Settings -----------------------------------------------------------------------------------

/** "latency", "bandwidth", "ranks per node": the name without its unit. */
export function settingTitle(name: string): string {
    return name.replace(/_(ns|bps|b)$/, '').replaceAll('_', ' ');
}

export function settingText(name: string, value: number): string {
    if (name.endsWith('_ns')) return seconds(value / 1e9);
    if (name.endsWith('_bps')) {
        const unit = value >= 1e9 ? 'GB/s' : value >= 1e6 ? 'MB/s' : value >= 1e3 ? 'kB/s' : 'B/s';
        const factor = { 'GB/s': 1e9, 'MB/s': 1e6, 'kB/s': 1e3, 'B/s': 1 }[unit];
        return `${significant(value / factor!)} ${unit}`;
    }
    if (name.endsWith('_b')) return bytes(value);
    return name === 'cpu' ? `${significant(value)}×` : integer(value);
}

/** Settings of each run by name. */
function settingsOf({ settings }: Simulated): Map<number, Map<string, number>> {
    const all = new Map<number, Map<string, number>>();
    for (const { run_id, name, value } of settings) {
        const of = all.get(run_id) ?? new Map<string, number>();
        of.set(name, Number(value));
        all.set(run_id, of);
    }
    return all;
}

/** Text of a setting that may have no limit; a speed that is not set is that of the recording. */
function wordsOf(name: string, value: number | undefined): string {
    if (value === undefined) return name === 'cpu' ? '1×' : 'no limit';
    return settingText(name, value);
}

/** Names of settings that differ between simulations, most values first. */
export function sweptNames(simulated: Simulated): string[] {
    const settings = settingsOf(simulated);
    const names = [...new Set(simulated.settings.map(one => one.name))].sort();
    const valuesOf = (name: string): (number | undefined)[] => [
        ...new Set(simulated.simulations.map(({ run_id }) => settings.get(run_id)?.get(name))),
    ];
    return names
        .map(name => ({ name, values: valuesOf(name) }))
        .filter(({ values }) => values.length > 1)
        .map(({ name, values }) => ({ name, n: values.filter(one => one !== undefined).length }))
        .sort((a, b) => b.n - a.n)
        .map(({ name }) => name);
}

export interface Sweep {
    x: number[];
    /** One for each combination of the other settings, then the recorded time. */
    series: Series[];
    xLog: boolean;
    /** Simulations without a value of the setting, or with a zero that has no place on the axis. */
    leftOut: number;
}

/** A decade or more of values above zero. */
const isWide = (x: readonly number[]): boolean => x.length > 1 && x.at(-1)! / x[0]! >= 10;

/** Simulated times over a setting. The last of several simulations at a point counts. */
export function sweepOver(simulated: Simulated, name: string): Sweep {
    const settings = settingsOf(simulated);
    const others = sweptNames(simulated).filter(other => other !== name);
    const at = ({ run_id }: SimulatedRun): number | undefined =>
        settings.get(run_id)?.get(name) ?? (name === 'cpu' ? 1 : undefined);
    const values = [...new Set(simulated.simulations.map(at))]
        .filter(value => value !== undefined)
        .sort((a, b) => a - b);
    const positive = values.filter(value => value > 0);
    const xLog = isWide(positive);
    const x = xLog ? positive : values;
    const known = simulated.simulations.filter(one => x.includes(at(one)!));
    const curves = new Map<string, (number | null)[]>();
    for (const one of known) {
        const of = settings.get(one.run_id);
        const label = others
            .map(other => `${settingTitle(other)} ${wordsOf(other, of?.get(other))}`)
            .join(', ');
        const times = curves.get(label) ?? x.map(() => null);
        times[x.indexOf(at(one)!)] = one.time_s;
        curves.set(label, times);
    }
    const recorded = simulated.recorded.recorded_time_s;
    const series: Series[] = [...curves].map(([label, times]) => ({
        label: label || 'simulated',
        values: times,
        spans: true,
    }));
    if (recorded !== null)
        series.push({ label: 'recorded', values: x.map(() => recorded), kind: 'ideal' });
    return {
        x,
        series,
        xLog,
        leftOut: simulated.simulations.length - known.length,
    };
}

// ---- Time lines ---------------------------------------------------------------------------------

/** The time line of a run as the document has it; null: it has none of this run. */
export function lineOfRun(simulated: Simulated, runId: number): TimeLine | null {
    const trace = simulated.traces.find(one => one.run_id === runId);
    if (!trace) return null;
    const isOfRun = (one: { run_id: number }): boolean => one.run_id === runId;
    const threads = simulated.locations
        .filter(isOfRun)
        .map(({ number, location }) => ({ number, label: location }));
    return {
        binS: trace.bin_s,
        binN: trace.bin_n,
        lanes: lanesOf(threads, simulated.timeline.filter(isOfRun)),
        levels: null,
        hasPath: true,
    };
}

// ---- Scaling ------------------------------------------------------------------------------------

/** As the POP methodology rates an efficiency. */
export function popRating(share: number): 'good' | 'fair' | 'poor' {
    if (share >= 0.8) return 'good';
    return share >= 0.6 ? 'fair' : 'poor';
}

/** Returns false for the speed-up and the time, which have no rating. */
export const isShare = (factor: string): boolean => factor !== 'speedup' && factor !== 'elapsed';

export interface FactorRow {
    factor: string;
    title: string;
    depth: number;
    /** By size, as `sizes`; null: unknown. */
    cells: (ScalingFactor | null)[];
}

export interface FactorTable {
    sizes: { size: number; isProjected: boolean; traceN: number }[];
    rows: FactorRow[];
}

/** Factors by size in the order of the tree: the measured sizes, then the projected ones. */
export function factorTable({ factors }: Scaling): FactorTable {
    const shown = factors.filter(({ part }) => part !== 'curve');
    const sizes = [
        ...new Map(
            shown.map(({ part, size, trace_n }) => [
                `${part} ${size}`,
                { size, isProjected: part === 'projected', traceN: trace_n },
            ]),
        ).values(),
    ].sort((a, b) => Number(a.isProjected) - Number(b.isProjected) || a.size - b.size);
    const names = [...new Set(shown.map(({ factor }) => factor))];
    const rows = names.map((factor): FactorRow => {
        const of = shown.filter(one => one.factor === factor);
        const cells = sizes.map(
            ({ size, isProjected }) =>
                of.find(one => one.size === size && (one.part === 'projected') === isProjected) ??
                null,
        );
        return { factor, title: of[0]!.title, depth: of[0]!.depth, cells };
    });
    return { sizes, rows };
}

export interface FactorChart {
    x: number[];
    series: Series[];
    /** Intervals beyond it say nothing. */
    yMax: number;
}

/** Measured points, the fit as far as they go, and the projection beyond with its interval. */
export function factorChart({ factors }: Scaling, factor: string): FactorChart {
    const of = factors.filter(one => one.factor === factor);
    const scale = isShare(factor) ? 100 : 1;
    const measured = of.filter(({ part }) => part === 'measured');
    const curve = of.filter(({ part }) => part === 'curve').sort((a, b) => a.size - b.size);
    const largest = Math.max(...measured.map(({ size }) => size));
    const within = curve.filter(({ size }) => size <= largest * 1.0001);
    const beyond = curve.filter(({ size }) => size > largest * 1.0001);
    const joint = within.at(-1);
    const x = [...new Set(of.filter(one => one.part !== 'projected').map(({ size }) => size))].sort(
        (a, b) => a - b,
    );
    const on = (
        points: readonly ScalingFactor[],
        value: (one: ScalingFactor) => number | null,
    ): (number | null)[] => {
        const bySize = new Map(points.map(one => [one.size, value(one)]));
        return x.map(size => {
            const found = bySize.get(size);
            return found === null || found === undefined ? null : scale * found;
        });
    };
    const lineOf = (points: readonly ScalingFactor[]): Omit<Series, 'label'> => ({
        values: on(points, one => one.value),
        low: on(points, one => one.low),
        high: on(points, one => one.high),
        spans: true,
        colour: 1,
    });
    const series: Series[] = [
        {
            label: 'measured',
            values: on(measured, one => one.value),
            low: on(measured, one => one.low),
            high: on(measured, one => one.high),
            kind: 'points',
            colour: 0,
        },
    ];
    if (within.length > 1) series.push({ label: 'fit', ...lineOf(within) });
    if (beyond.length)
        series.push({
            label: 'projection',
            kind: 'dashed',
            ...lineOf(joint ? [joint, ...beyond] : beyond),
        });
    const values = series.flatMap(one => one.values).filter(value => value !== null);
    return { x, series, yMax: 1.3 * Math.max(...values) };
}
