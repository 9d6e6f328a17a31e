// SPDX-License-Identifier: Apache-2.0
// From nodes to the rows on screen: sort siblings, drop what the filter drops, open what is open.

import type { Rows } from './rows';

export interface Sort {
    column: number;
    descending: boolean;
}

export interface Line {
    node: number;
    level: number; // 0 = outermost
}

/** Siblings in order; what is not known comes last either way, ties keep their order. */
export function sortNodes(rows: Rows, nodes: ArrayLike<number>, sort: Sort): Int32Array {
    const n = nodes.length;
    const keys = new Float64Array(n);
    for (let i = 0; i < n; i++) keys[i] = rows.rank(nodes[i]!, sort.column);
    const sign = sort.descending ? -1 : 1;
    const order = new Int32Array(n);
    for (let i = 0; i < n; i++) order[i] = i;
    order.sort((a, b) => {
        const x = keys[a]!;
        const y = keys[b]!;
        if (x === y) return a - b;
        const xUnknown = Number.isNaN(x);
        const yUnknown = Number.isNaN(y);
        if (xUnknown || yUnknown) return xUnknown && yUnknown ? a - b : xUnknown ? 1 : -1;
        return x < y ? -sign : sign;
    });
    return order.map(at => nodes[at]!);
}

export const ABOVE = 1; // of a match
export const MATCH = 2;

/** Nodes that match, and all above them; others are 0. */
export function keepMatching(rows: Rows, matches: (node: number) => boolean): Uint8Array {
    const keep = new Uint8Array(rows.count());
    for (let node = 0; node < keep.length; node++) {
        if (!matches(node)) continue;
        keep[node] = MATCH;
        for (let at = rows.parent(node); at >= 0 && !keep[at]; at = rows.parent(at))
            keep[at] = ABOVE;
    }
    return keep;
}

export function showLines(
    rows: Rows,
    sort: Sort | null,
    keep: Uint8Array | null,
    isOpen: (node: number) => boolean,
): Line[] {
    const lines: Line[] = [];
    const kept = (node: number): boolean => !keep || node >= keep.length || keep[node] !== 0;
    const visit = (nodes: ArrayLike<number>, level: number, all: boolean): void => {
        const sorted = sort ? sortNodes(rows, nodes, sort) : nodes;
        for (let i = 0; i < sorted.length; i++) {
            const node = sorted[i]!;
            if (!all && !kept(node)) continue;
            lines.push({ node, level });
            if (!rows.hasChildren(node) || !isOpen(node)) continue;
            const children = rows.children(node);
            // Below a match nothing may match itself: then opening it shows all there is.
            visit(children, level + 1, all || !some(children, kept));
        }
    };
    visit(rows.roots(), 0, false);
    return lines;
}

export function some(nodes: ArrayLike<number>, test: (node: number) => boolean): boolean {
    for (let i = 0; i < nodes.length; i++) if (test(nodes[i]!)) return true;
    return false;
}

/** The chain of heaviest children from `start`, as long as one carries half of its parent. */
export function hotPath(rows: Rows, start: number, column: number): number[] {
    const path = [start];
    for (let node = start; ;) {
        const children = rows.children(node);
        let hottest = -1;
        for (let i = 0; i < children.length; i++)
            if (hottest < 0 || rows.num(children[i]!, column) > rows.num(hottest, column))
                hottest = children[i]!;
        if (hottest < 0) return path;
        const above = rows.num(node, column);
        const share = rows.num(hottest, column);
        if (Number.isNaN(share) || share < above / 2 || share <= 0) return path;
        path.push(hottest);
        node = hottest;
    }
}
