// SPDX-License-Identifier: Apache-2.0
// The filter line of a table: words that must occur, `-word` that must not, and conditions on
// columns: `time>1`, `module=libm.so.6`, `name~solve`, `role!=main`. All must hold.

import { type GridColumn, type Rows, isNumeric } from './rows';

export type Matcher = (rows: Rows, node: number) => boolean;

export interface Filter {
    matches: Matcher | null;
    /** The part that could not be parsed, as a sentence. */
    problem: string | null;
}

const OPERATORS = ['>=', '<=', '!=', '>', '<', '=', '~'] as const;
type Operator = (typeof OPERATORS)[number];

const FACTOR: Record<string, number> = {
    '': 1,
    s: 1,
    ms: 1e-3,
    us: 1e-6,
    µs: 1e-6,
    ns: 1e-9,
    '%': 1,
};

/** Splits at blanks outside of "quotes". */
export function tokens(text: string): string[] {
    const found = text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
    return found.map(token => token.replace(/"/g, ''));
}

function simple(text: string): string {
    return text.toLowerCase().replace(/[^a-z0-9]+/g, '');
}

/** The column meant by a word: its name, its title, or the only plausible beginning of one. */
export function findColumn(columns: GridColumn[], word: string): number {
    const wanted = simple(word);
    if (!wanted) return -1;
    const by = (test: (column: GridColumn) => boolean): number => columns.findIndex(test);
    const tries: ((column: GridColumn) => boolean)[] = [
        column => simple(column.name) === wanted,
        column => simple(column.title) === wanted,
        column => !!column.shown && simple(column.title).startsWith(wanted),
        column => !!column.shown && simple(column.name).includes(wanted),
        column => simple(column.title).startsWith(wanted),
        column => simple(column.name).includes(wanted),
    ];
    for (const test of tries) {
        const found = by(test);
        if (found >= 0) return found;
    }
    return -1;
}

function number(text: string): number {
    const match = /^([+-]?\d*\.?\d+(?:e[+-]?\d+)?)\s*(ms|us|µs|ns|s|%|)$/i.exec(text);
    return match ? Number(match[1]) * FACTOR[match[2]!.toLowerCase()]! : NaN;
}

function compare(a: number, operator: Operator, b: number): boolean {
    switch (operator) {
        case '>':
            return a > b;
        case '<':
            return a < b;
        case '>=':
            return a >= b;
        case '<=':
            return a <= b;
        case '=':
            return a === b;
        case '!=':
            return a !== b;
        case '~':
            return false;
    }
}

function condition(
    columns: GridColumn[],
    name: string,
    operator: Operator,
    value: string,
): Matcher | string {
    const at = findColumn(columns, name);
    if (at < 0) return `There is no column “${name}”.`;
    const column = columns[at]!;
    if (isNumeric(column) || column.kind === 'flag' || column.kind === 'id') {
        const bound = number(value);
        if (operator === '~' || Number.isNaN(bound))
            return `“${column.title}” holds numbers: compare it with one, as in ${name}>1.`;
        return (rows, node) => compare(rows.num(node, at), operator, bound);
    }
    const wanted = value.toLowerCase();
    const text = (rows: Rows, node: number): string => (rows.text(node, at) ?? '').toLowerCase();
    if (operator === '~') return (rows, node) => text(rows, node).includes(wanted);
    if (operator === '=') return (rows, node) => text(rows, node) === wanted;
    if (operator === '!=') return (rows, node) => text(rows, node) !== wanted;
    return `“${column.title}” holds text: use = != or ~.`;
}

function textColumns(columns: GridColumn[]): number[] {
    return columns.flatMap((column, i) =>
        column.kind === 'text' || column.kind === 'code' || column.kind === 'address' ? [i] : [],
    );
}

function word(columns: GridColumn[], text: string): Matcher {
    const wanted = text.toLowerCase();
    const searched = textColumns(columns);
    return (rows, node) =>
        searched.some(at => rows.text(node, at)?.toLowerCase().includes(wanted) ?? false);
}

const CONDITION = /^([A-Za-z][\w .%/-]*?)(>=|<=|!=|>|<|=|~)(.*)$/;

export function parseFilter(text: string, columns: GridColumn[]): Filter {
    const all: Matcher[] = [];
    let problem: string | null = null;
    for (const token of tokens(text)) {
        const parts = CONDITION.exec(token);
        if (parts) {
            if (parts[3] === '') continue; // still being typed
            // `vector<double>` is a name and not a comparison.
            if (findColumn(columns, parts[1]!) < 0 && Number.isNaN(number(parts[3]!))) {
                all.push(word(columns, token));
                continue;
            }
            const made = condition(columns, parts[1]!, parts[2] as Operator, parts[3]!);
            if (typeof made === 'string') problem ??= made;
            else all.push(made);
        } else if (token.startsWith('-') && token.length > 1) {
            const unwanted = word(columns, token.slice(1));
            all.push((rows, node) => !unwanted(rows, node));
        } else if (token !== '-') {
            all.push(word(columns, token));
        }
    }
    return {
        matches: all.length ? (rows, node) => all.every(one => one(rows, node)) : null,
        problem,
    };
}
