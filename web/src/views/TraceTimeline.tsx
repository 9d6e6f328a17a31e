// SPDX-License-Identifier: Apache-2.0
// What each thread did over time: a row a thread, a column a bin, in it the states on each other by
// their share. The line below a row: the critical path goes through it then.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Lane, type Parallel, lanesOf } from '../data/parallel';
import { percent, seconds } from '../format';
import { cssColor, isDark } from '../theme';
import { isHatched, isKnownState, stateColour } from './trace_states';

const LABELS_PX = 118;
const SCALE_PX = 18;
const LABEL_PX = 13; // of text, at least
const PATH_PX = 2;
const TICKS = 8;

export interface Drawing {
    lanes: readonly Lane[];
    others: readonly string[];
    bins: number;
    binS: number;
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

export function tellBin(lane: Lane, bin: number, binS: number): string {
    const shares = lane.states
        .map(({ title, bins }) => ({ title, value: (bins[bin] ?? 0) / 10 }))
        .filter(one => one.value > 0)
        .sort((a, b) => b.value - a.value)
        .map(one => `${one.title} ${percent(one.value)}`);
    const part = (lane.path[bin] ?? 0) / 10;
    const path = part ? `; on the critical path ${percent(part)}` : '';
    return (
        `${lane.location.location}, ${seconds(bin * binS)} to ${seconds((bin + 1) * binS)}: ` +
        `${shares.join(', ') || 'not there'}${path}`
    );
}

function drawScale(context: CanvasRenderingContext2D, d: Drawing, binPx: number): void {
    const step = niceStep(d.bins * d.binS, TICKS);
    context.fillStyle = cssColor('--muted');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'top';
    for (let at = 0; at <= d.bins * d.binS; at += step) {
        const x = LABELS_PX + (at / d.binS) * binPx;
        const text = seconds(at);
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
    binPx: number,
    hatched: CanvasPattern | string,
): void {
    const path = d.rowPx >= 8 ? PATH_PX + 1 : PATH_PX;
    const height = d.rowPx - path;
    for (let bin = 0; bin < d.bins; bin++) {
        let y = top + height;
        const x = LABELS_PX + bin * binPx;
        for (const { name, bins } of lane.states) {
            const part = ((bins[bin] ?? 0) / 1000) * height;
            if (part <= 0) continue;
            y -= part;
            context.fillStyle = isHatched(name) ? hatched : cssColor(stateColour(name, d.others));
            context.fillRect(x, y, binPx + 0.4, part);
        }
        if ((lane.path[bin] ?? 0) >= 500) {
            context.fillStyle = cssColor('--text');
            context.fillRect(x, top + height, binPx + 0.4, PATH_PX);
        }
    }
}

function draw(canvas: HTMLCanvasElement, d: Drawing, selected: [number, number] | null): void {
    const ratio = devicePixelRatio || 1;
    const height = SCALE_PX + d.lanes.length * d.rowPx;
    canvas.width = Math.round(d.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${d.width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const binPx = (d.width - LABELS_PX) / d.bins;
    const every = Math.ceil(LABEL_PX / d.rowPx);
    const hatched = hatching(context);
    drawScale(context, d, binPx);
    d.lanes.forEach((lane, row) => {
        const top = SCALE_PX + row * d.rowPx;
        drawLane(context, lane, d, top, binPx, hatched);
        if (row % every !== 0) return;
        context.fillStyle = cssColor('--text');
        context.font = '12px system-ui, sans-serif';
        context.textBaseline = 'top';
        context.fillText(lane.location.location, 2, top, LABELS_PX - 8);
    });
    if (!selected) return;
    context.strokeStyle = cssColor('--match');
    context.lineWidth = 2;
    context.strokeRect(
        LABELS_PX + selected[1] * binPx - 1,
        SCALE_PX + selected[0] * d.rowPx,
        binPx + 2,
        d.rowPx,
    );
}

function Legend({ states, others }: { states: [string, string][]; others: readonly string[] }) {
    return (
        <ul class="trace-legend">
            {states.map(([name, title]) => (
                <li key={name}>
                    <Swatch colour={stateColour(name, others)} hatched={isHatched(name)} /> {title}
                </li>
            ))}
            <li>
                <Swatch colour="--text" flat /> critical path
            </li>
        </ul>
    );
}

/** Its colour is set by script: the page may have no style attributes. */
function Swatch({ colour, flat, hatched }: { colour: string; flat?: boolean; hatched?: boolean }) {
    const box = useRef<HTMLSpanElement>(null);
    useEffect(() => box.current?.style.setProperty('background-color', `var(${colour})`), [colour]);
    const kind = hatched ? 'swatch hatched' : flat ? 'swatch flat' : 'swatch';
    return <span ref={box} class={kind} aria-hidden="true" />;
}

export function TraceTimeline({ parallel }: { parallel: Parallel }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, setWidth] = useState(900);
    const [at, setAt] = useState<[number, number] | null>(null);
    const lanes = useMemo(() => lanesOf(parallel), [parallel]);
    const states = useMemo(() => {
        const titles = new Map<string, string>();
        for (const lane of lanes)
            for (const { name, title } of lane.states) titles.set(name, title);
        return [...titles];
    }, [lanes]);
    const others = states.map(([name]) => name).filter(name => !isKnownState(name));
    const bins = Math.max(1, parallel.trace.bin_n);
    const rowPx = rowHeight(lanes.length);
    const dark = isDark.value;

    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const measure = (): void => setWidth(Math.max(360, element.clientWidth));
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    useEffect(() => {
        if (canvas.current)
            draw(
                canvas.current,
                { lanes, others, bins, binS: parallel.trace.bin_s, rowPx, width },
                at,
            );
    }, [lanes, bins, rowPx, width, at, dark]);

    const hit = (event: MouseEvent): [number, number] | null => {
        const place = canvas.current!.getBoundingClientRect();
        const row = Math.floor((event.clientY - place.top - SCALE_PX) / rowPx);
        const bin = Math.floor(
            ((event.clientX - place.left - LABELS_PX) / (width - LABELS_PX)) * bins,
        );
        return row >= 0 && row < lanes.length && bin >= 0 && bin < bins ? [row, bin] : null;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const step: Record<string, [number, number]> = {
            ArrowUp: [-1, 0],
            ArrowDown: [1, 0],
            ArrowLeft: [0, -1],
            ArrowRight: [0, 1],
        };
        const by = step[event.key];
        if (event.key === 'Escape') setAt(null);
        if (!by) return;
        event.preventDefault();
        const [row, bin] = at ?? [0, 0];
        setAt([
            Math.max(0, Math.min(lanes.length - 1, row + by[0])),
            Math.max(0, Math.min(bins - 1, bin + by[1])),
        ]);
    };
    return (
        <>
            <Legend states={states} others={others} />
            <p class="flame-told" aria-live="polite">
                {at
                    ? tellBin(lanes[at[0]]!, at[1], parallel.trace.bin_s)
                    : `A column is ${seconds(parallel.trace.bin_s)}.`}
            </p>
            <div
                ref={box}
                class="trace-timeline"
                role="application"
                aria-label={
                    `What ${lanes.length} threads did over time: arrow keys walk; the tables ` +
                    'below have the sums'
                }
                tabIndex={0}
                onKeyDown={onKeyDown}
            >
                <canvas
                    ref={canvas}
                    onPointerMove={event => setAt(hit(event))}
                    onPointerLeave={() => setAt(null)}
                />
            </div>
        </>
    );
}
