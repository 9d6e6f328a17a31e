// SPDX-License-Identifier: Apache-2.0
// Columns of the table of a section. If a pass names only titles, the cells decide the kind of a
// column.

import type { SectionTable, ViewColumn } from '../data/contract';
import type { MadeColumn } from './table';

type Cell = number | string | null;

function kindOf(values: readonly Cell[]): ViewColumn['kind'] {
    const known = values.filter(value => value !== null);
    if (known.length && known.every(value => typeof value === 'number'))
        return known.every(value => Number.isInteger(value)) ? 'integer' : 'number';
    return known.some(value => /^0x[0-9a-f]+$/i.test(String(value))) ? 'address' : 'text';
}

export function sectionColumn(
    column: ViewColumn | string,
    at: number,
    { columns, rows }: SectionTable,
): MadeColumn {
    const values = rows.map(row => row[at] ?? null);
    if (typeof column !== 'string') return { ...column, shown: column.shown ?? true, values };
    // Names of columns are kept in addresses: two of one title must differ.
    const kind = kindOf(values);
    const mixed = kind !== 'text' && columns.some(one => one === 'Unit');
    return { name: `c${at}`, title: column, kind, mixed, shown: true, values };
}
