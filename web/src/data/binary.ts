// SPDX-License-Identifier: Apache-2.0
// Functions and loops as if nothing was inlined: functions of the binary have the time of all their
// code, and loops are theirs.

import type { ColumnData, View } from './contract';

const OWN = ['sample_n', 'time_s', 'pct', 'low_pct', 'high_pct'];

function picked(data: ColumnData, rows: readonly number[]): ColumnData {
    if ('v' in data) return { v: rows.map(row => data.v[row] ?? null) };
    return { dict: data.dict, i: rows.map(row => data.i[row] ?? -1) };
}

function values(view: View, name: string): (number | null)[] | null {
    const data = view.data[name];
    return data && 'v' in data ? data.v : null;
}

/** Bounds in seconds follow from those in per cent. */
function functionData(view: View, sampledSeconds: number): View['data'] {
    const data = { ...view.data };
    for (const part of OWN) {
        const whole = view.data[`binary_${part}`];
        if (whole && data[`exclusive_${part}`]) data[`exclusive_${part}`] = whole;
    }
    for (const end of ['low', 'high']) {
        const pct = values(view, `binary_${end}_pct`);
        if (pct && data[`exclusive_${end}_s`])
            data[`exclusive_${end}_s`] = {
                v: pct.map(one => (one === null ? null : (one / 100) * sampledSeconds)),
            };
    }
    return data;
}

export function binaryView(view: View, sampledSeconds: number): View {
    if (view.name === 'loops') {
        const { binary_function: name, binary_function_id: id } = view.data;
        const data = { ...view.data };
        if (name) data['function'] = name;
        if (id) data['function_id'] = id;
        delete data['is_inlined'];
        const hidden = ['is_inlined', 'inlined_into', 'call_source_file', 'call_line'];
        return {
            ...view,
            columns: view.columns.filter(column => !hidden.includes(column.name)),
            data,
        };
    }
    const inlined = values(view, 'is_inlined');
    if (!inlined) return view;
    const rows = inlined.flatMap((is, row) => (is === 1 ? [] : [row]));
    const data = functionData(view, sampledSeconds);
    return {
        ...view,
        row_n: rows.length,
        columns: view.columns.filter(
            column => column.name !== 'is_inlined' && !column.name.startsWith('binary_'),
        ),
        data: Object.fromEntries(
            Object.entries(data).map(([name, one]) => [name, picked(one, rows)]),
        ),
    };
}
