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

/** The same for ticks of an axis; `decimals` are of seconds, however small the unit. */
export function tickSeconds(value: number, decimals?: number): string {
    return decimals === undefined ? seconds(value) : `${fixed(value, decimals)} s`;
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
            return Number.isInteger(value) ? count(value) : significant(value);
        default:
            return `${Number.isInteger(value) ? count(value) : significant(value)} ${unit}`;
    }
}

/** Formats a count that needs no exact digits: 2.80 million. */
export function count(value: number): string {
    const size = Math.abs(value);
    if (size < 1e6) return integer(value);
    if (size >= 1e15) return value.toExponential(1).replace('e+', '·10^');
    const [least, word] =
        size >= 1e12 ? [1e12, 'trillion'] : size >= 1e9 ? [1e9, 'billion'] : [1e6, 'million'];
    return `${significant(value / least)}\u00a0${word}`;
}

/** `process` as `processes`. */
export function plural(word: string): string {
    if (/(s|x|ch|sh)$/.test(word)) return `${word}es`;
    return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** `1 loop`, `12 processes`. */
export function counted(n: number, word: string): string {
    return `${count(n)} ${n === 1 ? word : plural(word)}`;
}

type Bound = number | null | undefined;

/** The uncertainty of a value: ± the same on both sides, one bound, or two different bounds. */
export type Spread =
    | { kind: 'half'; half: number }
    | { kind: 'most' | 'least'; bound: number }
    | { kind: 'range'; low: number; high: number };

const FACTORS = new Set(['x', '×', 'factor']);
const EVEN = 2; // sides of an interval that differ by more are shown separately

/**
 * A lower bound where nothing is (0; of factors 1) and an infinite upper one say nothing: there is
 * one bound only then. ± stands only for an interval that is about as long on both sides, and never
 * reaches where it does not.
 */
export function spreadOf(
    value: number,
    low: Bound,
    high: Bound,
    unit?: string | null,
): Spread | null {
    const nothing = unit && FACTORS.has(unit) ? 1 : 0;
    const below = typeof low === 'number' && Number.isFinite(low) ? low : null;
    const above = typeof high === 'number' && Number.isFinite(high) ? high : null;
    if (above === null)
        return below === null || below === nothing ? null : { kind: 'least', bound: below };
    if (below === null || (below === nothing && value >= nothing))
        return above === below ? null : { kind: 'most', bound: above };
    if (above <= below) return null;
    const down = value - below;
    const up = above - value;
    const half = (above - below) / 2;
    const even = Math.max(down, up) <= EVEN * Math.min(down, up);
    const crosses = below > 0 && value - half < 0;
    return even && !crosses ? { kind: 'half', half } : { kind: 'range', low: below, high: above };
}

/** Turns numbers into text in one unit, which stands behind them once. */
interface Scale {
    text: (value: number) => string;
    margin: (half: number) => string;
    unit: string;
}

function scaled(factor: number, unit: string): Scale {
    return {
        text: value => significant(value * factor),
        margin: half => significant(half * factor, 2),
        unit,
    };
}

const BYTE_POWERS = [...BYTES.keys()].reverse();

function scaleFor(largest: number, unit: string | null | undefined): Scale {
    const space = '\u00a0';
    switch (unit) {
        case 's': {
            const { unit: name, factor } = timeScale(largest || 1);
            return scaled(factor, space + name);
        }
        case 'B':
        case 'bytes': {
            const power = BYTE_POWERS.find(at => largest >= 1024 ** at) ?? 0;
            return scaled(1024 ** -power, space + BYTES[power]);
        }
        case 'Hz': {
            const found = HERTZ.find(([least]) => largest >= least);
            return scaled(1 / (found?.[0] ?? 1), space + (found?.[1] ?? 'Hz'));
        }
        case '%':
            return {
                text: percentNumber,
                margin: half => fixed(half, half < 0.1 ? 2 : half < 10 ? 1 : 0),
                unit: `${space}%`,
            };
        case 'x':
        case '×':
        case 'factor': {
            const decimals = largest > 1 && largest < 1.1 ? 3 : largest < 10 ? 2 : 1;
            const text = (value: number): string => fixed(value, decimals);
            return { text, margin: half => significant(half, 2), unit: '×' };
        }
        default: {
            const name = unit && unit !== '1' ? (unit === '1/s' ? '/s' : unit) : '';
            const text = (value: number): string =>
                Math.abs(value) >= 1e6 ? count(value) : withUnit(value, '1');
            return {
                text,
                margin: half => (half >= 1e6 ? count(half) : significant(half, 2)),
                unit: name ? space + name : '',
            };
        }
    }
}

export interface QuantityParts {
    value: string;
    /** Between the value and its unit; empty where no bound is known. */
    margin: string;
    unit: string;
}

/** A value with what is known of it: 338 ±12 ms, 0 (≤ 2.0) ms, 1.4 (0.9 to 6.1) s. One unit. */
export function quantityParts(
    value: number | null | undefined,
    low: Bound,
    high: Bound,
    unit: string | null | undefined,
): QuantityParts {
    if (value === null || value === undefined || Number.isNaN(value))
        return { value: NONE, margin: '', unit: '' };
    const spread = spreadOf(value, low, high, unit);
    const largest =
        spread === null
            ? 0
            : spread.kind === 'half'
              ? spread.half
              : spread.kind === 'range'
                ? Math.max(Math.abs(spread.low), Math.abs(spread.high))
                : Math.abs(spread.bound);
    const scale = scaleFor(Math.max(Math.abs(value), largest), unit);
    const parts = { value: scale.text(value), unit: scale.unit };
    if (!spread) return { ...parts, margin: '' };
    switch (spread.kind) {
        case 'half':
            return { ...parts, margin: `±${scale.margin(spread.half)}` };
        case 'range':
            return {
                ...parts,
                margin: `(${scale.text(spread.low)} to ${scale.text(spread.high)})`,
            };
        case 'most':
            return { ...parts, margin: `(≤ ${scale.text(spread.bound)})` };
        case 'least':
            return { ...parts, margin: `(≥ ${scale.text(spread.bound)})` };
    }
}

export function quantityText(quantity: Quantity | null, unit: string | null): string {
    if (!quantity) return NONE;
    const {
        value,
        margin,
        unit: name,
    } = quantityParts(quantity.value, quantity.low, quantity.high, unit);
    return `${value}${margin && ` ${margin}`}${name}`;
}

/** Returns the origin and basis of a number in words, for tooltips. */
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
    const isLow = typeof low === 'number' && Number.isFinite(low);
    const isHigh = typeof high === 'number' && Number.isFinite(high);
    if (isLow && isHigh)
        parts.push(`95 % interval ${withUnit(low, unit)} to ${withUnit(high, unit)}`);
    else if (isHigh) parts.push(`at most ${withUnit(high, unit)} (95 %)`);
    else if (isLow) parts.push(`at least ${withUnit(low, unit)} (95 %)`);
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

/** As a shell reads it: in quotes where it must be. */
export function shellWord(text: string): string {
    return /^[\w./=:,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
