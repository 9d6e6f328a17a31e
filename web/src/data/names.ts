// SPDX-License-Identifier: Apache-2.0
// Names of loops and lines, which the data do not have. They become a column like any other, so
// that tables can find, sort and save by them.

import type { ColumnData, View, ViewColumn } from './contract';
import { baseName } from '../format';
import { INLINED } from '../parts/short_name';
import { Values } from '../grid/values';

export function sourceRange(file: string | null, first: number, last: number): string {
    const name = file ? baseName(file) : '';
    if (Number.isNaN(first) || first <= 0) return name;
    const lines = Number.isNaN(last) || last <= first ? `${first}` : `${first}–${last}`;
    return name ? `${name}:${lines}` : `line ${lines}`;
}

function named(
    view: View,
    title: string,
    meaning: string,
    hide: string[],
    text: (row: number) => string,
): View {
    if (view.columns.some(column => column.name === 'name')) return view;
    const names = Array.from({ length: view.row_n }, (_, row) => text(row));
    const column: ViewColumn = {
        name: 'name',
        title,
        group: 'name',
        kind: 'code',
        meaning,
        shown: true,
    };
    const data: ColumnData = { dict: names, i: names.map((_, i) => i) };
    return {
        ...view,
        columns: [
            column,
            ...view.columns.map(one => ({
                ...one,
                shown: one.shown && !hide.includes(one.name),
                title: one.title === title ? `${title}, number` : one.title,
            })),
        ],
        data: { ...view.data, name: data },
    };
}

/** Inlined functions may have the name of one of the binary. */
function markInlined(view: View): View {
    const name = new Values(view.data['name']);
    const is = new Values(view.data['is_inlined']);
    const dict: string[] = [];
    const i = Array.from({ length: view.row_n }, (_, row) => {
        const text = name.text(row);
        return text === null ? -1 : dict.push(text + (is.num(row) === 1 ? INLINED : '')) - 1;
    });
    return { ...view, data: { ...view.data, name: { dict, i } } };
}

export function withNames(view: View): View {
    const values = (name: string): Values => new Values(view.data[name]);
    const file = values('source_file');
    if (view.name === 'loops') {
        const id = values(view.key ?? 'loop_id');
        const first = values('first_line');
        const last = values('last_line');
        return named(
            view,
            'Loop',
            'Number of the loop in the experiment, and its own source lines.',
            ['loop_id', 'source_file', 'first_line', 'last_line'],
            row => {
                const where = sourceRange(file.text(row), first.num(row), last.num(row));
                return `loop ${id.num(row)}${where ? ` · ${where}` : ''}`;
            },
        );
    }
    if (view.name === 'functions' && view.data['is_inlined']) return markInlined(view);
    if (view.name === 'lines') {
        const line = values('line');
        return named(view, 'Line', 'File and number of the line.', ['source_file', 'line'], row =>
            sourceRange(file.text(row), line.num(row), NaN),
        );
    }
    return view;
}
