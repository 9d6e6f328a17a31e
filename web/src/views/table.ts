// SPDX-License-Identifier: Apache-2.0
// Tables that the page itself makes from the results of a mode, in the shape of a view.

import type { Quantity, View, ViewColumn } from '../data/contract';
import { ViewRows } from '../grid/rows';

export interface MadeColumn extends ViewColumn {
    values: (number | string | null)[];
}

export function madeView(
    name: string,
    title: string,
    columns: MadeColumn[],
    sort: string | null = null,
    nest: { key: string; parent: string } | null = null,
): ViewRows {
    const view: View = {
        name,
        title,
        object: null,
        key: nest?.key ?? null,
        parent: nest?.parent ?? null,
        sort,
        row_n: columns[0]?.values.length ?? 0,
        columns: columns.map(({ values: _, ...column }) => column),
        data: {},
    };
    for (const column of columns) {
        if (column.kind === 'text' || column.kind === 'code' || column.kind === 'address') {
            const dict: string[] = [];
            const at = new Map<string, number>();
            const i = column.values.map(value => {
                if (value === null) return -1;
                const text = String(value);
                let place = at.get(text);
                if (place === undefined) {
                    place = dict.length;
                    at.set(text, place);
                    dict.push(text);
                }
                return place;
            });
            view.data[column.name] = { dict, i };
        } else {
            view.data[column.name] = {
                v: column.values.map(value => (typeof value === 'number' ? value : null)),
            };
        }
    }
    return new ViewRows(view);
}

/** Measured seconds. */
export function secondsColumn(
    name: string,
    title: string,
    meaning: string,
    values: (number | null)[],
    more: Partial<MadeColumn> = {},
): MadeColumn {
    return {
        name,
        title,
        meaning,
        values,
        kind: 'number',
        unit: 's',
        digits: 3,
        shown: true,
        group: 'time',
        origin: 'measured',
        ...more,
    };
}

/** Three columns of a quantity: its value, and its interval hidden behind. */
export function quantityColumns(
    name: string,
    title: string,
    unit: string | null,
    meaning: string,
    quantities: (Quantity | null | undefined)[],
    kind: ViewColumn['kind'] = 'number',
): MadeColumn[] {
    const side = (which: 'low' | 'high'): MadeColumn => ({
        name: `${name}_${which}`,
        title: `${title}, ${which === 'low' ? 'lower' : 'upper'} bound`,
        kind,
        unit,
        digits: unit === '%' ? 1 : 3,
        shown: false,
        group: 'intervals',
        values: quantities.map(quantity => quantity?.[which] ?? null),
    });
    return [
        {
            name,
            title,
            kind,
            unit,
            meaning,
            digits: unit === '%' ? 1 : 3,
            shown: true,
            low: `${name}_low`,
            high: `${name}_high`,
            origin: quantities.find(Boolean)?.origin ?? null,
            group: 'values',
            values: quantities.map(quantity => quantity?.value ?? null),
        },
        side('low'),
        side('high'),
    ];
}

export function textColumn(
    name: string,
    title: string,
    values: (string | null)[],
    kind: 'text' | 'code' = 'text',
): MadeColumn {
    return { name, title, kind, shown: values.some(Boolean), group: 'identity', values };
}

/** Returns columns with the object of a row and its place in the source. */
export function objectColumns(
    rows: { name: string; object: string; where: string | null }[],
): MadeColumn[] {
    return [
        textColumn(
            'name',
            'Name',
            rows.map(row => row.name),
            'code',
        ),
        textColumn(
            'object',
            'Kind',
            rows.map(row => row.object),
        ),
        textColumn(
            'where',
            'Where',
            rows.map(row => row.where),
            'code',
        ),
    ];
}
