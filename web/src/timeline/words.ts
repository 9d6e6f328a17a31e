// SPDX-License-Identifier: Apache-2.0
// Sentences about what is in the picture.

import { integer, percent, seconds, significant } from '../format';
import type { Code, EventAt, MetricState, Moment, Tile } from './server';
import { type Span, type Values, lengthOf } from './view';

export const codeText = (code: Code | undefined): string =>
    code ? (code.label ?? String(code.value)) : 'unknown';

export const duration = (ns: number): string => seconds(ns / 1e9, 4);

/** With as many digits as tell nanoseconds apart in a span. */
export function timeText(ns: number, span: Span): string {
    const digits = Math.ceil(Math.log10(Math.max(10, ns / Math.max(1, lengthOf(span) / 2000))));
    return seconds(ns / 1e9, Math.max(4, digits));
}

export const rangeText = ({ low, high }: Values): string =>
    `${significant(low, 4)} to ${significant(high, 4)}`;

export const eventName = (type: number, label: string | null): string =>
    label ? label : `Type ${type}`;

export const eventText = (event: EventAt): string =>
    `${eventName(event.type, event.label)}: ${event.text ?? integer(event.value)}`;

/** Describes a pixel of the tile, before the server says more. */
export function pixelText(tile: Tile, metric: MetricState, row: number, ns: number): string {
    const x = Math.floor(((ns - tile.from) / lengthOf(tile)) * tile.px);
    const at = (row - tile.firstRow) * tile.px + x;
    if (row < tile.firstRow || row >= tile.firstRow + tile.rows || x < 0 || x >= tile.px) return '';
    if (tile.levels) {
        const [mean, max, min] = tile.levels.subarray(at * 3, at * 3 + 3);
        if (Number.isNaN(mean!)) return 'no value';
        return max === min
            ? significant(mean!, 5)
            : `mean ${significant(mean!, 4)}, ${significant(min!, 4)} to ${significant(max!, 4)}`;
    }
    const codes = tile.codes!.subarray(at * 8, at * 8 + 8);
    const parts: string[] = [];
    for (let i = 0; i < 4 && codes[i] !== 255; i++)
        parts.push(`${codeText(metric.codes[codes[i]!])} ${percent((codes[4 + i]! / 255) * 100)}`);
    return parts.length === 1 ? codeText(metric.codes[codes[0]!]) : parts.join(', ') || 'no time';
}

export function valueText(metric: MetricState, moment: Moment): string {
    if (moment.value === undefined || moment.value === null) return 'no value';
    return moment.text ?? (metric.is_code ? integer(moment.value) : significant(moment.value, 6));
}
