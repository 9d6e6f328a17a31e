// SPDX-License-Identifier: Apache-2.0
// The canvas with its mouse and keys.

import { useEffect, useRef, useState } from 'preact/hooks';
import { isDark } from '../theme';
import { events, failure, load, messages, meta, metric, places, readyMetric, tile } from './data';
import { LABELS_PX, SCALE_PX, draw, layoutOf, nsOf, paint, xOf, yOf } from './draw';
import { type Moment, askMoment } from './server';
import {
    type Place,
    type Span,
    WHEEL_FLOW,
    centred,
    change,
    clamped,
    drawModeOf,
    lengthOf,
    moved,
    show,
    undo,
    view,
    zoomed,
} from './view';
import { duration, eventText, pixelText, timeText, valueText } from './words';

const WHEEL = 0.0016; // of a zoom, for a pixel of the wheel
const STEP_PX = 8; // of the cursor by keys
const ASK_MS = 90;
const EVENTS_TOLD = 8;

function useSize(box: { current: HTMLElement | null }): { width: number; height: number } {
    const [size, setSize] = useState({ width: 900, height: 420 });
    useEffect(() => {
        const element = box.current!;
        const measure = (): void =>
            setSize({
                width: Math.max(360, element.clientWidth),
                height: Math.max(120, element.clientHeight),
            });
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    return size;
}

/** Asks the server about a moment when the cursor rests. */
function useMoment(place: Place | null): Moment | null {
    const [moment, setMoment] = useState<{ of: Place; told: Moment } | null>(null);
    const name = readyMetric.value?.name;
    useEffect(() => {
        if (!place || !name) return undefined;
        let isOver = false;
        const timer = setTimeout(() => {
            askMoment(name, place.row, place.ns).then(
                told => !isOver && setMoment({ of: place, told }),
                () => undefined,
            );
        }, ASK_MS);
        return () => {
            isOver = true;
            clearTimeout(timer);
        };
    }, [name, place?.row, place?.ns]);
    return moment && place && moment.of.row === place.row && moment.of.ns === place.ns
        ? moment.told
        : null;
}

interface ToldProps {
    place: Place;
    moment: Moment | null;
}

/** Shows object, state, times; events with callers and lines, if the trace has them. */
export function Told({ place, moment }: ToldProps) {
    const current = metric.value!;
    const shown = tile.value;
    const hasPiece = moment?.begin_ns !== undefined;
    const all = [...(moment?.events ?? [])].sort((a, b) => a.ns - b.ns || a.type - b.type);
    return (
        <>
            <b>{current.rows[place.row] ?? `row ${place.row + 1}`}</b> at{' '}
            {timeText(place.ns, view.value)}
            <br />
            {hasPiece ? (
                <>
                    {valueText(current, moment!)}: {timeText(moment!.begin_ns!, view.value)} to{' '}
                    {timeText(moment!.end_ns!, view.value)} (
                    {duration(moment!.end_ns! - moment!.begin_ns!)})
                </>
            ) : (
                shown && pixelText(shown, current, place.row, place.ns)
            )}
            {all.slice(0, EVENTS_TOLD).map(one => (
                <div key={one.type} class="told-event">
                    {eventText(one)} <span class="told-at">{timeText(one.ns, view.value)}</span>
                </div>
            ))}
            {all.length > EVENTS_TOLD && (
                <div class="told-event">{all.length - EVENTS_TOLD} more events: click</div>
            )}
        </>
    );
}

export function Picture({ onNext }: { onNext: (isBack: boolean) => void }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const tip = useRef<HTMLDivElement>(null);
    const size = useSize(box);
    const [cursor, setCursor] = useState<Place | null>(null);
    const [chosen, setChosen] = useState<Span | null>(null);
    const drag = useRef<{
        x: number;
        span: Span;
        chooses: boolean;
        isMoved: boolean;
        number: number;
    } | null>(null);
    const end = meta.value!.end_ns;
    const current = view.value;
    const state = metric.value;
    const ready = readyMetric.value;
    const layout = layoutOf(size.width, size.height, ready?.rows.length ?? 0, current.rowPx);
    const lastRow = Math.max(0, layout.rows - Math.floor((size.height - SCALE_PX) / layout.rowPx));
    const firstRow = Math.min(current.firstRow, lastRow);
    const drawn = drawModeOf(current.mode, ready?.is_code ?? false);
    const moment = useMoment(cursor);
    const dark = isDark.value;

    useEffect(() => {
        if (ready && firstRow !== current.firstRow) change({ firstRow });
    }, [!ready, firstRow]);

    useEffect(() => {
        if (ready) void load(current, layout, end);
    }, [
        ready,
        current.from,
        current.to,
        current.firstRow,
        current.event,
        current.messages,
        current.values,
        drawn.startsWith('draw_') ? drawn : '',
        layout.shown,
        size.width,
    ]);

    const picture = tile.value;
    // Read here, so that each of them draws the picture anew when it arrives.
    const marks = { events: events.value, places: places.value, messages: messages.value };
    const painted = useRef<{ key: unknown[]; canvas: HTMLCanvasElement } | null>(null);
    const isOf = ready && picture && (picture.codes !== null) === ready.is_code;
    const key = [picture, ready, drawn, layout.rowPx, dark];
    if (!isOf) painted.current = null;
    else if (painted.current?.key.some((one, i) => one !== key[i]) ?? true)
        painted.current = {
            key,
            canvas: paint(picture, ready, drawn, layout.rowPx),
        };

    useEffect(() => {
        document.documentElement.dataset.drawn = isOf ? 'true' : 'false';
        if (!canvas.current || !ready) return;
        draw(canvas.current, {
            layout,
            view: current,
            metric: ready,
            tile: picture,
            painted: painted.current?.canvas ?? null,
            ...marks,
            cursor,
            chosen,
        });
    });

    // The tooltip stays in the picture.
    useEffect(() => {
        const element = tip.current;
        if (!element || !cursor) return;
        const x = xOf(layout, current, cursor.ns) + 14;
        const y = yOf(layout, current, cursor.row) + layout.rowPx + 6;
        const isRight = x + element.offsetWidth > size.width;
        element.style.left = `${Math.max(0, isRight ? x - element.offsetWidth - 28 : x)}px`;
        element.style.top = `${
            y + element.offsetHeight > size.height
                ? Math.max(0, y - element.offsetHeight - layout.rowPx - 12)
                : y
        }px`;
    });

    const placeOf = (event: MouseEvent): { x: number; y: number; place: Place } => {
        const at = canvas.current!.getBoundingClientRect();
        const x = event.clientX - at.left;
        const y = event.clientY - at.top;
        const row = firstRow + Math.floor((y - SCALE_PX) / layout.rowPx);
        const ns = Math.round(nsOf(layout, current, Math.max(LABELS_PX, x)));
        return { x, y, place: { row, ns: Math.max(0, Math.min(end, ns)) } };
    };
    const isIn = (place: Place, x: number): boolean =>
        x >= LABELS_PX && place.row >= 0 && place.row < layout.rows;
    const within = (row: number): number => Math.max(0, Math.min(layout.rows - 1, row));
    const scroll = (rows: number): void =>
        change({ firstRow: Math.max(0, Math.min(lastRow, firstRow + rows)) });

    const onWheel = (event: WheelEvent): void => {
        event.preventDefault();
        const { x, place } = placeOf(event);
        if (x < LABELS_PX || event.altKey) {
            scroll(Math.sign(event.deltaY) * Math.max(1, Math.round(40 / layout.rowPx)));
            return;
        }
        const sideways = event.shiftKey ? event.deltaY : event.deltaX;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            show(moved(view.value, end, sideways / (layout.width - LABELS_PX)), WHEEL_FLOW);
        else show(zoomed(view.value, end, Math.exp(-event.deltaY * WHEEL), place.ns), WHEEL_FLOW);
    };
    useEffect(() => {
        const element = canvas.current!;
        element.addEventListener('wheel', onWheel, { passive: false });
        return () => element.removeEventListener('wheel', onWheel);
    });

    const onPointerDown = (event: PointerEvent): void => {
        const { x, place } = placeOf(event);
        if (event.button !== 0 || x < LABELS_PX) return;
        canvas.current!.setPointerCapture(event.pointerId);
        drag.current = {
            x,
            span: { from: current.from, to: current.to },
            chooses: event.shiftKey,
            isMoved: false,
            number: event.timeStamp,
        };
        if (event.shiftKey) setChosen({ from: place.ns, to: place.ns });
    };
    const onPointerMove = (event: PointerEvent): void => {
        const { x, place } = placeOf(event);
        const held = drag.current;
        if (held && Math.abs(x - held.x) > 3) held.isMoved = true;
        if (held?.chooses) {
            const from = nsOf(layout, current, held.x);
            setChosen({ from: Math.min(from, place.ns), to: Math.max(from, place.ns) });
        } else if (held?.isMoved) {
            const by = ((held.x - x) / (layout.width - LABELS_PX)) * lengthOf(held.span);
            show(
                clamped({ from: held.span.from + by, to: held.span.to + by }, end),
                `drag ${held.number}`,
            );
            setCursor(null);
        } else setCursor(isIn(place, x) ? place : null);
    };
    const onPointerUp = (event: PointerEvent): void => {
        const held = drag.current;
        drag.current = null;
        if (held?.chooses) {
            const { from, to } = chosen ?? { from: 0, to: 0 };
            change({ region: to > from ? { from: Math.round(from), to: Math.round(to) } : null });
            setChosen(null);
        } else if (held && !held.isMoved) {
            const { x, place } = placeOf(event);
            if (isIn(place, x)) change({ at: place });
        }
    };

    const stepNs = (STEP_PX * lengthOf(current)) / (layout.width - LABELS_PX);
    const walk = (down: number, right: number, isChoosing: boolean): void => {
        const from = cursor ?? {
            row: firstRow,
            ns: Math.round((current.from + current.to) / 2),
        };
        const ns = Math.round(Math.max(0, Math.min(end, from.ns + right * stepNs)));
        const row = within(from.row + down);
        if (isChoosing) {
            const { region } = current;
            const other = region && region.to === from.ns ? region.from : (region?.to ?? from.ns);
            const span = region ? other : from.ns;
            change({ region: { from: Math.min(span, ns), to: Math.max(span, ns) } });
        }
        if (ns < current.from || ns > current.to) show(centred(current, end, ns), WHEEL_FLOW);
        if (row < firstRow) scroll(row - firstRow);
        if (row >= firstRow + layout.shown - 1) scroll(row - firstRow - layout.shown + 2);
        setCursor({ row, ns });
    };
    const centre = cursor?.ns ?? (current.from + current.to) / 2;
    const keys: Record<string, () => void> = {
        '+': () => show(zoomed(current, end, 2, centre)),
        '=': () => show(zoomed(current, end, 2, centre)),
        '-': () => show(zoomed(current, end, 0.5, centre)),
        '0': () => show({ from: 0, to: end }),
        PageUp: () => scroll(1 - layout.shown),
        PageDown: () => scroll(layout.shown - 1),
        Home: () => show(clamped({ from: 0, to: lengthOf(current) }, end)),
        End: () => show(clamped({ from: end - lengthOf(current), to: end }, end)),
        '[': () => show(moved(current, end, -0.5)),
        ']': () => show(moved(current, end, 0.5)),
        u: undo,
        Backspace: undo,
        n: () => onNext(false),
        p: () => onNext(true),
        m: () => change({ messages: !current.messages }),
        Enter: () => {
            if (current.region) {
                show(clamped(current.region, end));
                change({ region: null });
            } else if (cursor) change({ at: cursor });
        },
        Escape: () => {
            if (cursor) setCursor(null);
            else change({ region: null, at: null, values: null });
        },
        ArrowUp: () => walk(-1, 0, false),
        ArrowDown: () => walk(1, 0, false),
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const sideways = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (sideways === undefined && !keys[event.key]) return;
        event.preventDefault();
        if (sideways !== undefined) walk(0, sideways, event.shiftKey);
        else keys[event.key]!();
    };

    return (
        <div
            ref={box}
            class="picture"
            role="application"
            tabIndex={0}
            aria-label={
                `Time line of ${layout.rows} rows: arrow keys move the cursor, with Shift they ` +
                'choose a region, plus and minus zoom, 0 shows all, u undoes a zoom, n and p go ' +
                'to the next and previous event'
            }
            onKeyDown={onKeyDown}
        >
            <canvas
                ref={canvas}
                hidden={!ready}
                onPointerDown={onPointerDown}
                onPointerMove={onPointerMove}
                onPointerUp={onPointerUp}
                onPointerCancel={() => (drag.current = null)}
                onPointerLeave={() => !drag.current && setCursor(null)}
                onDblClick={event => show(zoomed(current, end, 4, placeOf(event).place.ns))}
            />
            {state?.state === 'making' && (
                <p class="making" role="status">
                    Indexing “{current.metric}”: {Math.round(state.lines_n / 1000)} thousand lines …
                </p>
            )}
            {state?.state === 'failed' && (
                <p class="warning" role="alert">
                    {state.error}
                </p>
            )}
            {failure.value && (
                <p class="warning" role="alert">
                    {failure.value}
                </p>
            )}
            {cursor && ready && (
                <div ref={tip} class="told" role="status">
                    <Told place={cursor} moment={moment} />
                </div>
            )}
        </div>
    );
}
