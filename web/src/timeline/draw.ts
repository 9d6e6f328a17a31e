// SPDX-License-Identifier: Apache-2.0
// The picture on a canvas: scale, labels, states or numbers of rows, events, messages, marks.

import { cssColor } from '../theme';
import { niceStep, tickOf } from '../views/timeline_draw';
import { gradient, pixelOfVariable, variablesOf } from './colours';
import type { Counts, Messages, MetricState, Tile } from './server';
import { type Place, type Span, type View, lengthOf } from './view';

export const LABELS_PX = 128;
export const SCALE_PX = 20;
const NONE = 255;
const SHARES = 4;
const STACKED_PX = 6; // rows of this height show shares, lower ones the longest state
const CURVE_PX = 16;
const LABEL_PX = 12;

export interface Layout {
    width: number;
    height: number;
    rowPx: number;
    rows: number; // of the metric
    shown: number; // rows that fit
}

/** Few rows are high, many are low; below 2 pixels they scroll. */
export function layoutOf(width: number, height: number, rows: number, asked: number): Layout {
    const room = Math.max(1, height - SCALE_PX);
    const fitting = Math.floor(room / Math.max(1, rows));
    const rowPx = asked || Math.max(2, Math.min(rows === 1 ? 120 : 24, fitting));
    return { width, height, rowPx, rows, shown: Math.min(rows, Math.ceil(room / rowPx)) };
}

export const xOf = (layout: Layout, span: Span, ns: number): number =>
    LABELS_PX + ((ns - span.from) / lengthOf(span)) * (layout.width - LABELS_PX);

export const nsOf = (layout: Layout, span: Span, x: number): number =>
    span.from + ((x - LABELS_PX) / (layout.width - LABELS_PX)) * lengthOf(span);

export const yOf = (layout: Layout, view: View, row: number): number =>
    SCALE_PX + (row - view.firstRow) * layout.rowPx;

/** Codes of a pixel by their place, so that neighbours look alike; their shares. */
function fillStack(
    column: Uint32Array,
    at: number,
    codes: Uint8Array,
    colours: Uint32Array,
    height: number,
): void {
    const order = [0, 1, 2, 3]
        .filter(i => codes[at + i] !== NONE)
        .sort((a, b) => codes[at + a]! - codes[at + b]!);
    let sum = 0;
    let y = height;
    for (const i of order) {
        sum += codes[at + SHARES + i]!;
        const top = Math.round(height * (1 - sum / 255));
        while (y > top && y > 0) column[--y] = colours[codes[at + i]!] ?? 0;
    }
}

function paintCodes(pixels: Uint32Array, tile: Tile, colours: Uint32Array, rowPx: number): void {
    const codes = tile.codes!;
    const used = rowPx >= 8 ? rowPx - 1 : rowPx;
    const column = new Uint32Array(used);
    for (let row = 0; row < tile.rows; row++)
        for (let x = 0; x < tile.px; x++) {
            const at = (row * tile.px + x) * SHARES * 2;
            const first = codes[at]!;
            if (first === NONE) continue;
            const isWhole = codes[at + SHARES]! >= 254 || used < STACKED_PX;
            column.fill(isWhole ? (colours[first] ?? 0) : 0);
            if (!isWhole) fillStack(column, at, codes, colours, used);
            for (let y = 0; y < used; y++) pixels[(row * rowPx + y) * tile.px + x] = column[y]!;
        }
}

export interface Scale {
    min: number;
    max: number;
}

/** The place of a pixel's value: that of a draw mode is in the place of the mean. */
const placeOf = (mode: View['mode']): number => (mode === 'max' ? 1 : mode === 'min' ? 2 : 0);

/** The range of all values in the tile. */
export function scaleOf(tile: Tile): Scale {
    const levels = tile.levels!;
    let max = 0;
    let min = 0;
    for (let i = 0; i < levels.length; i += 3) {
        if (levels[i + 1]! > max) max = levels[i + 1]!;
        if (levels[i + 2]! < min) min = levels[i + 2]!;
    }
    return { min, max: max > min ? max : min + 1 };
}

