// SPDX-License-Identifier: Apache-2.0
// Text of a cell. All cells of a column share unit and decimals, so that magnitudes can be compared
// by eye; the header says the unit.

import { count, fixed, significant, spreadOf } from '../format';
import { type GridColumn, type Rows } from './rows';

interface Scale {
    factor: number;
    unit: string;
}

const SECONDS: Scale[] = [
    { factor: 1, unit: 's' },
    { factor: 1e3, unit: 'ms' },
    { factor: 1e6, unit: 'µs' },
];
const BYTES: Scale[] = [
    { factor: 1, unit: 'B' },
    { factor: 1 / 1024, unit: 'KiB' },
    { factor: 1 / 1024 ** 2, unit: 'MiB' },
    { factor: 1 / 1024 ** 3, unit: 'GiB' },
];

const HERTZ: Scale[] = [
    { factor: 1, unit: 'Hz' },
    { factor: 1e-3, unit: 'kHz' },
    { factor: 1e-6, unit: 'MHz' },
    { factor: 1e-9, unit: 'GHz' },
];

/** The largest unit of which the largest value still is one or more. */
function largest(scales: Scale[], most: number): Scale {
    const fitting = scales.filter(scale => most * scale.factor >= 1);
    return fitting[fitting.length - 1] ?? scales[0]!;
}

export function scaleOf(column: GridColumn): Scale {
    const { unit, max } = column;
    if (unit === 's' && max > 0)
        return SECONDS.find(scale => max * scale.factor >= 0.1) ?? SECONDS[SECONDS.length - 1]!;
    if (unit === 'B') return largest(BYTES, max);
    if (unit === 'Hz') return largest(HERTZ, max);
    return { factor: 1, unit: unit && unit !== '1' ? unit : '' };
}

/** Never more than asked for, and fewer where numbers are large. */
function decimalsOf(column: GridColumn, scale: Scale): number {
    if (column.kind === 'share' || column.unit === '%') return column.digits ?? 2;
    const most = column.max * scale.factor;
    const size = most > 0 ? Math.floor(Math.log10(most)) : 0;
    // Whole numbers ask for no decimals; scaled to a larger unit they have some.
    const digits = column.kind === 'integer' ? 2 : (column.digits ?? 3);
    return Math.max(0, Math.min(digits, digits - size));
}

export function numberText(column: GridColumn, value: number): string {
    if (Number.isNaN(value)) return '';
    if (value === 0) return '0';
    if (column.mixed) return significant(value);
    const scale = scaleOf(column);
    if (column.kind === 'integer' && scale.factor === 1) return count(value);
    const decimals = decimalsOf(column, scale);
    const scaled = value * scale.factor;
    const least = 10 ** -decimals;
    if (scaled !== 0 && Math.abs(scaled) < least / 2) return `<${fixed(least, decimals)}`;
    return fixed(scaled, decimals);
}

/** Returns the uncertainty of a cell in the unit of the column; empty if unknown. */
export function marginText(rows: Rows, node: number, at: number): string {
    const column = rows.columns[at]!;
    const bound = (of: number): number | null => (of < 0 ? null : rows.num(node, of));
    const spread = spreadOf(
        rows.num(node, at),
        bound(column.lowAt),
        bound(column.highAt),
        column.unit,
    );
    if (!spread) return '';
    const scale = scaleOf(column);
    const decimals = decimalsOf(column, scale);
    const text = (value: number): string => {
        const scaled = value * scale.factor;
        return scaled !== 0 && Math.abs(scaled) < 10 ** -decimals
            ? significant(scaled, 1)
            : fixed(scaled, decimals);
    };
    if (spread.kind === 'half') return `±${text(spread.half)}`;
    if (spread.kind === 'range') {
        // A cell has room for one number: half the interval, where ± does not reach beyond 0.
        const half = (spread.high - spread.low) / 2;
        const crosses = spread.low > 0 && rows.num(node, at) < half;
        return crosses ? `≤${text(spread.high)}` : `±${text(half)}`;
    }
    return `${spread.kind === 'most' ? '≤' : '≥'}${text(spread.bound)}`;
}

/** Why a value is not to be relied on: its mark, how grave that is, and the words for it. */
export interface Doubt {
    mark: string;
    rating: 'fair' | 'poor';
    words: string;
}

/** By the number in the column of doubt. */
const DOUBTS: Record<number, Doubt> = {
    1: { mark: '?', rating: 'fair', words: 'few samples' },
    2: { mark: '~', rating: 'fair', words: 'weak: instances of 250 to 500 cycles' },
    3: { mark: '!', rating: 'poor', words: 'unreliable: instances below 250 cycles' },
};

export function doubtOf(rows: Rows, node: number, column: GridColumn): Doubt | null {
    return (column.doubtAt >= 0 && DOUBTS[rows.num(node, column.doubtAt)]) || null;
}

/** Returns the origin of a value: of the whole column, or row by row. */
export function originOf(rows: Rows, node: number, column: GridColumn): string | null {
    return column.origin ?? (column.originAt < 0 ? null : rows.text(node, column.originAt));
}

/** A number of things that was not counted. */
export function isEstimated(rows: Rows, node: number, column: GridColumn): boolean {
    return (
        column.unit === '1' &&
        column.name.endsWith('_n') &&
        originOf(rows, node, column) === 'measured'
    );
}

export function flagText(column: GridColumn, value: number): string {
    return Number.isNaN(value) ? '' : value ? '✓' : column.better === 'higher' ? '✗' : '';
}

/** Header with its unit. */
export function headerUnit(column: GridColumn): string {
    if (column.kind === 'integer' && scaleOf(column).factor === 1 && column.unit !== 'B') return '';
    return column.kind === 'number' || column.kind === 'integer' || column.kind === 'share'
        ? scaleOf(column).unit
        : '';
}
