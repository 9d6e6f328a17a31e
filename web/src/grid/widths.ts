// SPDX-License-Identifier: Apache-2.0
// Widths of columns from what they hold: numbers by kind, texts by a sample of rows.

import { headerUnit } from './cells';
import { type GridColumn, type Rows, isNumeric } from './rows';

const CHAR_PX = 7.3;
const BOLD_PX = 8.3;
const CAPITAL_PX = 10.6;
const CODE_PX = 7.3;
const PAD_PX = 22;
const SAMPLE = 200;

function textWidth(rows: Rows, at: number, column: GridColumn): number {
    const n = rows.count();
    const step = Math.max(1, Math.floor(n / SAMPLE));
    const lengths: number[] = [];
    for (let node = 0; node < n; node += step) lengths.push(rows.text(node, at)?.length ?? 0);
    lengths.sort((a, b) => a - b);
    const usual = lengths[Math.floor(lengths.length * 0.95)] ?? 10;
    return usual * (column.kind === 'code' ? CODE_PX : CHAR_PX) + PAD_PX;
}

/** Characters of code that fit into so many pixels of a cell. */
export function codeRoom(pixels: number): number {
    return Math.floor((pixels - PAD_PX) / CODE_PX);
}

/** Capitals are wider than the others: "OpenMP". */
function boldWidth(text: string): number {
    return [...text].reduce((sum, c) => sum + (/\p{Lu}/u.test(c) ? CAPITAL_PX : BOLD_PX), 0);
}

export function columnWidth(rows: Rows, at: number): number {
    const column = rows.columns[at]!;
    const unit = headerUnit(column);
    const header = boldWidth(column.title) + (unit ? unit.length * CHAR_PX + 6 : 0) + 44;
    const bounded = column.lowAt >= 0 || column.highAt >= 0;
    if (column.kind === 'share') return Math.max(bounded ? 206 : 140, header);
    if (isNumeric(column)) {
        const words = column.kind === 'integer' && column.max >= 1e6 ? 28 : 0; // "2.80 million"
        return Math.min(220, Math.max(76 + words + (bounded ? 66 : 0), header));
    }
    if (column.kind === 'flag' || column.kind === 'id') return Math.max(56, header);
    if (column.kind === 'address') return Math.max(120, header);
    if (at === rows.treeColumn && rows.deep)
        return Math.round(Math.max(240, Math.min(640, 0.42 * innerWidth)));
    const most = at === rows.treeColumn ? Math.max(200, Math.min(460, 0.36 * innerWidth)) : 300;
    const least = at === rows.treeColumn ? 200 : 70;
    const indent = at === rows.treeColumn && rows.nested ? 56 : 0;
    return Math.round(
        Math.min(most, Math.max(least, header, textWidth(rows, at, column) + indent)),
    );
}

export interface Template {
    columns: string; // as CSS has it
    total: number; // pixels that the columns need
    pixels: number[]; // of each
}

/** Returns the template of widths. The rest of the page goes to a text in the last column, else
 * stays empty. */
export function columnTemplate(rows: Rows, shown: readonly number[]): Template {
    const pixels = shown.map(at => Math.round(columnWidth(rows, at)));
    const widths = pixels.map(width => `${width}px`);
    const last = shown.length - 1;
    const kind = rows.columns[shown[last] ?? 0]?.kind;
    if (last > 0 && (kind === 'text' || kind === 'code'))
        widths[last] = `minmax(${widths[last]}, 1fr)`;
    else widths.push('minmax(0, 1fr)');
    return {
        columns: widths.join(' '),
        pixels,
        total: pixels.reduce((sum, width) => sum + width, 0),
    };
}
