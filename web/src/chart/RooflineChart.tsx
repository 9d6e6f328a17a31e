// SPDX-License-Identifier: Apache-2.0
// A roofline on logarithmic axes: roofs, and points sized by time with their intervals. Arrows go
// from point to point, Enter opens the page of one. The numbers stand in the table below as well.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
    type Frame,
    LEVELS,
    type Roof,
    type RoofPoint,
    decades,
    frameOf,
    isDrawn,
    linesOf,
    markText,
} from '../data/roofline';
import { percent, significant } from '../format';

const HEIGHT = 480;
const LEFT = 62;
const RIGHT = 12;
const TOP = 14;
const BOTTOM = 46;
const LABELLED = 6; // points with a name beside them

interface Scales {
    x: (intensity: number) => number;
    y: (flopS: number) => number;
    width: number;
}

function scalesOf(frame: Frame, width: number): Scales {
    const part = ([low, high]: [number, number], value: number): number =>
        (Math.log10(value) - low) / (high - low);
    return {
        width,
        x: value => LEFT + part(frame.x, value) * (width - LEFT - RIGHT),
        y: value => HEIGHT - BOTTOM - part(frame.y, value) * (HEIGHT - TOP - BOTTOM),
    };
}

function Axes({ frame, at }: { frame: Frame; at: Scales }) {
    return (
        <g aria-hidden="true">
            {decades(frame.x).map(value => (
                <g key={value}>
                    <path class="roof-grid" d={`M${at.x(value)} ${TOP}V${HEIGHT - BOTTOM}`} />
                    <text x={at.x(value)} y={HEIGHT - BOTTOM + 16} text-anchor="middle">
                        {significant(value, 1)}
                    </text>
                </g>
            ))}
            {decades(frame.y).map(value => (
                <g key={value}>
                    <path class="roof-grid" d={`M${LEFT} ${at.y(value)}H${at.width - RIGHT}`} />
                    <text x={LEFT - 6} y={at.y(value) + 4} text-anchor="end">
                        {significant(value / 1e9, 1)}
                    </text>
                </g>
            ))}
            <text x={(LEFT + at.width - RIGHT) / 2} y={HEIGHT - 8} text-anchor="middle">
                flops per byte
            </text>
            <text transform={`translate(14 ${HEIGHT / 2}) rotate(-90)`} text-anchor="middle">
                GFLOP/s
            </text>
        </g>
    );
}

/** Moves to the beginning of a line and turns along it. */
function alongSlope(at: Scales, from: [number, number], to: [number, number]): string {
    const [x, y] = [at.x(from[0]), at.y(from[1])];
    const degrees = (Math.atan2(at.y(to[1]) - y, at.x(to[0]) - x) * 180) / Math.PI;
    return `translate(${x} ${y}) rotate(${degrees})`;
}

const lineClass = (roof: Roof): string =>
    ['roof-line', roof.is_bandwidth && 'slope', roof.is_huge && 'huge'].filter(Boolean).join(' ');

function Roofs({ roofs, frame, at }: { roofs: Roof[]; frame: Frame; at: Scales }) {
    return (
        <g aria-hidden="true">
            {linesOf(roofs, frame).map(({ roof, from, to }) => (
                <g key={roof.name}>
                    <path
                        class={lineClass(roof)}
                        d={`M${at.x(from[0])} ${at.y(from[1])}L${at.x(to[0])} ${at.y(to[1])}`}
                    />
                    {roof.is_bandwidth ? (
                        <text class="roof-name" transform={alongSlope(at, from, to)} x={6} y={-4}>
                            {roof.name} {significant(roof.value / 1e9)} GB/s
                        </text>
                    ) : (
                        <text
                            class="roof-name"
                            x={at.x(to[0]) - 4}
                            y={at.y(to[1]) - 5}
                            text-anchor="end"
                        >
                            {roof.name} {significant(roof.value / 1e9)}
                        </text>
                    )}
                </g>
            ))}
        </g>
    );
}

const VECTORS: Record<RoofPoint['vector'], string> = {
    'no flops': 'no flops',
    scalar: 'scalar',
    part: 'partly vectorised',
    full: 'fully vectorised',
};

/** A sentence on a point: its tooltip and its name for readers that do not see it. */
export function tellPoint(point: RoofPoint): string {
    const range =
        point.flop_s_low === null
            ? ''
            : ` [${significant(point.flop_s_low / 1e9)}, ${
                  point.flop_s_high === null ? '∞' : significant(point.flop_s_high / 1e9)
              }]`;
    const roof =
        point.roof && point.roof_share !== null
            ? `, ${percent(100 * point.roof_share)} of ${point.roof}`
            : '';
    const headroom =
        point.headroom_x === null ? '' : `, headroom at most ${significant(point.headroom_x)}×`;
    const marks = point.marks.map(mark => `; ${markText(mark)}`).join('');
    return (
        `${point.name}: ${percent(100 * point.share)} of the time, ` +
        `${significant((point.flop_s ?? 0) / 1e9)}${range} GFLOP/s at ` +
        `${significant(point.intensity ?? 0)} flop/B${roof}${headroom}, ` +
        `${VECTORS[point.vector]}${marks}`
    );
}

