// SPDX-License-Identifier: Apache-2.0
// The part in view: a span of time, rows, a metric, marks. The address has all of it behind `#`, so
// that a link shows the same. Zooms can be undone.

import { signal } from '@preact/signals';

export interface Span {
    from: number;
    to: number;
}

export interface Place {
    row: number;
    ns: number;
}

/** How a pixel shows several values: the tile's own three, or a draw mode of Paraver. */
export const DRAW_MODES = {
    mean: 'mean',
    max: 'maximum',
    min: 'minimum',
    draw_last: 'last',
    draw_maximum: 'maximum',
    draw_minnotzero: 'minimum, not zero',
    draw_random: 'random',
    draw_randnotzero: 'random, not zero',
    draw_averagenotzero: 'mean, not zero',
    draw_mode: 'most frequent',
    draw_absolute_maximum: 'absolute maximum',
    draw_absolute_minimum: 'absolute minimum, not zero',
} as const;

export type DrawMode = keyof typeof DRAW_MODES;

const isDrawMode = (word: string | null): word is DrawMode =>
    word !== null && Object.hasOwn(DRAW_MODES, word);

const OF_NUMBERS: readonly DrawMode[] = ['max', 'min', 'draw_averagenotzero'];

/** Codes have no mean, and no maximum of a tile. */
export const drawModesOf = (isCode: boolean): DrawMode[] =>
    (Object.keys(DRAW_MODES) as DrawMode[]).filter(mode =>
        isCode ? !OF_NUMBERS.includes(mode) : mode !== 'draw_maximum',
    );

/** The mode of a link, where it is one of the metric; else the first. */
export const drawModeOf = (mode: DrawMode, isCode: boolean): DrawMode =>
    drawModesOf(isCode).includes(mode)
        ? mode
        : mode === 'max' && isCode
          ? 'draw_maximum'
          : mode === 'draw_maximum' && !isCode
            ? 'max'
            : 'mean';

/** Values of a metric of numbers: from `low` to below `high`. */
export interface Values {
    low: number;
    high: number;
}

export interface View extends Span {
    metric: string;
    mode: DrawMode;
    firstRow: number;
    rowPx: number; // 0: chosen by the number of rows
    event: string; // a type, 'all' or ''
    messages: boolean;
    region: Span | null;
    at: Place | null;
    values: Values | null; // marked in the picture
}

export const LEAST_NS = 10;
const PAUSE_MS = 500;
export const WHEEL_FLOW = 'wheel';

export const lengthOf = (span: Span): number => span.to - span.from;

/** The span moved and shortened so that it lies in the trace; whole nanoseconds. */
export function clamped(span: Span, end: number): Span {
    const length = Math.min(Math.max(LEAST_NS, Math.round(lengthOf(span))), Math.max(end, 1));
    const from = Math.round(Math.max(0, Math.min(span.from, end - length)));
    return { from, to: from + length };
}

/** Closer by `factor`; the time `at` stays where it is in the picture. */
export function zoomed(span: Span, end: number, factor: number, at: number): Span {
    const share = (at - span.from) / lengthOf(span);
    const length = Math.max(LEAST_NS, lengthOf(span) / factor);
    const from = at - share * length;
    return clamped({ from, to: from + length }, end);
}

export function moved(span: Span, end: number, share: number): Span {
    const by = lengthOf(span) * share;
    return clamped({ from: span.from + by, to: span.to + by }, end);
}

export function centred(span: Span, end: number, at: number): Span {
    const half = lengthOf(span) / 2;
    return clamped({ from: at - half, to: at + half }, end);
}

const DEFAULTS: View = {
    from: 0,
    to: 0,
    metric: 'states',
    mode: 'mean',
    firstRow: 0,
    rowPx: 0,
    event: '',
    messages: true,
    region: null,
    at: null,
    values: null,
};

const pair = (a: number, b: number): string => `${Math.round(a)}..${Math.round(b)}`;

