// SPDX-License-Identifier: Apache-2.0
// Requests to the server of the time line (doc/internals/timeline.md). Times are nanoseconds since
// the begin of the trace.

export interface Metric {
    name: string;
    title: string;
    text: string;
    is_code: boolean;
    level: string;
}

export interface EventType {
    type: number;
    label: string | null;
    n: number;
}

export interface Meta {
    title: string;
    has_report: boolean;
    end_ns: number;
    pieces_n: number;
    instants_n: number;
    events_n: number;
    messages_n: number;
    bad_lines_n: number;
    metrics: Metric[];
    types: EventType[];
}

export interface Code {
    value: number;
    label: string | null;
}

export interface MetricState {
    name: string;
    state: 'ready' | 'making' | 'failed';
    lines_n: number;
    instants_n: number;
    error?: string;
    level: string;
    is_code: boolean;
    rows: string[];
    codes: Code[];
    min: number;
    max: number;
}

/** A picture: rows x pixels of equal time from `from` to `to`. */
export interface Tile {
    from: number;
    to: number;
    firstRow: number;
    rows: number;
    px: number;
    /** Four codes and four shares of 255 for each pixel; null: numbers. */
    codes: Uint8Array | null;
    /** Mean (or the value of the draw mode), max and min for each pixel; null: codes. */
    levels: Float32Array | null;
}

export interface Counts {
    from: number;
    to: number;
    firstRow: number;
    rows: number;
    px: number;
    n: Uint16Array;
}

export interface Messages {
    total: number;
    /** Send, receive, sender, receiver, bytes, tag of each. */
    at: Float64Array;
}

export interface EventAt {
    row: number;
    type: number;
    label: string | null;
    ns: number;
    value: number;
    text: string | null;
}

export interface Moment {
    row: number;
    begin_ns?: number;
    end_ns?: number;
    value?: number | null;
    text?: string | null;
    events?: EventAt[];
}

export interface Window {
    metric: string;
    from: number;
    to: number;
    px: number;
    firstRow: number;
    rows: number;
    /** A draw mode of Paraver, for tiles. */
    draw?: string;
}

type Query = Record<string, string | number | undefined>;

async function ask(name: string, query: Query, signal?: AbortSignal): Promise<Response> {
    const params = new URLSearchParams();
    for (const [key, value] of Object.entries(query))
        if (value !== undefined)
            params.set(key, typeof value === 'number' ? String(Math.round(value)) : value);
    const answer = await fetch(`${name}?${params}`, { signal: signal ?? null });
    if (!answer.ok) throw new Error(`${name}: the server answers ${answer.status}`);
    return answer;
}

/** The configuration of a metric, as a file of Paraver. */
export const askConfiguration = async (metric: string): Promise<string> =>
    (await ask('cfg', { m: metric })).text();

async function json<T>(name: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    return (await ask(name, query, signal)).json() as Promise<T>;
}

const HEAD_B = 16;

async function picture(name: string, query: Query, signal?: AbortSignal) {
    const bytes = await (await ask(name, query, signal)).arrayBuffer();
    const [kind, rows, px, firstRow] = new Uint32Array(bytes, 0, 4);
    return { bytes, kind: kind!, rows: rows!, px: px!, firstRow: firstRow! };
}

const queryOf = (w: Window): Query => ({
    m: w.metric,
    from: w.from,
    to: w.to,
    px: w.px,
    row: w.firstRow,
    rows: w.rows,
});

export const askMeta = (): Promise<Meta> => json('meta');

export const askMetric = (name: string): Promise<MetricState> => json('metric', { m: name });

export async function askTile(w: Window, signal: AbortSignal): Promise<Tile> {
    const { bytes, kind, ...size } = await picture('tile', { ...queryOf(w), draw: w.draw }, signal);
    return {
        ...size,
        from: w.from,
        to: w.to,
        codes: kind === 1 ? new Uint8Array(bytes, HEAD_B) : null,
        levels: kind === 2 ? new Float32Array(bytes, HEAD_B) : null,
    };
}

export async function askEvents(w: Window, type: number, signal: AbortSignal): Promise<Counts> {
    const query = { ...queryOf(w), m: undefined, type: Number.isNaN(type) ? undefined : type };
    const { bytes, rows, px, firstRow } = await picture('events', query, signal);
    return { rows, px, firstRow, from: w.from, to: w.to, n: new Uint16Array(bytes, HEAD_B) };
}

export async function askMessages(
    from: number,
    to: number,
    most: number,
    signal: AbortSignal,
): Promise<Messages> {
    const answer = await ask('messages', { from, to, most }, signal);
    const all = new Float64Array(await answer.arrayBuffer());
    return { total: all[0]!, at: all.subarray(2) };
}

export const askMoment = (metric: string, row: number, ns: number): Promise<Moment> =>
    json('at', { m: metric, row, ns });

export const askNext = async (
    type: number,
    ns: number,
    isBack: boolean,
    row?: number,
): Promise<EventAt | null> => {
    const query = {
        type: Number.isNaN(type) ? undefined : type,
        ns,
        back: isBack ? 1 : 0,
        row,
    };
    return (await json<{ event?: EventAt }>('next', query)).event ?? null;
};

export interface Found {
    begin_ns?: number;
    end_ns?: number;
}

export const askPiece = (metric: string, row: number, code: number, ns: number): Promise<Found> =>
    json('find', { m: metric, row, code, ns });

/** Columns of equal width from `min` to `max`; null: the values set them. */
export interface Columns {
    n: number;
    range: { min: number; max: number } | null;
}

export interface Histogram {
    min: number;
    max: number;
    delta: number;
    columns_n: number;
    outside_n: number;
    outside_ns: number;
    /** Row, column, nanoseconds, pieces. */
    cells: [number, number, number, number][];
}

/** Decimals of a range are not rounded. */
const columnsQuery = ({ n, range }: Columns): Query => ({
    columns: n,
    min: range ? String(range.min) : undefined,
    max: range ? String(range.max) : undefined,
});

export const askHistogram = (
    metric: string,
    from: number,
    to: number,
    columns: Columns,
    signal: AbortSignal,
): Promise<Histogram> =>
    json('histogram', { m: metric, from, to, ...columnsQuery(columns) }, signal);

/** The next piece of a row in a column of a histogram. */
export const askPieceIn = (
    metric: string,
    row: number,
    { min, max, columns_n: n }: Histogram,
    column: number,
    ns: number,
): Promise<Found> =>
    json('find', { m: metric, row, ns, column, ...columnsQuery({ n, range: { min, max } }) });

export async function askWhere(
    w: Window,
    values: { low: number; high: number },
    signal: AbortSignal,
): Promise<Counts> {
    const range = { low: String(values.low), high: String(values.high) };
    const { bytes, rows, px, firstRow } = await picture(
        'where',
        { ...queryOf(w), ...range },
        signal,
    );
    return { rows, px, firstRow, from: w.from, to: w.to, n: new Uint16Array(bytes, HEAD_B) };
}

export const askTable = async (
    metric: string,
    from: number,
    to: number,
    signal: AbortSignal,
): Promise<(number | null)[][]> =>
    (await json<{ rows: (number | null)[][] }>('table', { m: metric, from, to }, signal)).rows;

export interface Pairs {
    is_cut: boolean;
    pairs: [number, number, number, number][];
}

export const askMatrix = (from: number, to: number, signal: AbortSignal): Promise<Pairs> =>
    json('matrix', { from, to }, signal);