function paintLevels(
    pixels: Uint32Array,
    tile: Tile,
    mode: View['mode'],
    scale: Scale,
    rowPx: number,
): void {
    const levels = tile.levels!;
    const steps = gradient();
    const place = placeOf(mode);
    const used = rowPx >= 8 ? rowPx - 1 : rowPx;
    const heightOf = (value: number): number =>
        Math.round(((value - scale.min) / (scale.max - scale.min)) * used);
    for (let row = 0; row < tile.rows; row++)
        for (let x = 0; x < tile.px; x++) {
            const at = (row * tile.px + x) * 3;
            const value = levels[at + place]!;
            if (Number.isNaN(value)) continue;
            if (used >= CURVE_PX) {
                const top = heightOf(value);
                const most = heightOf(levels[at + 1]!);
                for (let y = 0; y < most; y++)
                    pixels[(row * rowPx + used - 1 - y) * tile.px + x] = steps[y < top ? 220 : 60]!;
            } else if (value !== 0) {
                const step = ((value - scale.min) / (scale.max - scale.min)) * 255;
                const colour = steps[Math.max(0, Math.min(255, Math.round(step)))]!;
                for (let y = 0; y < used; y++) pixels[(row * rowPx + y) * tile.px + x] = colour;
            }
        }
}

/** The tile as a canvas of its own, which zooming and panning move until the next one is there. */
export function paint(
    tile: Tile,
    metric: MetricState,
    mode: View['mode'],
    rowPx: number,
): HTMLCanvasElement {
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, tile.px);
    canvas.height = Math.max(1, tile.rows * rowPx);
    const context = canvas.getContext('2d')!;
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    if (tile.codes) {
        const names = variablesOf(metric.codes, metric.name === 'states');
        paintCodes(pixels, tile, Uint32Array.from(names, pixelOfVariable), rowPx);
    } else {
        paintLevels(pixels, tile, mode, scaleOf(tile), rowPx);
    }
    context.putImageData(image, 0, 0);
    return canvas;
}

// ---- All of it ----

export interface Drawing {
    layout: Layout;
    view: View;
    metric: MetricState;
    tile: Tile | null;
    painted: HTMLCanvasElement | null;
    events: Counts | null;
    places: Counts | null;
    messages: Messages | null;
    cursor: Place | null;
    chosen: Span | null;
}

function drawScale(context: CanvasRenderingContext2D, { layout, view }: Drawing): void {
    const step = niceStep(lengthOf(view), Math.max(2, (layout.width - LABELS_PX) / 110));
    context.fillStyle = cssColor('--muted');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'top';
    context.textAlign = 'left';
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
        const x = Math.round(xOf(layout, view, i * step));
        const text = tickOf((i * step) / 1e9, step / 1e9);
        if (x + 3 + context.measureText(text).width <= layout.width)
            context.fillText(text, x + 3, 3);
        context.fillRect(x, SCALE_PX - 6, 1, 6);
    }
}

function drawLabels(context: CanvasRenderingContext2D, d: Drawing): void {
    const { layout, view, metric } = d;
    const every = Math.max(1, Math.ceil(LABEL_PX / layout.rowPx));
    context.fillStyle = cssColor('--text');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (let i = 0; i < layout.shown; i++) {
        const row = view.firstRow + i;
        const label = metric.rows[row];
        if (label === undefined || row % every) continue;
        const y = yOf(layout, view, row) + Math.max(layout.rowPx, LABEL_PX) / 2;
        if (y < layout.height) context.fillText(label, 6, y, LABELS_PX - 12);
    }
}

function drawPainted(context: CanvasRenderingContext2D, d: Drawing): void {
    const { layout, view, tile, painted } = d;
    if (!tile || !painted) return;
    const x = xOf(layout, view, tile.from);
    const width = xOf(layout, view, tile.to) - x;
    const y = yOf(layout, view, tile.firstRow);
    context.imageSmoothingEnabled = false;
    context.drawImage(painted, x, y, width, tile.rows * layout.rowPx);
}

function drawEvents(context: CanvasRenderingContext2D, d: Drawing): void {
    const { layout, view, events } = d;
    if (!events) return;
    const width = (xOf(layout, view, events.to) - xOf(layout, view, events.from)) / events.px;
    const height = Math.max(1, Math.min(7, Math.ceil(layout.rowPx / 3)));
    context.fillStyle = cssColor('--text');
    for (let row = 0; row < events.rows; row++) {
        const y = yOf(layout, view, events.firstRow + row);
        for (let i = 0; i < events.px; i++)
            if (events.n[row * events.px + i]) {
                const x = xOf(layout, view, events.from) + i * width;
                context.fillRect(Math.round(x), y, 1, height);
            }
    }
}