/** "#from=0&to=41011009&m=states" */
export function hashOf(view: View): string {
    const params = new URLSearchParams({ from: String(view.from), to: String(view.to) });
    params.set('m', view.metric);
    if (view.mode !== DEFAULTS.mode) params.set('mode', view.mode);
    if (view.firstRow) params.set('row', String(view.firstRow));
    if (view.rowPx) params.set('height', String(view.rowPx));
    if (view.event) params.set('event', view.event);
    if (!view.messages) params.set('messages', '0');
    if (view.region) params.set('region', pair(view.region.from, view.region.to));
    if (view.at) params.set('at', pair(view.at.row, view.at.ns));
    if (view.values) params.set('values', `${view.values.low}..${view.values.high}`);
    return `#${params}`;
}

function numberOf(text: string | null, otherwise: number, most: number): number {
    const value = text === null || text === '' ? NaN : Number(text);
    return Number.isFinite(value) ? Math.max(0, Math.min(most, Math.round(value))) : otherwise;
}

function pairOf(text: string | null): [number, number] | null {
    const found = /^(\d+)\.\.(\d+)$/.exec(text ?? '');
    return found ? [Number(found[1]), Number(found[2])] : null;
}

function valuesOf(text: string | null): Values | null {
    const [low, high, more] = (text ?? '')
        .split('..')
        .map(part => (part === '' ? NaN : Number(part)));
    const isRange = Number.isFinite(low) && Number.isFinite(high) && more === undefined;
    return isRange && high! > low! ? { low: low!, high: high! } : null;
}

/** Invalid parameters get their defaults: links are typed by people, too. */
export function viewOf(hash: string, end: number, metrics: readonly string[]): View {
    const params = new URLSearchParams(hash.replace(/^#/, ''));
    const from = numberOf(params.get('from'), 0, end);
    const to = numberOf(params.get('to'), end, end);
    const mode = params.get('mode');
    const metric = params.get('m') ?? '';
    const region = pairOf(params.get('region'));
    const at = pairOf(params.get('at'));
    return {
        ...clamped(to > from ? { from, to } : { from: 0, to: end }, end),
        metric: metrics.includes(metric) ? metric : DEFAULTS.metric,
        mode: isDrawMode(mode) ? mode : 'mean',
        firstRow: numberOf(params.get('row'), 0, 1 << 24),
        rowPx: numberOf(params.get('height'), 0, 64),
        event: /^(all|-?\d+)$/.test(params.get('event') ?? '') ? params.get('event')! : '',
        messages: params.get('messages') !== '0',
        region: region && region[1] > region[0] ? { from: region[0], to: region[1] } : null,
        at: at ? { row: at[0], ns: at[1] } : null,
        values: valuesOf(params.get('values')),
    };
}

// ---- The view of the page ----

export const view = signal<View>(DEFAULTS);
export const undoable = signal<Span[]>([]);
let changedAt = 0;
let lastFlow: string | undefined;
let timer = 0;

function writeHash(): void {
    clearTimeout(timer);
    timer = window.setTimeout(() => history.replaceState(null, '', hashOf(view.value)), 120);
}

export function change(next: Partial<View>): void {
    view.value = { ...view.value, ...next };
    writeHash();
}

/**
 * Shows another span. Changes of one flow are one step of undo: a drag has a name of its own, the
 * wheel and held keys make one until they pause.
 */
export function show(next: Span, flow?: string): void {
    const { from, to } = view.value;
    if (next.from === from && next.to === to) return;
    const now = performance.now();
    const isPaused = flow === WHEEL_FLOW && now - changedAt > PAUSE_MS;
    if (!flow || flow !== lastFlow || isPaused) undoable.value = [...undoable.value, { from, to }];
    changedAt = now;
    lastFlow = flow;
    change({ from: next.from, to: next.to });
}

export function undo(): void {
    const last = undoable.value.at(-1);
    if (!last) return;
    undoable.value = undoable.value.slice(0, -1);
    lastFlow = undefined;
    change(last);
}
