// SPDX-License-Identifier: Apache-2.0
// Tables of the region, or of the part in view: time by state of each row, bytes by sender and
// receiver. A click on a cell goes to the next place with that state.

import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, count, integer, percent, significant } from '../format';
import { cssColor, isDark } from '../theme';
import { fail, meta, metric, readyMetric } from './data';
import { type Found, type Pairs, askMatrix, askPiece, askTable } from './server';
import { type Span, centred, change, clamped, lengthOf, show, view } from './view';
import { codeText, duration } from './words';

const WAIT_MS = 250;
export const ROWS_SHOWN = 200;
const MATRIX_PX = 300;

/** Asks when the span rests. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, keys: unknown[]): T | null {
    const [answer, setAnswer] = useState<T | null>(null);
    useEffect(() => {
        const abort = new AbortController();
        const timer = setTimeout(() => {
            ask(abort.signal).then(setAnswer, () => undefined);
        }, WAIT_MS);
        return () => {
            abort.abort();
            clearTimeout(timer);
        };
    }, keys);
    return answer;
}

export const spanOf = (): Span => view.value.region ?? { from: view.value.from, to: view.value.to };

/** Goes to the next piece of a row behind the marked place; at the end to the first one. */
export async function goToNextPiece(
    row: number,
    ask: (ns: number) => Promise<Found>,
): Promise<void> {
    const { at, from, to } = view.value;
    const end = meta.value!.end_ns;
    const after = at?.row === row ? at.ns : spanOf().from - 1;
    let found = await ask(Math.max(-1, after));
    if (found.begin_ns === undefined) found = await ask(-1);
    if (found.begin_ns === undefined) return;
    change({ at: { row, ns: found.begin_ns } });
    if (found.begin_ns < from || found.begin_ns > to)
        show(centred(view.value, end, found.begin_ns));
}

const goToCode = (row: number, code: number): void => {
    const name = readyMetric.value?.name;
    if (name !== undefined)
        void goToNextPiece(row, ns => askPiece(name, row, code, ns)).catch(fail);
};

/** The first row of the table: of many rows, those from the first in the picture on. */
export const firstOf = (rows: readonly unknown[]): number =>
    rows.length > ROWS_SHOWN ? Math.min(view.value.firstRow, rows.length - ROWS_SHOWN) : 0;

