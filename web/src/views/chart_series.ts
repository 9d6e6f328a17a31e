// SPDX-License-Identifier: Apache-2.0
// Rows of a section as what a chart draws: bars of classes, or points by group.

import type { Series } from '../chart/Chart';
import type { SectionChart, SectionTable } from '../data/contract';

/** One that has a picture of its own. */
export type DrawnChart = SectionChart & { kind: 'bars' | 'points' };

type Row = SectionTable['rows'][number];

/** Groups that have a colour of their own; the others share one. */
const GROUPS = 5;

export const numberAt = (row: Row, at: number): number => Number(row[at] ?? NaN);
const known = (value: number): number | null => (Number.isNaN(value) ? null : value);

/** Names of the largest groups, and of what holds the rest. */
export function groupNames(rows: readonly Row[], at: number | null): string[] {
    if (at === null) return [''];
    const sizes = new Map<string, number>();
    for (const row of rows) sizes.set(String(row[at]), (sizes.get(String(row[at])) ?? 0) + 1);
    const names = [...sizes].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    return names.length > GROUPS + 1 ? [...names.slice(0, GROUPS), 'others'] : names;
}

export function chartSeries(
    { kind, x, y, group }: DrawnChart,
    rows: readonly Row[],
    titles: readonly string[],
): { x: number[]; series: Series[] } {
    if (kind === 'bars')
        return {
            x: rows.map((_, i) => i),
            series: [{ label: titles[y]!, kind, values: rows.map(row => known(numberAt(row, y))) }],
        };
    const names = groupNames(rows, group);
    const groupOf = (row: Row): string => {
        const name = group === null ? '' : String(row[group]);
        return names.includes(name) ? name : 'others';
    };
    const sorted = [...rows].sort((a, b) => numberAt(a, x) - numberAt(b, x));
    return {
        x: sorted.map(row => numberAt(row, x)),
        series: names.map(name => ({
            label: group === null ? titles[y]! : `${titles[group]} ${name}`,
            kind,
            values: sorted.map(row => (groupOf(row) === name ? known(numberAt(row, y)) : null)),
        })),
    };
}
