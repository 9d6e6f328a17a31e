// SPDX-License-Identifier: Apache-2.0
// The table of a section as a chart: bars of classes, or points in the order of a number, by group.

import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/Chart';
import type { Section, SectionTable } from '../data/contract';
import { integer, significant } from '../format';
import { type DrawnChart, chartSeries, numberAt } from './chart_series';

export function SectionChart({
    section,
    chart,
    table,
}: {
    section: Section;
    chart: DrawnChart;
    table: SectionTable;
}) {
    const titles = table.columns.map(one => (typeof one === 'string' ? one : one.title));
    const data = useMemo(() => chartSeries(chart, table.rows, titles), [section]);
    const classOf = (at: number): string => {
        const row = table.rows[at];
        return row ? significant(numberAt(row, chart.x)) : '';
    };
    return (
        <Chart
            label={section.title}
            xLabel={titles[chart.x]!}
            yLabel={titles[chart.y]!}
            x={data.x}
            series={data.series}
            height={220}
            xFormat={chart.kind === 'bars' ? classOf : value => significant(value)}
            xTicks={chart.kind === 'bars' ? classOf : undefined}
            format={chart.kind === 'bars' ? integer : value => significant(value)}
            legend={data.series.length > 1 || chart.kind === 'bars'}
        />
    );
}
