// SPDX-License-Identifier: Apache-2.0
// Data from the server: the metric, the tile around the view, events and messages. One
// request of a kind is under way; a later view ends it.

import { computed, signal } from '@preact/signals';
import { type Layout, LABELS_PX } from './draw';
import {
    type Counts,
    type Messages,
    type Meta,
    type MetricState,
    type Tile,
    askEvents,
    askMessages,
    askMetric,
    askTile,
    askWhere,
} from './server';
import { type Span, type View, drawModeOf, lengthOf, view } from './view';

export const meta = signal<Meta | null>(null);
export const metric = signal<MetricState | null>(null);
/** The chosen metric if the server can answer for it; null until then. */
export const readyMetric = computed(() =>
    metric.value?.state === 'ready' && metric.value.name === view.value.metric
        ? metric.value
        : null,
);
export const tile = signal<Tile | null>(null);
export const events = signal<Counts | null>(null);
/** Pixels that have a value of the chosen range. */
export const places = signal<Counts | null>(null);
export const messages = signal<Messages | null>(null);
export const failure = signal<string | null>(null);
/** How long the latest tile took, ms: from its request to its pixels. */
export const tookMs = signal<number | null>(null);

const MESSAGES_MOST = 500;
const AROUND = 0.5; // of the view, on each side: so that panning shows something at once
const WAIT_MS = 400;
const PIXELS_MAX = 8192;

export function fail(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    failure.value =
        error instanceof TypeError
            ? 'The server does not answer. It ends with Ctrl-C in its terminal; start it again.'
            : String(error instanceof Error ? error.message : error);
}

/** Waits until its index is there, and shows how far that is meanwhile. */
export async function loadMetric(name: string, isWanted: () => boolean): Promise<void> {
    for (;;) {
        const next = await askMetric(name);
        if (!isWanted()) return;
        metric.value = next;
        if (next.state !== 'making') return;
        await new Promise(done => setTimeout(done, WAIT_MS));
    }
}

/** The span around the view with pixels of the same length. */
export function aroundOf(span: Span, px: number, end: number): Span & { px: number } {
    const nsPerPx = lengthOf(span) / px;
    const margin = lengthOf(span) * AROUND;
    const from = Math.max(0, Math.floor(span.from - margin));
    const to = Math.min(end, Math.ceil(span.to + margin));
    return {
        from,
        to,
        px: Math.max(1, Math.min(PIXELS_MAX, Math.round((to - from) / nsPerPx))),
    };
}

let abort = new AbortController();

/** Removes the pictures of a metric, and ends the requests for more. */
export function forgetPictures(): void {
    abort.abort();
    tile.value = null;
    events.value = null;
    places.value = null;
    messages.value = null;
}

/** Asks for the pictures of a view. The old ones stay until the answers come. */
export async function load(shown: View, layout: Layout, end: number): Promise<void> {
    const current = readyMetric.value;
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    if (!current) return;
    const mode = drawModeOf(shown.mode, current.is_code);
    const around = aroundOf(shown, Math.max(1, layout.width - LABELS_PX), end);
    const window = {
        ...around,
        metric: current.name,
        firstRow: shown.firstRow,
        rows: layout.shown,
        ...(mode.startsWith('draw_') ? { draw: mode } : {}),
    };
    const isOfThreads = current.level === 'thread';
    const begin = performance.now();
    try {
        tile.value = await askTile(window, signal);
        tookMs.value = performance.now() - begin;
        places.value =
            shown.values && !current.is_code ? await askWhere(window, shown.values, signal) : null;
        const type = shown.event === 'all' ? NaN : Number(shown.event);
        events.value = shown.event && isOfThreads ? await askEvents(window, type, signal) : null;
        messages.value =
            shown.messages && isOfThreads
                ? await askMessages(shown.from, shown.to, MESSAGES_MOST, signal)
                : null;
        failure.value = null;
    } catch (error) {
        fail(error);
    }
}
