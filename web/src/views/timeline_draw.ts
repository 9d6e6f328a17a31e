// SPDX-License-Identifier: Apache-2.0
// The picture of what threads did over time, on a canvas.

import { type Level, type Span, lengthOf } from '../data/levels';
import type { Lane } from '../data/timeline';
import { seconds } from '../format';
import { cssColor } from '../theme';
import { isHatched, stateColour } from './timeline_states';

export const LABELS_PX = 118;
export const SCALE_PX = 18;
const LABEL_PX = 13; // of text, at least
const PATH_PX = 2;
const TICKS = 8;

/** A thread and a bin; a bin from which on others are chosen. */
export interface Place {
    row: number;
    bin: number;
    anchor: number | null;
}

export interface Drawing {
    level: Level;
    span: Span;
    others: readonly string[];
    rowPx: number;
    width: number;
}

/** Many ranks stay in one picture, few are not drawn as towers. */
export function rowHeight(lanes: number): number {
    return Math.max(5, Math.min(24, Math.floor(520 / Math.max(1, lanes))));
}

/** Steps of 1, 2 or 5 times a power of ten, of which so many fit. */
export function niceStep(length: number, most: number): number {
    const least = length / most;
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least) ?? least;
}

/** Returns the position of a time in the picture, from its left edge. */
function xOf({ span, width }: Drawing, at: number): number {
    return LABELS_PX + ((at - span.from) / lengthOf(span)) * (width - LABELS_PX);
}

/** Left edge and width of so many bins, as far as they are in the picture; in whole pixels, so that
 * neighbours leave no seam. */
function boxOf(d: Drawing, bin: number, n = 1): [number, number] {
    const { binS } = d.level;
    const left = Math.round(Math.max(LABELS_PX, xOf(d, bin * binS)));
    return [left, Math.round(Math.min(d.width, xOf(d, (bin + n) * binS))) - left];
}

/** The bins that are in the picture. */
export function binsOf({ binS }: Level, span: Span): { first: number; last: number } {
    const first = Math.floor(span.from / binS + 1e-6);
    return { first, last: Math.max(first, Math.ceil(span.to / binS - 1e-6) - 1) };
}

/** Formats the time of a tick, with enough digits to differ from its neighbours. */
export function tickOf(at: number, step: number): string {
    const size = (value: number): number => Math.floor(Math.log10(value) + 1e-9);
    return seconds(at, Math.max(3, size(Math.max(at, step)) - size(step) + 1));
}

/** Formats the time of a border of a bin, which is seldom a round number. */
export function timeOf(at: number, binS: number): string {
    return tickOf(at, binS / 4);
}

function drawScale(context: CanvasRenderingContext2D, d: Drawing): void {
    const step = niceStep(lengthOf(d.span), TICKS);
    context.fillStyle = cssColor('--muted');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'top';
    for (let i = Math.ceil(d.span.from / step - 1e-6); i * step <= d.span.to; i++) {
        const x = xOf(d, i * step);
        const text = tickOf(i * step, step);
        if (x + context.measureText(text).width <= d.width) context.fillText(text, x, 2);
        context.fillRect(x, SCALE_PX - 3, 1, 3);
    }
}

/** Thin lines across, so that it looks like nothing else in either scheme. */
function hatching(context: CanvasRenderingContext2D): CanvasPattern | string {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const on = tile.getContext('2d');
    if (!on) return cssColor('--panel');
    on.fillStyle = cssColor('--panel');
    on.fillRect(0, 0, 6, 6);
    on.strokeStyle = cssColor('--line-strong');
    on.beginPath();
    for (const at of [-6, 0, 6]) {
        on.moveTo(at, 6);
        on.lineTo(at + 6, 0);
    }
    on.stroke();
    return context.createPattern(tile, 'repeat') ?? cssColor('--panel');
}

function drawLane(
    context: CanvasRenderingContext2D,
    lane: Lane,
    d: Drawing,
    top: number,
    hatched: CanvasPattern | string,
): void {
    const path = d.rowPx >= 8 ? PATH_PX + 1 : PATH_PX;
    const height = d.rowPx - path;
    const { first, last } = binsOf(d.level, d.span);
    for (let bin = first; bin <= last; bin++) {
        let y = top + height;
        const [x, wide] = boxOf(d, bin);
        for (const { name, bins } of lane.states) {
            const part = ((bins[bin] ?? 0) / 1000) * height;
            if (part <= 0) continue;
            y -= part;
            context.fillStyle = isHatched(name) ? hatched : cssColor(stateColour(name, d.others));
            context.fillRect(x, y, wide, part);
        }
        if ((lane.path[bin] ?? 0) >= 500) {
            context.fillStyle = cssColor('--text');
            context.fillRect(x, top + height, wide, PATH_PX);
        }
    }
}

/** The bin, and what is chosen with it in all rows. */
function drawPlace(context: CanvasRenderingContext2D, d: Drawing, place: Place): void {
    const rows = d.level.lanes.length * d.rowPx;
    context.strokeStyle = cssColor('--match');
    context.lineWidth = 2;
    if (place.anchor !== null) {
        const first = Math.min(place.anchor, place.bin);
        const [left, wide] = boxOf(d, first, Math.abs(place.anchor - place.bin) + 1);
        context.globalAlpha = 0.3;
        context.fillStyle = cssColor('--match');
        context.fillRect(left, SCALE_PX, wide, rows);
        context.globalAlpha = 1;
        context.strokeRect(left, SCALE_PX + 1, wide, rows - 2);
    }
    const [left, wide] = boxOf(d, place.bin);
    context.strokeRect(left - 1, SCALE_PX + place.row * d.rowPx, wide + 2, d.rowPx);
}

export function draw(canvas: HTMLCanvasElement, d: Drawing, place: Place | null): void {
    const ratio = devicePixelRatio || 1;
    const { lanes } = d.level;
    const height = SCALE_PX + lanes.length * d.rowPx;
    canvas.width = Math.round(d.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${d.width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const every = Math.ceil(LABEL_PX / d.rowPx);
    const hatched = hatching(context);
    drawScale(context, d);
    lanes.forEach((lane, row) => {
        const top = SCALE_PX + row * d.rowPx;
        drawLane(context, lane, d, top, hatched);
        if (row % every !== 0) return;
        context.fillStyle = cssColor('--text');
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'top';
        context.fillText(lane.label, 2, top, LABELS_PX - 8);
    });
    if (place) drawPlace(context, d, place);
}
