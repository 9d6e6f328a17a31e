// SPDX-License-Identifier: Apache-2.0
// The content of a table as text for other programs: full precision, no ± and no units in cells.

import { type GridColumn, type Rows, isNumeric } from './rows';
import type { Line } from './order';

function raw(rows: Rows, node: number, at: number, column: GridColumn): string {
    if (isNumeric(column) || column.kind === 'flag') {
        const value = rows.num(node, at);
        return Number.isNaN(value) ? '' : String(value);
    }
    return rows.text(node, at) ?? '';
}

/** RFC 4180; a text that a spreadsheet would take for a formula gets an apostrophe. */
export function quoteCsv(text: string): string {
    const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

function cleanTsv(text: string): string {
    return text.replace(/[\t\r\n]+/g, ' ');
}

export function tableText(
    rows: Rows,
    lines: readonly Line[],
    columns: readonly number[],
    separator: ',' | '\t',
): string {
    const clean = separator === ',' ? quoteCsv : cleanTsv;
    const end = separator === ',' ? '\r\n' : '\n';
    const levels = rows.nested ? ['level'] : [];
    const out = [
        [...levels, ...columns.map(at => rows.columns[at]!.name)].map(clean).join(separator),
    ];
    for (const { node, level } of lines) {
        const cells = columns.map(at => clean(raw(rows, node, at, rows.columns[at]!)));
        out.push((rows.nested ? [String(level + 1), ...cells] : cells).join(separator));
    }
    return out.join(end) + end;
}
