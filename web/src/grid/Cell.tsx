// SPDX-License-Identifier: Apache-2.0
// One cell: number with bar, margin and doubt; text, code or flag. These are called as functions
// and not as components: a table has hundreds of cells, and they have no state.

import { provenance } from '../format';
import { doubtOf, flagText, isEstimated, marginText, numberText, originOf } from './cells';
import { shortName } from '../parts/short_name';
import { type Rows, isNumeric } from './rows';
import { codeRoom } from './widths';

interface Props {
    rows: Rows;
    node: number;
    at: number;
}

/**
 * Returns the origin and basis of a number. It is made when the pointer is on a cell: making it for
 * every cell would be most of the work of scrolling.
 */
export function cellTip(rows: Rows, node: number, index: number): string {
    const column = rows.columns[index]!;
    if (!isNumeric(column) || Number.isNaN(rows.num(node, index))) return '';
    const at = (index: number): number | null => (index < 0 ? null : rows.num(node, index));
    const text = provenance(
        originOf(rows, node, column),
        at(column.countAt),
        at(column.lowAt),
        at(column.highAt),
        column.unit,
    );
    const doubt = doubtOf(rows, node, column);
    return doubt ? [doubt.words, text].filter(Boolean).join(': ') : text;
}

/** An estimate of a count says so. */
function shownNumber(rows: Rows, node: number, at: number): string {
    const column = rows.columns[at]!;
    const text = numberText(column, rows.num(node, at));
    return text && isEstimated(rows, node, column) ? `~${text}` : text;
}

export function NumberCell({ rows, node, at }: Props) {
    const column = rows.columns[at]!;
    const value = rows.num(node, at);
    if (Number.isNaN(value)) return null;
    const doubt = doubtOf(rows, node, column);
    const margin = marginText(rows, node, at);
    const barred = column.kind === 'share' || column.bar;
    // Against the largest of the column: in a flat profile all shares are small.
    const length = barred ? Math.max(0, Math.min(100, (100 * value) / (column.max || 1))) : 0;
    return (
        <span class={doubt && doubt.mark !== '?' ? `cell-number ${doubt.rating}` : 'cell-number'}>
            {barred && (
                <span class="cell-track" aria-hidden="true">
                    <span class="cell-bar" style={{ width: `${length}%` }} />
                </span>
            )}
            <span class="cell-value">{shownNumber(rows, node, at)}</span>
            {column.doubtAt >= 0 && (
                <span class="cell-doubt">{doubt ? <abbr>{doubt.mark}</abbr> : null}</span>
            )}
            {(column.lowAt >= 0 || column.highAt >= 0) && <span class="cell-margin">{margin}</span>}
        </span>
    );
}

export function cellText(rows: Rows, node: number, at: number): string {
    const column = rows.columns[at]!;
    if (isNumeric(column)) return shownNumber(rows, node, at);
    if (column.kind === 'flag') return flagText(column, rows.num(node, at));
    return rows.text(node, at) ?? '';
}

/** A name as it fits: of functions, the class and the function are the last to go. */
export function nameText(rows: Rows, at: number, text: string, pixels: number): string {
    const column = rows.columns[at]!;
    const isName = column.kind === 'code' && (at === rows.treeColumn || column.name === 'function');
    const room = codeRoom(pixels);
    return isName && text.length > room ? shortName(text, room) : text;
}

export function PlainCell({ rows, node, at, pixels }: Props & { pixels?: number }) {
    const column = rows.columns[at]!;
    const whole = cellText(rows, node, at);
    const text = pixels === undefined ? whole : nameText(rows, at, whole, pixels);
    return (
        <span
            class={column.kind === 'text' ? 'cell-text' : 'cell-text mono'}
            data-full=""
            data-tip={text === whole ? undefined : whole}
        >
            {text}
        </span>
    );
}
