// SPDX-License-Identifier: Apache-2.0
// A chart drawn by uPlot in the colours of the page, made anew when those or the data change. The
// numbers of each chart stand in a table beside it as well.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { cssColor, isDark } from '../theme';
import { logTicks, tickTexts } from './ticks';

export interface Series {
    label: string;
    values: (number | null)[];
    kind?: 'line' | 'dashed' | 'bars' | 'ideal' | 'points';
    /** Bounds of the values: error bars of points, an area of lines. */
    low?: (number | null)[];
    high?: (number | null)[];
    /** Number of the colour; by place without it. */
    colour?: number;
    /** Lines go over points that are missing. */
    spans?: boolean;
}

export interface ChartProps {
    label: string;
    xLabel: string;
    yLabel: string;
    x: number[];
    series: Series[];
    height?: number;
    /** Text of a value; of ticks with so many decimals that no two are the same. */
    format?: (value: number, decimals?: number) => string;
    xFormat?: (value: number) => string;
    /** Text below the axis, where numbers stand for something else. */
    xTicks?: (value: number) => string;
    /** Ticks of the x axis may stand at fractions; xFormat is how they look. */
    xFractions?: boolean;
    /** Base of a logarithmic x axis. */
    xLog?: 2 | 10;
    yFromZero?: boolean;
    /** Bounds beyond it are cut off. */
    yMax?: number;
    legend?: boolean;
    /** Called with the index on the x axis on a click. */
    onPick?: (index: number) => void;
}

/** Counts have no fractions: steps of their axis are whole. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];

/** Lines with bounds are curves: their points are not marked. */
const hasMarks = ({ kind, values, low }: Series): boolean =>
    (kind === undefined || kind === 'line') && low === undefined && values.length <= 40;
const colourOf = (series: Series, i: number): string =>
    cssColor(`--series-${(series.colour ?? i) % 6}`);
const dashOf = ({ colour }: Series, i: number): number[] =>
    colour === undefined ? DASHES[i % DASHES.length]! : [];

/** The points of both bounds where both are known. */
function boundsOf({ low, high }: Series, x: readonly number[]): [number, number, number][] {
    return x.flatMap((at, i): [number, number, number][] => {
        const [from, to] = [low?.[i], high?.[i]];
        return typeof from === 'number' && typeof to === 'number' ? [[at, from, to]] : [];
    });
}

/** Areas of lines and bars of points, below the series themselves. */
function drawBounds(plot: uPlot, { series, x }: ChartProps): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    series.forEach((one, i) => {
        const bounds = boundsOf(one, x).map(([at, low, high]): [number, number, number] => [
            plot.valToPos(at, 'x', true),
            plot.valToPos(low, 'y', true),
            plot.valToPos(high, 'y', true),
        ]);
        if (!bounds.length) return;
        ctx.strokeStyle = ctx.fillStyle = colourOf(one, i);
        ctx.beginPath();
        if (one.kind === 'points') {
            ctx.lineWidth = 1.5 * devicePixelRatio;
            const wing = 4 * devicePixelRatio;
            for (const [at, low, high] of bounds) {
                ctx.moveTo(at, low);
                ctx.lineTo(at, high);
                for (const y of [low, high]) {
                    ctx.moveTo(at - wing, y);
                    ctx.lineTo(at + wing, y);
                }
            }
            ctx.stroke();
            return;
        }
        ctx.globalAlpha = 0.18;
        bounds.forEach(([at, , high], k) => (k ? ctx.lineTo(at, high) : ctx.moveTo(at, high)));
        for (const [at, low] of [...bounds].reverse()) ctx.lineTo(at, low);
        ctx.fill();
        ctx.globalAlpha = 1;
    });
    ctx.restore();
}

/** From zero to above the highest value and bound. */
function yRange({ series, yMax }: ChartProps, low: number, high: number): [number, number] {
    const highs = series.flatMap(one => one.high ?? []).filter(value => value !== null);
    const most = Math.min(Math.max(high, ...highs), yMax ?? Infinity);
    return [Math.min(0, low), (most || 1) * 1.08];
}