const SHAPES: Record<string, string> = { run: 'square', function: 'square', loop: 'circle' };

function Mark({ point, at }: { point: RoofPoint; at: Scales }) {
    const [x, y] = [at.x(point.intensity!), at.y(point.flop_s!)];
    const r = 4 + 14 * Math.sqrt(Math.min(1, point.share));
    const low = point.flop_s_low ? at.y(point.flop_s_low) : y;
    const high = point.flop_s_high ? at.y(point.flop_s_high) : TOP;
    return (
        <>
            <path
                class="roof-interval"
                d={`M${x} ${Math.min(low, HEIGHT - BOTTOM)}V${Math.max(high, TOP)}`}
            />
            {LEVELS.map(level =>
                point[level] ? (
                    <circle
                        key={level}
                        class="roof-level"
                        cx={at.x(point.flop_n / point[level])}
                        cy={y}
                        r={3}
                    />
                ) : null,
            )}
            {SHAPES[point.kind] === 'square' ? (
                <rect x={x - r} y={y - r} width={2 * r} height={2 * r} />
            ) : (
                <circle cx={x} cy={y} r={r} />
            )}
        </>
    );
}

/** The first places above each other get names, where there is room for them. */
function Names({ points, at }: { points: RoofPoint[]; at: Scales }) {
    const taken: [number, number][] = [];
    return (
        <g aria-hidden="true">
            {points.slice(0, LABELLED).map(point => {
                const r = 4 + 14 * Math.sqrt(Math.min(1, point.share));
                const right = at.x(point.intensity!) + r + 4;
                const y = at.y(point.flop_s!) + 4;
                const whole = point.name.replace(/ \[clone [^\]]*\]/g, '');
                const name = whole.length > 28 ? `${whole.slice(0, 27)}…` : whole;
                if (
                    taken.some(
                        ([x, other]) => Math.abs(y - other) < 14 && Math.abs(right - x) < 190,
                    )
                )
                    return null;
                taken.push([right, y]);
                return (
                    <text key={`${point.kind} ${point.id}`} class="roof-label" x={right} y={y}>
                        {name}
                    </text>
                );
            })}
        </g>
    );
}

export function RooflineChart({
    points,
    roofs,
    onPick,
}: {
    points: RoofPoint[];
    roofs: Roof[];
    onPick: (point: RoofPoint) => void;
}) {
    const box = useRef<HTMLDivElement>(null);
    const [width, setWidth] = useState(900);
    const [active, setActive] = useState(0);
    const drawn = useMemo(() => points.filter(isDrawn), [points]);
    const frame = useMemo(() => frameOf(drawn, roofs), [drawn, roofs]);
    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const measure = (): void => setWidth(Math.max(320, element.clientWidth));
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    const at = scalesOf(frame, width);
    const move = (step: number): void => {
        const next = Math.max(0, Math.min(drawn.length - 1, active + step));
        setActive(next);
        box.current?.querySelectorAll<SVGElement>('.roof-point')[drawn.length - 1 - next]?.focus();
    };
    const onKey = (event: KeyboardEvent): void => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step) move(step);
        else if (event.key === 'Home') move(-drawn.length);
        else if (event.key === 'End') move(drawn.length);
        else if (event.key === 'Enter') onPick(drawn[active]!);
        else return;
        event.preventDefault();
    };
    return (
        <div class="roofline" ref={box}>
            <svg
                width={width}
                height={HEIGHT}
                role="group"
                aria-label="Roofline: GFLOP/s over flops per byte"
                onKeyDown={onKey}
            >
                <Axes frame={frame} at={at} />
                <Roofs roofs={roofs} frame={frame} at={at} />
                {/* The hottest on top. */}
                {drawn
                    .map((point, i) => (
                        <g
                            key={`${point.kind} ${point.id}`}
                            class={`roof-point ${point.vector}`}
                            role="button"
                            tabIndex={i === active ? 0 : -1}
                            aria-label={tellPoint(point)}
                            data-tip={tellPoint(point)}
                            onFocus={() => setActive(i)}
                            onClick={() => onPick(point)}
                        >
                            <Mark point={point} at={at} />
                        </g>
                    ))
                    .reverse()}
                <Names points={drawn} at={at} />
            </svg>
        </div>
    );
}
