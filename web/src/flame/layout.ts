// SPDX-License-Identifier: Apache-2.0
// Positions of the frames of a flame graph: root at the top, width by inclusive time, children
// heaviest first. Frames thinner than a fraction of a pixel are left out, because they would be
// invisible.

import type { Folded } from '../calltree/fold';

export interface Frame {
    node: number; // -1 is all
    depth: number;
    x: number; // pixels
    width: number;
}

export interface Zoom {
    node: number; // -1 shows all
}

const LEAST_PX = 0.4;

export function ancestors(folded: Folded, node: number): number[] {
    const chain: number[] = [];
    for (let at = node; at >= 0; at = folded.parent[at]!) chain.unshift(at);
    return chain;
}

export function layout(folded: Folded, zoom: number, width: number): Frame[] {
    const frames: Frame[] = [{ node: -1, depth: 0, x: 0, width }];
    const above = zoom >= 0 ? ancestors(folded, zoom) : [];
    above.forEach((node, i) => frames.push({ node, depth: i + 1, x: 0, width }));
    const all = zoom >= 0 ? folded.total[zoom]! : folded.all;
    if (!(all > 0)) return frames;
    const scale = width / all;
    const place = (nodes: ArrayLike<number>, x: number, depth: number): void => {
        const order = Array.from(nodes).sort(
            (a, b) => folded.total[b]! - folded.total[a]! || a - b,
        );
        let at = x;
        for (const node of order) {
            const wide = folded.total[node]! * scale;
            if (wide < LEAST_PX) break; // the rest is thinner still
            frames.push({ node, depth, x: at, width: wide });
            place(folded.nesting.children(node), at, depth + 1);
            at += wide;
        }
    };
    if (zoom >= 0) place(folded.nesting.children(zoom), 0, above.length + 1);
    else place(folded.nesting.roots, 0, 1);
    return frames;
}

export function frameAt(frames: readonly Frame[], x: number, depth: number): Frame | null {
    return (
        frames.find(frame => frame.depth === depth && x >= frame.x && x < frame.x + frame.width) ??
        null
    );
}

/** Time in frames that match, each sample once: below a match nothing is added. */
export function matchedTime(folded: Folded, matches: (node: number) => boolean): number {
    let sum = 0;
    const inside = new Uint8Array(folded.n);
    for (let node = 0; node < folded.n; node++) {
        const parent = folded.parent[node]!;
        if (parent >= 0 && inside[parent]) inside[node] = 1;
        else if (matches(node)) {
            inside[node] = 1;
            sum += folded.total[node]!;
        }
    }
    return sum;
}
