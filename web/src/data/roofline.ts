// SPDX-License-Identifier: Apache-2.0
// Points and roofs of the member `roofline` of the document: which are drawn, and where.

export interface Roof {
    name: string;
    is_bandwidth: boolean;
    is_huge: boolean; // only on huge pages, which most memory of the program is not in
    value: number;
    core_n: number;
}

export interface RoofPoint {
    kind: 'run' | 'function' | 'loop';
    id: number;
    name: string;
    parent_id: number;
    function_id: number;
    share: number;
    time_s: number;
    sample_n: number;
    core_n: number;
    flop_n: number;
    load_b: number;
    store_b: number;
    int_op_n: number;
    intensity: number | null;
    flop_s: number | null;
    flop_s_low: number | null;
    flop_s_high: number | null;
    byte_s: number | null;
    bytes_l2_l1: number | null;
    bytes_l3_l2: number | null;
    bytes_memory: number | null;
    vector: 'no flops' | 'scalar' | 'part' | 'full';
    packed_share: number;
    single_share: number;
    roof: string;
    roof_share: number | null;
    headroom_x: number | null;
    huge_x: number | null;
    marks: string[];
}

export interface Roofline {
    core_n: number;
    counted_share: number;
    waiting_share: number;
    external_load: boolean;
    has_levels: boolean;
    huge_share: number | null;
    roofs: Roof[];
    points: RoofPoint[];
}

export const LEVELS = ['bytes_l2_l1', 'bytes_l3_l2', 'bytes_memory'] as const;

export const isDrawn = (point: RoofPoint): boolean =>
    (point.intensity ?? 0) > 0 && (point.flop_s ?? 0) > 0;

/** A function that has loops, or a loop that is hardly more than a loop inside. */
export function isRepeated(points: readonly RoofPoint[], outer: RoofPoint): boolean {
    return points.some(
        inner =>
            inner.kind === 'loop' &&
            (outer.kind === 'function'
                ? inner.function_id === outer.id
                : outer.kind === 'loop' &&
                  inner.parent_id === outer.id &&
                  inner.time_s >= 0.9 * outer.time_s),
    );
}

export type Shown = 'loops' | 'functions';

/** The run and its loops, or its functions; most time first. */
export function pointsOf(data: Roofline, shown: Shown): RoofPoint[] {
    return data.points
        .filter(
            point =>
                point.kind === 'run' ||
                (shown === 'functions'
                    ? point.kind === 'function'
                    : !isRepeated(data.points, point)),
        )
        .sort((a, b) => b.time_s - a.time_s);
}

/** Bandwidths of so many cores; the highest peak and the scalar addition of the main type. */
export function roofsOf(data: Roofline, coreN: number, points: readonly RoofPoint[]): Roof[] {
    const single = points.filter(isDrawn).reduce((sum, it) => sum + it.single_share * it.time_s, 0);
    const all = points.filter(isDrawn).reduce((sum, it) => sum + it.time_s, 0);
    const type = single > all / 2 ? 'f32' : 'f64';
    const roofs = data.roofs.filter(roof => roof.core_n === coreN);
    const peaks = roofs.filter(roof => !roof.is_bandwidth && roof.name.includes(type));
    const most = Math.max(0, ...peaks.map(roof => roof.value));
    return [
        ...roofs.filter(roof => roof.is_bandwidth),
        ...peaks.filter(roof => roof.value === most || /^add .*scalar$/.test(roof.name)),
    ];
}

export interface Frame {
    x: [number, number]; // powers of ten
    y: [number, number];
}

export function frameOf(points: readonly RoofPoint[], roofs: readonly Roof[]): Frame {
    const x: [number, number] = [-1, 1];
    const y: [number, number] = [Infinity, -Infinity];
    const widen = (range: [number, number], value: number): void => {
        if (!Number.isFinite(value)) return;
        range[0] = Math.min(range[0], value);
        range[1] = Math.max(range[1], value);
    };
    for (const point of points.filter(isDrawn)) {
        widen(x, Math.log10(point.intensity!) - 0.2);
        widen(x, Math.log10(point.intensity!) + 0.2);
        widen(y, Math.log10(point.flop_s!));
        for (const level of LEVELS)
            if (point[level]) widen(x, Math.log10(point.flop_n / point[level]) + 0.2);
    }
    for (const roof of roofs) if (!roof.is_bandwidth) widen(y, Math.log10(roof.value));
    if (!Number.isFinite(y[0])) return { x, y: [8, 11] };
    return { x, y: [Math.min(y[0] - 0.3, y[1] - 2), y[1] + 0.25] };
}

export interface RoofLine {
    roof: Roof;
    from: [number, number]; // intensity, flop/s
    to: [number, number];
}

/** The part of each roof that is in the frame and below the highest roof. */
export function linesOf(roofs: readonly Roof[], frame: Frame): RoofLine[] {
    const top = Math.max(0, ...roofs.filter(it => !it.is_bandwidth).map(it => it.value));
    const steepest = Math.max(0, ...roofs.filter(it => it.is_bandwidth).map(it => it.value));
    const [left, right] = [10 ** frame.x[0], 10 ** frame.x[1]];
    const [bottom, above] = [10 ** frame.y[0], 10 ** frame.y[1]];
    return roofs.flatMap(roof => {
        if (!roof.is_bandwidth) {
            const from = Math.max(left, steepest ? roof.value / steepest : left);
            return from < right
                ? [{ roof, from: [from, roof.value], to: [right, roof.value] } as RoofLine]
                : [];
        }
        const from = Math.max(left, bottom / roof.value);
        const to = Math.min(right, (top || above) / roof.value);
        return from < to
            ? [{ roof, from: [from, roof.value * from], to: [to, roof.value * to] } as RoofLine]
            : [];
    });
}

/** Powers of ten in a range. */
export function decades([low, high]: [number, number]): number[] {
    const first = Math.ceil(low - 1e-9);
    return Array.from(
        { length: Math.max(0, Math.floor(high + 1e-9) - first + 1) },
        (_, i) => 10 ** (first + i),
    );
}

const MARKS: Record<string, string> = {
    above_ceiling: 'above a measured ceiling: measure the machine again',
    external_load: 'other processes used the CPUs',
    few_samples: 'fewer than 30 samples',
    counts_upper_bound: 'flops and bytes are upper bounds',
    counts_lower_bound: 'flops and bytes are lower bounds',
};
export const markText = (mark: string): string => MARKS[mark] ?? mark;
