// SPDX-License-Identifier: Apache-2.0
// Keys of a table, as the treegrid pattern of ARIA has them with focus on rows.

import type { Line } from './order';
import type { Rows } from './rows';

export interface KeyContext {
    rows: Rows;
    lines: readonly Line[];
    index: number; // of the active line, or -1
    page: number; // lines that fit
    isOpen: (node: number) => boolean;
}

export type KeyAction =
    | { kind: 'move'; index: number }
    | { kind: 'open' | 'close' | 'enter' | 'copy' | 'hot-path' | 'details'; node: number }
    | null;

export function keyAction(event: KeyboardEvent, context: KeyContext): KeyAction {
    const { rows, lines, index, page, isOpen } = context;
    if (!lines.length) return null;
    const last = lines.length - 1;
    const move = (to: number): KeyAction => ({
        kind: 'move',
        index: Math.max(0, Math.min(last, to)),
    });
    const node = index >= 0 ? lines[index]!.node : -1;
    if ((event.ctrlKey || event.metaKey) && event.key === 'c' && node >= 0)
        return String(getSelection() ?? '') ? null : { kind: 'copy', node };
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    switch (event.key) {
        case 'ArrowDown':
            return move(index + 1);
        case 'ArrowUp':
            return move(index < 0 ? 0 : index - 1);
        case 'PageDown':
            return move(index + page);
        case 'PageUp':
            return move(index - page);
        case 'Home':
            return move(0);
        case 'End':
            return move(last);
        case 'ArrowRight':
            if (node < 0 || !rows.hasChildren(node)) return null;
            return isOpen(node) ? move(index + 1) : { kind: 'open', node };
        case 'ArrowLeft': {
            if (node < 0) return null;
            if (rows.hasChildren(node) && isOpen(node)) return { kind: 'close', node };
            const parent = rows.parent(node);
            return parent < 0 ? null : move(lines.findIndex(line => line.node === parent));
        }
        case 'Enter':
            return node < 0 ? null : { kind: 'enter', node };
        case ' ':
            return node < 0 || !rows.hasChildren(node)
                ? null
                : { kind: isOpen(node) ? 'close' : 'open', node };
        case 'h':
            return { kind: 'hot-path', node: node < 0 ? lines[0]!.node : node };
        case 'i':
            return node < 0 ? null : { kind: 'details', node };
        default:
            return null;
    }
}
