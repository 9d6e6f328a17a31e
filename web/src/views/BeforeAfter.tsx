// SPDX-License-Identifier: Apache-2.0
// The time line of a simulated run below that of the recorded one, on one axis of time.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
    type Detail,
    type Span,
    detailOf,
    isWhole,
    lengthOf,
    levelFor,
    moved,
    spanOf,
    textOf,
    zoomed,
} from '../data/levels';
import { type Simulated, lineOfRun } from '../data/models';
import type { TimeLine } from '../data/timeline';
import { seconds } from '../format';
import { route, setParams } from '../route';
import { isDark } from '../theme';
import { Legend, Tools, tellBin, useWidth } from './ThreadTimeline';
import { LABELS_PX, type Place, SCALE_PX, binsOf, draw, rowHeight, timeOf } from './timeline_draw';
import { isKnownState } from './timeline_states';

const TIME = 'time';
export const RUN = 'simulated';

/** States of both time lines with their titles, in their order. */
export function statesOf(lines: readonly TimeLine[]): [string, string][] {
    const titles = new Map<string, string>();
    for (const { lanes } of lines)
        for (const lane of lanes)
            for (const { name, title } of lane.states) titles.set(name, title);
    return [...titles];
}

/** The time line as long as the longer of both, so that they have one axis. */
export function onAxis(line: TimeLine, lengthS: number): TimeLine {
    return { ...line, binN: Math.max(line.binN, Math.ceil(lengthS / line.binS - 1e-6)) };
}

interface PictureProps {
    title: string;
    detail: Detail;
    span: Span;
    others: readonly string[];
    width: number;
    tell: (text: string | null) => void;
}

function Picture({ title, detail, span, others, width, tell }: PictureProps) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [at, setAt] = useState<Place | null>(null);
    const level = levelFor(detail, span);
    const rowPx = Math.min(18, rowHeight(2 * level.lanes.length));
    const dark = isDark.value;
    useEffect(() => {
        if (canvas.current) draw(canvas.current, { level, span, others, rowPx, width }, at);
    }, [level, span, others, rowPx, width, at, dark]);
    const onPointerMove = (event: PointerEvent): void => {
        const box = canvas.current!.getBoundingClientRect();
        const share = (event.clientX - box.left - LABELS_PX) / (width - LABELS_PX);
        const row = Math.floor((event.clientY - box.top - SCALE_PX) / rowPx);
        const bin = Math.floor((span.from + share * lengthOf(span)) / level.binS);
        const { first, last } = binsOf(level, span);
        const lane = share >= 0 && bin >= first && bin <= last ? level.lanes[row] : undefined;
        setAt(lane ? { row, bin, anchor: null } : null);
        tell(lane ? `${title}: ${tellBin(lane, bin, level.binS)}` : null);
    };
    const onPointerLeave = (): void => {
        setAt(null);
        tell(null);
    };
    return (
        <figure class="before-after">
            <figcaption>{title}</figcaption>
            <canvas
                ref={canvas}
                role="img"
                aria-label={`${title}, from ${timeOf(span.from, level.binS)}`}
                onPointerMove={onPointerMove}
                onPointerLeave={onPointerLeave}
            />
        </figure>
    );
}

interface LinesProps {
    recorded: TimeLine;
    simulated: TimeLine;
    titles: [string, string];
}

function Lines({ recorded, simulated, titles }: LinesProps) {
    const box = useRef<HTMLDivElement>(null);
    const width = useWidth(box);
    const [told, setTold] = useState<string | null>(null);
    const { details, main, others, states } = useMemo(() => {
        const lines = [recorded, simulated];
        const lengthS = Math.max(...lines.map(({ binS, binN }) => binS * binN));
        const both = lines.map(line => detailOf(onAxis(line, lengthS)));
        const all = statesOf(lines);
        return {
            details: both,
            main: both.find(({ whole }) => whole.to >= lengthS * 0.9999) ?? both[0]!,
            states: all,
            others: all.map(([name]) => name).filter(name => !isKnownState(name)),
        };
    }, [recorded, simulated]);
    const param = route.value.params[TIME];
    const span = useMemo(() => spanOf(main, param), [main, param]);
    const show = (next: Span): void => setParams({ [TIME]: textOf(main, next) });
    const onKeyDown = (event: KeyboardEvent): void => {
        const keys: Record<string, () => Span> = {
            '+': () => zoomed(main, span, 2),
            '=': () => zoomed(main, span, 2),
            '-': () => zoomed(main, span, 0.5),
            '0': () => main.whole,
            ArrowLeft: () => moved(main, span, -0.25),
            ArrowRight: () => moved(main, span, 0.25),
        };
        const to = keys[event.key];
        if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        show(to());
    };
    const part = isWhole(main, span)
        ? `Both from 0 s to ${seconds(main.whole.to)}.`
        : `Both from ${timeOf(span.from, main.levels[0]!.binS)} to ` +
          `${timeOf(span.to, main.levels[0]!.binS)} of ${seconds(main.whole.to)}.`;
    return (
        <>
            <Legend states={states} others={others} hasPath />
            <Tools detail={main} span={span} show={show} />
            <p class="flame-told" role="status">
                {told ?? part}
            </p>
            <div
                ref={box}
                class="trace-timeline"
                role="application"
                aria-label={
                    'The recorded and the simulated run on one axis of time: plus and minus ' +
                    'zoom, arrow keys move, 0 shows the whole run; the table below has the times'
                }
                tabIndex={0}
                onKeyDown={onKeyDown}
            >
                {details.map((detail, i) => (
                    <Picture
                        key={titles[i]}
                        title={titles[i]!}
                        detail={detail}
                        span={span}
                        others={others}
                        width={width}
                        tell={setTold}
                    />
                ))}
            </div>
        </>
    );
}

export function BeforeAfter({ data, runId }: { data: Simulated; runId: number }) {
    const { recorded_run_id: before, recorded_time_s: recordedS } = data.recorded;
    const lines = useMemo(
        () =>
            new Map(
                data.simulations.flatMap(({ run_id }): [number, TimeLine][] => {
                    const line = lineOfRun(data, run_id);
                    return line ? [[run_id, line]] : [];
                }),
            ),
        [data],
    );
    const recorded = useMemo(() => lineOfRun(data, before), [data, before]);
    const asked = Number(route.value.params[RUN]);
    const shown = [asked, runId, ...lines.keys()].find(id => lines.has(id));
    if (!recorded || shown === undefined) return null;
    const choices = data.simulations.filter(({ run_id }) => lines.has(run_id));
    const chosen = choices.find(({ run_id }) => run_id === shown)!;
    const titles: [string, string] = [
        `Recorded: run ${before}${recordedS === null ? '' : `, ${seconds(recordedS)}`}`,
        `Simulated: run ${shown}, ${seconds(chosen.time_s)}`,
    ];
    return (
        <>
            {choices.length > 1 && (
                <label>
                    <span class="tool-label">Simulation </span>
                    <select
                        value={shown}
                        onChange={event => setParams({ [RUN]: event.currentTarget.value })}
                    >
                        {choices.map(({ run_id, label, settings }) => (
                            <option key={run_id} value={run_id}>
                                {`${run_id}: ${label ?? settings ?? ''}`}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <Lines recorded={recorded} simulated={lines.get(shown)!} titles={titles} />
        </>
    );
}
