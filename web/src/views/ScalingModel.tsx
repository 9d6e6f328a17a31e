// SPDX-License-Identifier: Apache-2.0
// Factors of efficiency over the size of the run, from traces of several sizes. The fitted laws
// project them to other sizes.

import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/Chart';
import { useReport } from '../context';
import {
    type FactorRow,
    type FactorTable,
    type Scaling,
    type ScalingFactor,
    factorChart,
    factorTable,
    isShare,
    popRating,
} from '../data/models';
import {
    counted,
    fixed,
    integer,
    percent,
    percentNumber,
    seconds,
    significant,
    tickSeconds,
} from '../format';
import { Empty, PageHead, Panel, RATING_MARKS } from '../parts/parts';

export function ScalingModel() {
    const { scaling } = useReport().doc;
    if (!scaling)
        return (
            <>
                <PageHead title="Scaling model" />
                <Empty>
                    No scaling model is stored here: assay scale --trace --store adds one.
                </Empty>
            </>
        );
    return <Known data={scaling} />;
}

/** How the kind of scaling is known. */
export function tellKind({ model }: Scaling): string {
    if (model.is_given) return `Scaling is ${model.kind}, as given.`;
    if (model.growth === null) return `Scaling is taken as ${model.kind}.`;
    const verb = model.work === 'instructions' ? 'grow' : 'grows';
    const grows = `${model.work} ${verb} with the threads to the power ${fixed(model.growth, 2)}`;
    return model.is_doubtful
        ? `Scaling is taken as ${model.kind}, but ${grows}: use --weak or --strong.`
        : `Scaling is ${model.kind}: ${grows}.`;
}

function valueText(factor: string, value: number): string {
    if (factor === 'speedup') return `${significant(value)}×`;
    return factor === 'elapsed' ? seconds(value) : percent(100 * value);
}

/** "62 to 71 %"; a bound that is not known is left open. */
export function rangeText({ factor, low, high }: ScalingFactor): string | null {
    if (low === null && high === null) return null;
    const text = (value: number | null): string =>
        value === null ? '?' : valueText(factor, value);
    const from = low !== null && isShare(factor) ? percentNumber(100 * low) : text(low);
    return `${from} to ${text(high)}`;
}

function Cell({ cell }: { cell: ScalingFactor | null }) {
    if (!cell) return <td class="number muted">–</td>;
    const range = rangeText(cell);
    const text = valueText(cell.factor, cell.value);
    const rating = isShare(cell.factor) ? popRating(cell.value) : null;
    return (
        <td class={`number ${rating ?? ''}`} data-tip={rating ?? undefined}>
            {text} {rating && <span aria-hidden="true">{RATING_MARKS[rating]}</span>}
            {range && <span class="range">{range}</span>}
        </td>
    );
}

function FactorMatrix({ sizes, rows }: FactorTable) {
    return (
        <div class="scroll-x">
            <table class="plain matrix efficiency">
                <thead>
                    <tr>
                        <th scope="col">Threads</th>
                        {sizes.map(({ size, isProjected, traceN }) => (
                            <th scope="col" class="number" key={`${isProjected} ${size}`}>
                                {integer(size)}
                                <span class="range">
                                    {isProjected ? 'projected' : counted(traceN, 'trace')}
                                </span>
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {rows.map(({ factor, title, depth, cells }) => (
                        <tr key={factor}>
                            <th scope="row" class={`depth-${depth}`}>
                                {title}
                            </th>
                            {cells.map((cell, i) => (
                                <Cell key={i} cell={cell} />
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function FactorPlot({ data, row }: { data: Scaling; row: FactorRow }) {
    const { factor, title } = row;
    const chart = useMemo(() => factorChart(data, factor), [data, factor]);
    const format = (value: number, decimals?: number): string => {
        if (factor === 'elapsed') return tickSeconds(value, decimals);
        const unit = factor === 'speedup' ? '×' : ' %';
        return decimals === undefined
            ? `${significant(value)}${unit}`
            : `${fixed(value, decimals)}${unit}`;
    };
    return (
        <section class="factor-plot" aria-label={title}>
            <h3>{title}</h3>
            <Chart
                label={`${title} over threads; the table above has the values`}
                xLabel="threads"
                yLabel=""
                x={chart.x}
                series={chart.series}
                height={190}
                legend={false}
                format={format}
                xFormat={value => fixed(value, value < 10 && value % 1 ? 1 : 0)}
                xLog={chart.x.length > 1 ? 2 : undefined}
                yMax={chart.yMax}
            />
        </section>
    );
}

function Laws({ data: { laws } }: { data: Scaling }) {
    return (
        <div class="scroll-x">
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">Factor</th>
                        <th scope="col">Law</th>
                        <th scope="col">Formula, P threads</th>
                        <th scope="col" class="number">
                            a
                        </th>
                        <th scope="col" class="number">
                            f
                        </th>
                        <th scope="col" class="number">
                            Error
                        </th>
                        <th scope="col">As good</th>
                    </tr>
                </thead>
                <tbody>
                    {laws.map(law => (
                        <tr key={law.factor}>
                            <th scope="row">{law.title}</th>
                            <td>{law.law}</td>
                            <td class="mono">{law.formula}</td>
                            <td class="number">{fixed(law.a, 4)}</td>
                            <td class="number">{law.f === null ? '–' : fixed(law.f, 4)}</td>
                            <td class="number">
                                {law.error === null ? '–' : percent(100 * law.error)}
                            </td>
                            <td>
                                {law.rival_law &&
                                    `${law.rival_law}: ${percent(100 * (law.rival_value ?? 0))} ` +
                                        `in place of ${percent(100 * (law.used_value ?? 0))}`}
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function Known({ data }: { data: Scaling }) {
    const table = useMemo(() => factorTable(data), [data]);
    const lowest = table.rows.find(({ factor }) => factor === data.model.lowest);
    const hasCurves = data.factors.some(({ part }) => part === 'curve');
    return (
        <>
            <PageHead
                title="Scaling model"
                note={`${tellKind(data)}${lowest ? ` The lowest factor is ${lowest.title}.` : ''}`}
            />
            <Panel
                title="Factors by size"
                note={
                    'Each factor is the product of those below it. ● good from 80 %, ▲ fair ' +
                    'from 60 %, ■ poor below. Small: 95 % interval.'
                }
            >
                <FactorMatrix {...table} />
            </Panel>
            <Panel
                title="Factors over size"
                note={
                    hasCurves
                        ? 'Points are measured, the line is the fit, dashed the projection, the ' +
                          'area its 95 % interval. Intervals hold if the laws go on beyond the ' +
                          'sizes measured.'
                        : 'Three sizes or more are needed for a fit.'
                }
            >
                <div class="factor-plots">
                    {table.rows.map(row => (
                        <FactorPlot key={row.factor} data={data} row={row} />
                    ))}
                </div>
            </Panel>
            {data.laws.length > 0 && (
                <Panel
                    title="Laws"
                    note={
                        'Error: of a size that was left out of the fit. As good: another law ' +
                        'that fits, and its value at the largest size.'
                    }
                >
                    <Laws data={data} />
                </Panel>
            )}
        </>
    );
}
