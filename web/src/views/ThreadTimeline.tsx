// SPDX-License-Identifier: Apache-2.0
// Activity of each thread over time: a row per thread, a column per bin, states stacked by their
// share. The line below a row of a trace shows the bins on the critical path. A closer view has
// shorter bins, as far as the document has them.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
    type Detail,
    type Level,
    type Span,
    clamped,
    detailOf,
    isWhole,
    lengthOf,
    levelFor,
    moved,
    spanOf,
    textOf,
    zoomed,
} from '../data/levels';
import type { Lane, TimeLine } from '../data/timeline';
import { percent, seconds } from '../format';
import { route, setParams } from '../route';
import { isDark } from '../theme';
import { LABELS_PX, type Place, SCALE_PX, binsOf, draw, rowHeight, timeOf } from './timeline_draw';
import { isHatched, isKnownState, stateColour } from './timeline_states';

const PARAM = 'time';

export function tellBin(lane: Lane, bin: number, binS: number): string {
    const shares = lane.states
        .map(({ title, bins }) => ({ title, value: (bins[bin] ?? 0) / 10 }))
        .filter(one => one.value > 0)
        .sort((a, b) => b.value - a.value)
        .map(one => `${one.title} ${percent(one.value)}`);
    const part = (lane.path[bin] ?? 0) / 10;
    const path = part ? `; on the critical path ${percent(part)}` : '';
    return (
        `${lane.label}, ${timeOf(bin * binS, binS)} to ` +
        `${timeOf((bin + 1) * binS, binS)}: ` +
        `${shares.join(', ') || 'not there'}${path}`
    );
}

interface LegendProps {
    states: [string, string][];
    others: readonly string[];
    hasPath: boolean;
}

