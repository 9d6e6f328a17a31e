// SPDX-License-Identifier: Apache-2.0
// Makes a tree of call paths readable without losing a sample. Interrupting frames are folded into
// the interrupted frame. Calls of one function from several places become one. Inlined functions
// count for the function that contains them.

import type { CallTree, Texts } from '../data/contract';

const PLACES_TOLD = 2;

/** Frames that were folded into the frames that they interrupted. */
export interface Interrupted {
    seconds: number;
    n: number;
}

export interface ShapedTree {
    tree: CallTree;
    /** Seconds of each row's own time that an interrupt or page fault took. */
    folded: Float64Array;
    interrupted: Interrupted;
}

function select(texts: Texts, rows: readonly number[]): Texts {
    return { dict: texts.dict, i: rows.map(row => texts.i[row] ?? -1) };
}

/** The frame that each row counts to: itself, or what it or the entry above it interrupted. */
function holders(tree: CallTree): Int32Array {
    const holder = Int32Array.from({ length: tree.row_n }, (_, row) => row);
    for (let row = 0; row < tree.row_n; row++) {
        const above = tree.parent[row] ?? -1;
        if (above < 0 || above >= row) continue; // what interrupted nothing that is known stays
        const folded = holder[above] !== above;
        if (folded || (tree.entry?.i[row] ?? -1) >= 0) holder[row] = holder[above]!;
    }
    return holder;
}

function pick(tree: CallTree, rows: number[], parent: number[]): CallTree {
    return {
        row_n: rows.length,
        parent,
        function: select(tree.function, rows),
        function_id: rows.map(row => tree.function_id[row] ?? null),
        module: select(tree.module, rows),
        category: select(tree.category, rows),
        site: select(tree.site, rows),
        entry: tree.entry ? select(tree.entry, rows) : undefined,
        inlined: tree.inlined ? rows.map(row => tree.inlined![row] ?? 0) : undefined,
        self_n: rows.map(() => 0),
        self_s: rows.map(() => 0),
        blocked_s: rows.map(() => 0),
    };
}

/** `to[row]` is the row of the new tree that a row counts to; `rows` stand for all of theirs. */
function gather(tree: CallTree, rows: number[], to: Int32Array): CallTree {
    const parent = rows.map(row => {
        const above = tree.parent[row] ?? -1;
        return above >= 0 && above < row ? to[above]! : -1;
    });
    const made = pick(tree, rows, parent);
    for (let row = 0; row < tree.row_n; row++) {
        const at = to[row]!;
        made.self_n[at]! += tree.self_n[row] ?? 0;
        made.self_s[at]! += tree.self_s[row] ?? 0;
        made.blocked_s[at]! += tree.blocked_s[row] ?? 0;
    }
    return made;
}

/** The rows of those for which `holder` is another, with theirs gathered. */
function foldInto(tree: CallTree, holder: Int32Array): { tree: CallTree; to: Int32Array } {
    const rows: number[] = [];
    const to = new Int32Array(tree.row_n);
    for (let row = 0; row < tree.row_n; row++)
        if (holder[row] === row) to[row] = rows.push(row) - 1;
        else to[row] = to[holder[row]!]!;
    return { tree: gather(tree, rows, to), to };
}

export function hasInlined(tree: CallTree | null | undefined): boolean {
    return (tree?.inlined ?? []).some(is => is === 1);
}

/** The row of the function of the binary that each row's code is in. */
export function binaryRows(tree: CallTree): Int32Array {
    const holder = Int32Array.from({ length: tree.row_n }, (_, row) => row);
    for (let row = 0; row < tree.row_n; row++) {
        const above = tree.parent[row] ?? -1;
        if (tree.inlined?.[row] === 1 && above >= 0 && above < row) holder[row] = holder[above]!;
    }
    return holder;
}

/** As if nothing was inlined. */
export function withoutInlined(tree: CallTree): CallTree {
    return hasInlined(tree) ? foldInto(tree, binaryRows(tree)).tree : tree;
}

/** Interrupts, page faults and all below them count to the frame that they interrupted. */
export function foldEntries(tree: CallTree): ShapedTree {
    const holder = holders(tree);
    const { tree: made, to } = foldInto(tree, holder);
    const folded = new Float64Array(made.row_n);
    const interrupted = { seconds: 0, n: 0 };
    for (let row = 0; row < tree.row_n; row++) {
        if (holder[row] === row) continue;
        folded[to[row]!]! += tree.self_s[row] ?? 0;
        interrupted.seconds += tree.self_s[row] ?? 0;
        interrupted.n += tree.self_n[row] ?? 0;
    }
    return { tree: made, folded, interrupted };
}

function placesText(places: Set<string>): string | null {
    if (!places.size) return null;
    const all = [...places];
    if (all.length <= PLACES_TOLD) return all.join(', ');
    return `${all[0]} and ${all.length - 1} more`;
}

/** Merges the children of a frame that are the same function. */
export function mergeSites(shaped: ShapedTree): ShapedTree {
    const { tree } = shaped;
    const rows: number[] = [];
    const to = new Int32Array(tree.row_n);
    const places: Set<string>[] = [];
    const known = new Map<string, number>();
    for (let row = 0; row < tree.row_n; row++) {
        const above = tree.parent[row] ?? -1;
        const under = above >= 0 && above < row ? to[above]! : -1;
        const id = tree.function_id[row] ?? null;
        const key = `${under} ${id === null ? `n${tree.function.i[row]}` : id}`;
        let at = known.get(key);
        if (at === undefined) {
            at = rows.push(row) - 1;
            known.set(key, at);
            places.push(new Set());
        }
        to[row] = at;
        const site = tree.site.dict[tree.site.i[row] ?? -1];
        if (site !== undefined) places[at]!.add(site);
    }
    const made = gather(tree, rows, to);
    made.site = textsOf(places.map(placesText));
    const folded = new Float64Array(rows.length);
    for (let row = 0; row < tree.row_n; row++) folded[to[row]!]! += shaped.folded[row]!;
    return { tree: made, folded, interrupted: shaped.interrupted };
}

function textsOf(texts: (string | null)[]): Texts {
    const dict: string[] = [];
    const at = new Map<string, number>();
    const i = texts.map(text => {
        if (text === null) return -1;
        const known = at.get(text) ?? dict.push(text) - 1;
        at.set(text, known);
        return known;
    });
    return { dict, i };
}

export interface Shape {
    /** Interrupts and page faults stand where they were entered. */
    entries: boolean;
    /** Calls from different places stand apart. */
    sites: boolean;
    /** False: inlined functions have no frames. */
    inlined?: boolean;
}

export function shapeTree(from: CallTree, shape: Shape): ShapedTree {
    const tree = shape.inlined === false ? withoutInlined(from) : from;
    const whole: ShapedTree = {
        tree,
        folded: new Float64Array(tree.row_n),
        interrupted: { seconds: 0, n: 0 },
    };
    const made = shape.entries ? whole : foldEntries(tree);
    return shape.sites ? made : mergeSites(made);
}