/** A strip below each row: where its value is in the chosen range. */
function drawPlaces(context: CanvasRenderingContext2D, d: Drawing): void {
    const { layout, view, places } = d;
    if (!places) return;
    const width = (xOf(layout, view, places.to) - xOf(layout, view, places.from)) / places.px;
    const height = Math.max(1, Math.min(6, Math.ceil(layout.rowPx / 3)));
    context.fillStyle = cssColor('--match');
    const xAt = (i: number): number => Math.round(xOf(layout, view, places.from) + i * width);
    for (let row = 0; row < places.rows; row++) {
        const y = yOf(layout, view, places.firstRow + row) + layout.rowPx - height;
        const isMarked = (i: number): boolean => Boolean(places.n[row * places.px + i]);
        for (let i = 0; i < places.px; i++) {
            if (!isMarked(i)) continue;
            const first = i;
            while (i + 1 < places.px && isMarked(i + 1)) i++;
            context.fillRect(xAt(first), y, Math.max(1, xAt(i + 1) - xAt(first)), height);
        }
    }
}

function drawMessages(context: CanvasRenderingContext2D, d: Drawing): void {
    const { layout, view, messages } = d;
    if (!messages) return;
    const middle = layout.rowPx / 2;
    context.strokeStyle = cssColor('--match');
    context.globalAlpha = messages.at.length / 6 < messages.total ? 0.35 : 0.7;
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 0; i + 5 < messages.at.length; i += 6) {
        const [send, receive, from, to] = messages.at.subarray(i, i + 4);
        context.moveTo(xOf(layout, view, send!), yOf(layout, view, from!) + middle);
        context.lineTo(xOf(layout, view, receive!), yOf(layout, view, to!) + middle);
    }
    context.stroke();
    context.globalAlpha = 1;
}

function drawSpan(context: CanvasRenderingContext2D, d: Drawing, span: Span): void {
    const from = Math.max(LABELS_PX, xOf(d.layout, d.view, span.from));
    const to = Math.min(d.layout.width, xOf(d.layout, d.view, span.to));
    if (to <= from) return;
    context.fillStyle = cssColor('--accent');
    context.globalAlpha = 0.16;
    context.fillRect(from, SCALE_PX, to - from, d.layout.height);
    context.globalAlpha = 1;
    context.fillRect(from, SCALE_PX - 4, to - from, 4);
}

function drawPlace(
    context: CanvasRenderingContext2D,
    d: Drawing,
    place: Place,
    colour: string,
): void {
    const x = Math.round(xOf(d.layout, d.view, place.ns)) + 0.5;
    const y = yOf(d.layout, d.view, place.row);
    context.strokeStyle = cssColor(colour);
    context.lineWidth = 1;
    context.strokeRect(LABELS_PX + 0.5, y - 0.5, d.layout.width - LABELS_PX - 1, d.layout.rowPx);
    if (x < LABELS_PX) return;
    context.beginPath();
    context.moveTo(x, SCALE_PX - 6);
    context.lineTo(x, d.layout.height);
    context.stroke();
}

export function draw(canvas: HTMLCanvasElement, d: Drawing): void {
    const { width, height } = d.layout;
    const ratio = window.devicePixelRatio || 1;
    const context = canvas.getContext('2d');
    if (!context) return;
    if (
        canvas.width !== Math.round(width * ratio) ||
        canvas.height !== Math.round(height * ratio)
    ) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = cssColor('--panel');
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(LABELS_PX, SCALE_PX, width - LABELS_PX, height - SCALE_PX);
    context.clip();
    drawPainted(context, d);
    drawEvents(context, d);
    drawPlaces(context, d);
    drawMessages(context, d);
    context.restore();
    drawScale(context, d);
    drawLabels(context, d);
    const region = d.chosen ?? d.view.region;
    if (region) drawSpan(context, d, region);
    if (d.view.at) drawPlace(context, d, d.view.at, '--accent');
    if (d.cursor) drawPlace(context, d, d.cursor, '--line-strong');
}