function uplotSeries(series: Series, i: number): uPlot.Series {
    const ideal = series.kind === 'ideal';
    const color = ideal ? cssColor('--muted') : colourOf(series, i);
    const bars = series.kind === 'bars';
    const points = series.kind === 'points';
    const dashed = series.kind === 'dashed';
    return {
        label: series.label,
        stroke: color,
        width: ideal ? 1 : bars ? 0 : 2,
        dash: ideal ? [3, 3] : dashed ? [8, 4] : bars || points ? [] : dashOf(series, i),
        spanGaps: series.spans ?? false,
        fill: bars ? color : undefined,
        paths: bars ? uPlot.paths.bars!({ size: [0.8, 60] }) : points ? () => null : undefined,
        points: points
            ? { show: true, size: 5, fill: color, width: 0 }
            : { show: hasMarks(series), size: 6 },
    };
}

/** Whole steps, but where points stand at any number. */
function xAxis(axis: uPlot.Axis, props: ChartProps): uPlot.Axis {
    const { series, xTicks, xFractions, xLog, xFormat } = props;
    if (xLog)
        return {
            ...axis,
            splits: (_, __, low, high) => logTicks(low, high, xLog),
            filter: (_, splits) => splits,
            values: (_, splits) => splits.map(xFormat ?? String),
        };
    if (xFractions && xFormat)
        return { ...axis, values: (_, splits) => tickTexts(splits, xFormat) };
    if (series.some(one => one.kind === 'points')) return axis;
    const values = xTicks && ((_: uPlot, splits: number[]): string[] => splits.map(xTicks));
    return { ...axis, incrs: WHOLE, ...(values && { values }) };
}

/** A little more than the values, at equal ratios. */
const logRange = (x: readonly number[]): [number, number] => [
    Math.min(...x) / 1.15,
    Math.max(...x) * 1.15,
];

function options(props: ChartProps, width: number): uPlot.Options {
    const grid = { stroke: cssColor('--grid'), width: 1 };
    const axis = (label: string, format?: ChartProps['format']): uPlot.Axis => ({
        label,
        stroke: cssColor('--text'),
        grid,
        ticks: grid,
        font: '12px system-ui, sans-serif',
        labelFont: '12px system-ui, sans-serif',
        labelSize: 20,
        size: label === props.yLabel ? 72 : 36,
        values: format ? (_, splits) => tickTexts(splits, format) : undefined,
    });
    const number = (_: uPlot, value: number | null): string =>
        value === null || value === undefined ? '–' : (props.format ?? String)(value);
    const bars = props.series.some(one => one.kind === 'bars');
    return {
        width,
        height: props.height ?? 260,
        scales: {
            x: bars
                ? // One bar alone would have the range of a hundred.
                  { time: false, range: [Math.min(...props.x) - 0.6, Math.max(...props.x) + 0.6] }
                : props.xLog
                  ? { time: false, distr: 3, log: props.xLog, range: logRange(props.x) }
                  : { time: false },
            y:
                props.yFromZero === false
                    ? {}
                    : { range: (_, low, high) => yRange(props, low ?? 0, high ?? 0) },
        },
        axes: [xAxis(axis(props.xLabel), props), axis(props.yLabel, props.format)],
        series: [
            {
                label: props.xLabel,
                value: (_, value) => (value === null ? '–' : (props.xFormat ?? String)(value)),
            },
            ...props.series.map((one, i) => ({ ...uplotSeries(one, i), value: number })),
        ],
        legend: { show: props.legend ?? true },
        hooks: { drawAxes: [plot => drawBounds(plot, props)] },
        cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    };
}

export function Chart(props: ChartProps) {
    const box = useRef<HTMLDivElement>(null);
    const dark = isDark.value;
    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        let plot: uPlot | null = null;
        const make = (): void => {
            const width = Math.max(240, element.clientWidth);
            if (plot) return plot.setSize({ width, height: props.height ?? 260 });
            plot = new uPlot(
                options(props, width),
                [props.x, ...props.series.map(one => one.values)],
                element,
            );
            if (props.onPick)
                plot.over.addEventListener('click', () => {
                    const index = plot?.cursor.idx;
                    if (typeof index === 'number') props.onPick!(index);
                });
        };
        make();
        const observer = new ResizeObserver(make);
        observer.observe(element);
        return () => {
            observer.disconnect();
            plot?.destroy();
        };
    }, [props.x, props.series, dark]);
    return <div class="chart" ref={box} role="img" aria-label={props.label} />;
}