export function Legend({ states, others, hasPath }: LegendProps) {
    return (
        <ul class="trace-legend">
            {states.map(([name, title]) => (
                <li key={name}>
                    <Swatch colour={stateColour(name, others)} hatched={isHatched(name)} /> {title}
                </li>
            ))}
            {hasPath && (
                <li>
                    <Swatch colour="--text" flat /> critical path
                </li>
            )}
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

/** Returns the visible range, and whether finer levels exist. */
export function tellSpan(detail: Detail, level: Level, span: Span): string {
    const part = isWhole(detail, span)
        ? ''
        : `${timeOf(span.from, level.binS)} to ${timeOf(span.to, level.binS)} of ` +
          `${seconds(detail.whole.to)}. `;
    const isFinest = level === detail.levels.at(-1);
    const more =
        detail.finerS !== null && isFinest
            ? ` The experiment has columns of ${seconds(detail.finerS)}: assay open --serve ` +
              'shows them, this file is kept small.'
            : '';
    return `${part}A column is ${seconds(level.binS)}.${more}`;
}

/** "400 ms to 600 ms chosen." */
function tellChoice(level: Level, place: Place, isDragged: boolean): string {
    const [first, last] = [place.anchor ?? place.bin, place.bin].sort((a, b) => a - b);
    return (
        `${timeOf(first! * level.binS, level.binS)} to ` +
        `${timeOf((last! + 1) * level.binS, level.binS)} chosen: ` +
        (isDragged ? 'let go to see it closer' : 'Enter shows it closer')
    );
}

const STEPS: Record<string, [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
};

export function Tools({ detail, span, show }: ToolsProps) {
    const whole = isWhole(detail, span);
    const isLeast = lengthOf(zoomed(detail, span, 2)) > 0.999 * lengthOf(span);
    const tool = (title: string, disabled: boolean, to: () => Span) => (
        <button type="button" class="button" disabled={disabled} onClick={() => show(to())}>
            {title}
        </button>
    );
    return (
        <div class="toolbar trace-tools" role="group" aria-label="Part of the time line">
            {tool('Zoom in', isLeast, () => zoomed(detail, span, 2))}
            {tool('Zoom out', whole, () => zoomed(detail, span, 0.5))}
            {tool('Earlier', span.from <= 0, () => moved(detail, span, -0.5))}
            {tool('Later', span.to >= detail.whole.to * 0.9999, () => moved(detail, span, 0.5))}
            {tool('Whole run', whole, () => detail.whole)}
        </div>
    );
}

interface ToolsProps {
    detail: Detail;
    span: Span;
    show: (span: Span) => void;
}

/** The width of an element that has room for its contents. */
export function useWidth(box: { current: HTMLElement | null }): number {
    const [width, setWidth] = useState(900);
    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const measure = (): void => setWidth(Math.max(360, element.clientWidth));
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    return width;
}

export function ThreadTimeline({ line }: { line: TimeLine }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const width = useWidth(box);
    const [at, setAt] = useState<Place | null>(null);
    const [isDragged, setDragged] = useState(false);
    const detail = useMemo(() => detailOf(line), [line]);
    const param = route.value.params[PARAM];
    const span = useMemo(() => spanOf(detail, param), [detail, param]);
    const level = levelFor(detail, span);
    const { lanes } = level;
    const states = useMemo(() => {
        const titles = new Map<string, string>();
        for (const lane of lanes)
            for (const { name, title } of lane.states) titles.set(name, title);
        return [...titles];
    }, [lanes]);
    const others = states.map(([name]) => name).filter(name => !isKnownState(name));
    const rowPx = rowHeight(lanes.length);
    const dark = isDark.value;
    const { first, last } = binsOf(level, span);

    useEffect(() => {
        if (canvas.current) draw(canvas.current, { level, span, others, rowPx, width }, at);
    }, [level, span, rowPx, width, at, dark]);

    const show = (next: Span): void => {
        setAt(null);
        setDragged(false);
        setParams({ [PARAM]: textOf(detail, next) });
    };
    const showChosen = (place: Place): void => {
        const [from, to] = [place.anchor ?? place.bin, place.bin].sort((a, b) => a - b);
        show(clamped(detail, { from: from! * level.binS, to: (to! + 1) * level.binS }));
    };

    const hit = (event: MouseEvent): { row: number; bin: number } => {
        const place = canvas.current!.getBoundingClientRect();
        const share = (event.clientX - place.left - LABELS_PX) / (width - LABELS_PX);
        return {
            row: Math.floor((event.clientY - place.top - SCALE_PX) / rowPx),
            bin: Math.floor((span.from + share * lengthOf(span)) / level.binS),
        };
    };
    const isIn = ({ row, bin }: { row: number; bin: number }): boolean =>
        row >= 0 && row < lanes.length && bin >= first && bin <= last;
    const within = (value: number, least: number, most: number): number =>
        Math.max(least, Math.min(most, value));

    const onPointerDown = (event: PointerEvent): void => {
        const found = hit(event);
        if (event.button !== 0 || !isIn(found)) return;
        canvas.current!.setPointerCapture(event.pointerId);
        setDragged(true);
        setAt({ ...found, anchor: found.bin });
    };
    const onPointerMove = (event: PointerEvent): void => {
        const found = hit(event);
        if (isDragged && at)
            setAt({
                row: within(found.row, 0, lanes.length - 1),
                bin: within(found.bin, first, last),
                anchor: at.anchor,
            });
        else setAt(isIn(found) ? { ...found, anchor: null } : null);
    };
    const onPointerUp = (): void => {
        if (!isDragged || !at) return;
        if (at.anchor !== null && at.anchor !== at.bin) return showChosen(at);
        setDragged(false);
        setAt({ ...at, anchor: null });
    };

    const walk = ([down, right]: [number, number], isChoosing: boolean): void => {
        const from = at ?? { row: 0, bin: first, anchor: null };
        const bin = from.bin + right;
        if (!isChoosing && (bin < first || bin > last)) {
            const next = moved(detail, span, right * 0.5);
            setParams({ [PARAM]: textOf(detail, next) }, true);
            const seen = binsOf(level, next);
            setAt({ row: from.row, bin: within(bin, seen.first, seen.last), anchor: null });
            return;
        }
        setAt({
            row: within(from.row + down, 0, lanes.length - 1),
            bin: within(bin, first, last),
            anchor: isChoosing ? (from.anchor ?? from.bin) : null,
        });
    };
    const centre = at ? (at.bin + 0.5) * level.binS : undefined;
    const keys: Record<string, () => void> = {
        Enter: () =>
            at && at.anchor !== null ? showChosen(at) : show(zoomed(detail, span, 2, centre)),
        '+': () => show(zoomed(detail, span, 2, centre)),
        '=': () => show(zoomed(detail, span, 2, centre)),
        '-': () => show(zoomed(detail, span, 0.5, centre)),
        '0': () => show(detail.whole),
        Escape: () => (at ? setAt(null) : show(zoomed(detail, span, 0.5))),
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const step = STEPS[event.key];
        const key = keys[event.key];
        if (!step && !key) return;
        event.preventDefault();
        if (step) walk(step, event.shiftKey);
        else key!();
    };
    return (
        <>
            <Legend states={states} others={others} hasPath={line.hasPath} />
            <Tools detail={detail} span={span} show={show} />
            <p class="flame-told" role="status">
                {at?.anchor != null
                    ? tellChoice(level, at, isDragged)
                    : at && lanes[at.row]
                      ? tellBin(lanes[at.row]!, at.bin, level.binS)
                      : tellSpan(detail, level, span)}
            </p>
            <div
                ref={box}
                class="trace-timeline"
                role="application"
                aria-label={
                    `What ${lanes.length} threads did over time: arrow keys walk, with Shift ` +
                    'they choose a span, Enter shows it closer, plus and minus zoom, 0 shows the ' +
                    'whole run; the tables below have the sums'
                }
                tabIndex={0}
                onKeyDown={onKeyDown}
            >
                <canvas
                    ref={canvas}
                    onPointerDown={onPointerDown}
                    onPointerMove={onPointerMove}
                    onPointerUp={onPointerUp}
                    onPointerCancel={() => setDragged(false)}
                    onPointerLeave={() => !isDragged && setAt(null)}
                />
            </div>
        </>
    );
}
