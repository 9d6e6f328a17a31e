// SPDX-License-Identifier: Apache-2.0
// How numbers look: three significant digits, a unit that fits, a true minus sign.

import type { Quantity } from './data/contract';

const NONE = '–';
const MINUS = '−';

function grouped(text: string): string {
    const [whole = '', rest] = text.split('.');
    const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
    return rest === undefined ? spaced : `${spaced}.${rest}`;
}

/** Fixed number of decimals; blanks between thousands. */
export function fixed(value: number, decimals: number): string {
    if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? `${MINUS}∞` : NONE;
    const text = Math.abs(value).toFixed(decimals);
    return (value < 0 && Number(text) !== 0 ? MINUS : '') + grouped(text);
}

/** `digits` significant digits, never in exponent form within what a report holds. */
export function significant(value: number, digits = 3): string {
    if (value === 0) return '0';
    if (!Number.isFinite(value)) return fixed(value, 0);
    const size = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    if (size < -6) return value.toExponential(digits - 1).replace('-', MINUS);
    return fixed(value, Math.min(9, Math.max(0, digits - 1 - size)));
}

export function integer(value: number): string {
    return fixed(Math.round(value), 0);
}

const TIME: [number, string, number][] = [
    [1, 's', 1],
    [1e-3, 'ms', 1e3],
    [1e-6, 'µs', 1e6],
    [0, 'ns', 1e9],
];

function timeScale(value: number): { unit: string; factor: number } {
    const [, unit, factor] = TIME.find(([least]) => Math.abs(value) >= least)!;
    return { unit, factor };
}

/** A time with the unit that keeps it above 1. */
export function seconds(value: number, digits = 3): string {
    if (value === 0) return '0 s';
    const { unit, factor } = timeScale(value);
    return `${significant(value * factor, digits)} ${unit}`;
}

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(value: number): string {
    let power = 0;
    let scaled = value;
    while (Math.abs(scaled) >= 1024 && power < BYTES.length - 1) {
        scaled /= 1024;
        power++;
    }
    return `${power ? significant(scaled) : integer(scaled)} ${BYTES[power]}`;
}

const HERTZ: [number, string][] = [
    [1e9, 'GHz'],
    [1e6, 'MHz'],
    [1e3, 'kHz'],
];

export function hertz(value: number): string {
    const found = HERTZ.find(([least]) => Math.abs(value) >= least);
    return found ? `${significant(value / found[0])} ${found[1]}` : `${significant(value)} Hz`;
}

/** Shares keep one decimal above 1 % and two below, so that a column lines up. */
export function percent(value: number): string {
    return `${percentNumber(value)} %`;
}

export function percentNumber(value: number): string {
    const size = Math.abs(value);
    if (size === 0) return '0';
    if (size < 0.01) return size < 0.005 ? '<0.01' : '0.01';
    return fixed(value, size < 1 ? 2 : size < 99.95 ? 1 : 0);
}

export function withUnit(
    value: number | null | undefined,
    unit: string | null | undefined,
): string {
    if (value === null || value === undefined || Number.isNaN(value)) return NONE;
    switch (unit) {
        case 's':
            return seconds(value);
        case '%':
            return percent(value);
        case 'B':
        case 'bytes':
            return bytes(value);
        case 'Hz':
            return hertz(value);
        case 'x':
        case '×':
        case 'factor':
            return `${fixed(value, Math.abs(value) < 10 ? 2 : 1)}×`;
        case '1/s':
            return `${significant(value)} /s`;
        case null:
        case undefined:
        case '':
        case '1':
            return Number.isInteger(value) ? integer(value) : significant(value);
        default:
            return `${Number.isInteger(value) ? integer(value) : significant(value)} ${unit}`;
    }
}

/** Half the width of an interval in the unit that the value is shown in; empty without bounds. */
export function plusMinus(
    value: number | null | undefined,
    low: number | null | undefined,
    high: number | null | undefined,
    unit: string | null | undefined,
): string {
    if (low === null || low === undefined || high === null || high === undefined) return '';
    const half = (high - low) / 2;
    if (!Number.isFinite(half) || half <= 0) return '';
    if (unit === 's') {
        const { factor } = timeScale(Math.max(half, Math.abs(value ?? 0)));
        return `±${significant(half * factor, 2)}`;
    }
    if (unit === '%') return `±${half < 0.1 ? fixed(half, 2) : fixed(half, half < 10 ? 1 : 0)}`;
    return `±${significant(half, 2)}`;
}

export function quantityText(quantity: Quantity | null, unit: string | null): string {
    if (!quantity) return NONE;
    const margin = plusMinus(quantity.value, quantity.low, quantity.high, unit);
    return margin ? `${withUnit(quantity.value, unit)} ${margin}` : withUnit(quantity.value, unit);
}

/** What a number rests on, in words: for tooltips. */
export function provenance(
    origin: string | null | undefined,
    n: number | null | undefined,
    low?: number | null,
    high?: number | null,
    unit?: string | null,
): string {
    const parts: string[] = [];
    if (origin) parts.push(origin);
    if (n !== null && n !== undefined && !Number.isNaN(n)) parts.push(`n = ${integer(n)}`);
    if (typeof low === 'number' && typeof high === 'number' && Number.isFinite(high - low))
        parts.push(`95 % interval ${withUnit(low, unit)} to ${withUnit(high, unit)}`);
    return parts.join(', ');
}

/** The last two parts of a path, which is what one reads. */
export function shortPath(path: string): string {
    const parts = path.split('/').filter(Boolean);
    return parts.slice(-2).join('/');
}

export function baseName(path: string): string {
    return path.slice(path.lastIndexOf('/') + 1);
}

/** `snake_case` as words with a capital. */
export function words(name: string): string {
    const text = name.replace(/_/g, ' ');
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/** 2026-01-31T12:00:00Z as `2026-01-31 12:00 UTC`. */
export function moment(utc: string): string {
    const match = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})/.exec(utc);
    return match ? `${match[1]} ${match[2]} UTC` : utc;
}