function CodeTable({ rows, span }: { rows: (number | null)[][]; span: Span }) {
    const first = firstOf(rows);
    const { codes, rows: labels } = metric.value!;
    const totals = codes.map((_, code) => rows.reduce((sum, row) => sum + (row[code] ?? 0), 0));
    const shown = codes.map((_, code) => code).filter(code => totals[code]! > 0);
    const whole = lengthOf(span);
    return (
        <table class="times">
            <thead>
                <tr>
                    <th scope="col">Row</th>
                    {shown.map(code => (
                        <th key={code} scope="col">
                            {codeText(codes[code])}
                        </th>
                    ))}
                </tr>
            </thead>
            <tbody>
                <tr>
                    <th scope="row">All, mean</th>
                    {shown.map(code => (
                        <td key={code}>{percent((100 * totals[code]!) / (whole * rows.length))}</td>
                    ))}
                </tr>
                {rows.slice(first, first + ROWS_SHOWN).map((row, at) => (
                    <tr key={first + at}>
                        <th scope="row">{labels[first + at]}</th>
                        {shown.map(code => (
                            <td key={code}>
                                {row[code] ? (
                                    <button
                                        type="button"
                                        class="link"
                                        data-tip={`${duration(row[code]!)}: go to the next one`}
                                        onClick={() => goToCode(first + at, code)}
                                    >
                                        {percent((100 * row[code]!) / whole)}
                                    </button>
                                ) : (
                                    ''
                                )}
                            </td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

function LevelTable({ rows }: { rows: (number | null)[][] }) {
    const first = firstOf(rows);
    const labels = metric.value!.rows;
    const text = (value: number | null | undefined): string =>
        value === null || value === undefined ? '' : significant(value, 4);
    return (
        <table class="times">
            <thead>
                <tr>
                    {['Row', 'Mean over time', 'Max', 'Min'].map(one => (
                        <th key={one} scope="col">
                            {one}
                        </th>
                    ))}
                </tr>
            </thead>
            <tbody>
                {rows.slice(first, first + ROWS_SHOWN).map((row, at) => (
                    <tr key={first + at}>
                        <th scope="row">{labels[first + at]}</th>
                        {[0, 1, 2].map(i => (
                            <td key={i}>{text(row[i])}</td>
                        ))}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function Times() {
    const span = spanOf();
    const current = readyMetric.value;
    const rows = useAnswer(
        signal =>
            current
                ? askTable(current.name, span.from, span.to, signal).then(all => ({
                      of: current,
                      span,
                      all,
                  }))
                : Promise.resolve(null),
        [span.from, span.to, current],
    );
    if (!current || rows?.of !== current) return <p class="note">Adding up …</p>;
    return (
        <>
            {rows.all.length > ROWS_SHOWN && (
                <p class="note">
                    {ROWS_SHOWN} of {integer(rows.all.length)} rows, from the first in the picture
                    on. The mean is of all.
                </p>
            )}
            <div class="scrolls" tabIndex={0} role="region" aria-label="Table of rows">
                {current.is_code ? (
                    <CodeTable rows={rows.all} span={rows.span} />
                ) : (
                    <LevelTable rows={rows.all} />
                )}
            </div>
        </>
    );
}

/** A cell is a pair of rows, or of groups of rows where there are more than pixels. */
function drawMatrix(canvas: HTMLCanvasElement, { pairs }: Pairs, rows: number): void {
    const cells = Math.min(rows, MATRIX_PX);
    const sums = new Float64Array(cells * cells);
    for (const [from, to, , size] of pairs) {
        const at = Math.floor((from * cells) / rows) * cells + Math.floor((to * cells) / rows);
        sums[at] = sums[at]! + size;
    }
    const most = sums.reduce((a, b) => Math.max(a, b), 0);
    const context = canvas.getContext('2d')!;
    canvas.width = canvas.height = MATRIX_PX;
    context.fillStyle = cssColor('--raised');
    context.fillRect(0, 0, MATRIX_PX, MATRIX_PX);
    const heat = cssColor('--heat').split(' ').join(', ');
    const cell = MATRIX_PX / cells;
    for (let i = 0; i < sums.length; i++) {
        if (!sums[i]) continue;
        context.fillStyle = `rgba(${heat}, ${0.25 + (0.75 * sums[i]!) / most})`;
        context.fillRect(
            (i % cells) * cell,
            Math.floor(i / cells) * cell,
            Math.max(1, cell - (cell > 6 ? 1 : 0)),
            Math.max(1, cell - (cell > 6 ? 1 : 0)),
        );
    }
}

export function Matrix() {
    const span = spanOf();
    const canvas = useRef<HTMLCanvasElement>(null);
    const [told, setTold] = useState('');
    const current = metric.value;
    const rows = current?.rows ?? [];
    const pairs = useAnswer(signal => askMatrix(span.from, span.to, signal), [span.from, span.to]);
    const dark = isDark.value;
    useEffect(() => {
        if (pairs && canvas.current) drawMatrix(canvas.current, pairs, rows.length);
    }, [pairs, rows, dark]);
    if (current?.level !== 'thread')
        return <p class="note">Choose a metric of threads to see messages.</p>;
    if (!pairs) return <p class="note">Adding up …</p>;
    const n = pairs.pairs.reduce((sum, one) => sum + one[2], 0);
    const size = pairs.pairs.reduce((sum, one) => sum + one[3], 0);
    const pairAt = (event: MouseEvent): Pairs['pairs'][number] | undefined => {
        const from = Math.floor((event.offsetY / MATRIX_PX) * rows.length);
        const to = Math.floor((event.offsetX / MATRIX_PX) * rows.length);
        return pairs.pairs.find(one => one[0] === from && one[1] === to);
    };
    const tell = (event: MouseEvent): void => {
        const one = pairAt(event);
        setTold(
            one
                ? `${rows[one[0]]} to ${rows[one[1]]}: ${count(one[2])} messages, ${bytes(one[3])}`
                : '',
        );
    };
    const goTo = (event: MouseEvent): void => {
        const one = pairAt(event);
        if (one) change({ at: { row: one[0], ns: Math.round(span.from) }, messages: true });
    };
    return (
        <>
            <p class="note">
                {integer(n)} messages, {bytes(size)}. Senders from top to bottom, receivers from
                left to right.{pairs.is_cut && ' There are more pairs than are shown.'}
            </p>
            {n > 0 && (
                <canvas
                    ref={canvas}
                    class="matrix"
                    role="img"
                    aria-label={`Bytes by sender and receiver: ${pairs.pairs.length} pairs`}
                    onPointerMove={tell}
                    onPointerLeave={() => setTold('')}
                    onClick={goTo}
                />
            )}
            <p class="note" role="status">
                {told}
            </p>
        </>
    );
}

export const zoomToRegion = (): void => {
    const { region } = view.value;
    if (!region) return;
    show(clamped(region, meta.value!.end_ns));
    change({ region: null });
};
