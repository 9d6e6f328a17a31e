// SPDX-License-Identifier: Apache-2.0
// A chart drawn by uPlot in the colours of the page, made anew when those or the data change. The
// numbers of each chart stand in a table beside it as well.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { cssColor, isDark } from '../theme';
import { tickTexts } from './ticks';

export interface Series {
    label: string;
    values: (number | null)[];
    kind?: 'line' | 'bars' | 'ideal' | 'points';
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
    yFromZero?: boolean;
    legend?: boolean;
    /** Called with the index on the x axis on a click. */
    onPick?: (index: number) => void;
}

/** Counts have no fractions: steps of their axis are whole. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [1, 4]];

function uplotSeries(series: Series, i: number): uPlot.Series {
    const ideal = series.kind === 'ideal';
    const color = ideal ? cssColor('--muted') : cssColor(`--series-${i % 6}`);
    const bars = series.kind === 'bars';
    const points = series.kind === 'points';
    return {
        label: series.label,
        stroke: color,
        width: ideal ? 1 : bars ? 0 : 2,
        dash: ideal ? [3, 3] : bars || points ? [] : DASHES[i % DASHES.length]!,
        fill: bars ? color : undefined,
        paths: bars ? uPlot.paths.bars!({ size: [0.8, 60] }) : points ? () => null : undefined,
        points: points
            ? { show: true, size: 5, fill: color, width: 0 }
            : { show: !bars && !ideal && series.values.length <= 40, size: 6 },
    };
}

/** Whole steps, but where points stand at any number. */
function xAxis(axis: uPlot.Axis, { series, xTicks, xFractions, xFormat }: ChartProps): uPlot.Axis {
    if (xFractions && xFormat)
        return { ...axis, values: (_, splits) => tickTexts(splits, xFormat) };
    if (series.some(one => one.kind === 'points')) return axis;
    const values = xTicks && ((_: uPlot, splits: number[]): string[] => splits.map(xTicks));
    return { ...axis, incrs: WHOLE, ...(values && { values }) };
}

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
                : { time: false },
            y:
                props.yFromZero === false
                    ? {}
                    : { range: (_, low, high) => [Math.min(0, low), (high || 1) * 1.08] },
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
