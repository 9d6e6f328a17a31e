// SPDX-License-Identifier: Apache-2.0
// Call paths as rows of a table. Top-down follows the calls. Bottom-up goes from the function that
// spent time to its callers, and is built as far as it is opened. Flat has one row per function.

import type { ViewColumn } from '../data/contract';
import { type GridColumn, type ObjectRef, type Rows, gridColumns, range } from '../grid/rows';
import { hotPath } from '../grid/order';
import { rankTexts } from '../grid/values';
import type { Folded } from './fold';

const NAME = 0;
const TOTAL_PCT = 1;
const TOTAL = 2;
const SELF_PCT = 3;
const SELF = 4;
const BLOCKED = 5;
const SAMPLES = 6;
const MODULE = 7;
const CATEGORY = 8;
const SITE = 9;
const INTERRUPTED = 10;

function column(
    name: string,
    title: string,
    kind: ViewColumn['kind'],
    unit: string | null,
    meaning: string,
    shown = true,
): ViewColumn {
    return { name, title, group: 'call tree', unit, kind, meaning, shown, origin: 'measured' };
}

const COLUMNS: ViewColumn[] = [
    column('name', 'Function', 'code', null, 'The function of this frame'),
    column(
        'total_pct',
        'Total',
        'share',
        '%',
        'Share of running time in this frame and all it called',
    ),
    column(
        'total_s',
        'Total time',
        'number',
        's',
        'Running time in this frame and all it called, over all threads',
    ),
    column('self_pct', 'Self', 'share', '%', 'Share of running time in the function itself'),
    column(
        'self_s',
        'Self time',
        'number',
        's',
        'Running time in the function itself, over all threads',
    ),
    column(
        'blocked_s',
        'Blocked',
        'number',
        's',
        'Time blocked here and below; the thread had no CPU, and running time excludes it',
        false,
    ),
    column('sample_n', 'Samples', 'integer', null, 'Samples in this frame and all it called'),
    column('module', 'Module', 'text', null, 'File of code that the function is in'),
    column('category', 'Category', 'text', null, 'Category of time of this call path'),
    column('site', 'Called from', 'text', null, 'Source line of the call'),
    column(
        'interrupted_s',
        'Interrupted',
        'number',
        's',
        'Part of the total time that interrupts and page faults took here and below',
        false,
    ),
];

interface Sums {
    total: number;
    self: number;
    blocked: number;
    n: number;
    interrupted: number;
}

abstract class PathRows implements Rows {
    readonly columns: GridColumn[];
    abstract readonly nested: boolean;
    abstract readonly complete: boolean;
    readonly treeColumn = NAME;
    get deep(): boolean {
        return this.nested;
    }
    private nameRank: Int32Array | null = null;

    constructor(protected readonly folded: Folded) {
        const most: Record<string, number> = { total_pct: 100, self_pct: 100, sample_n: 1 };
        this.columns = gridColumns(COLUMNS, one => most[one.name] ?? folded.all);
    }

    abstract count(): number;
    abstract roots(): ArrayLike<number>;
    abstract children(node: number): ArrayLike<number>;
    abstract hasChildren(node: number): boolean;
    abstract parent(node: number): number;
    abstract key(node: number): string;
    abstract find(key: string): number;
    protected abstract sums(node: number): Sums;
    /** A node of the tree that has the function of this row. */
    protected abstract sample(node: number): number;

    num(node: number, at: number): number {
        const sums = this.sums(node);
        const share = (time: number): number =>
            this.folded.all > 0 ? (100 * time) / this.folded.all : 0;
        switch (at) {
            case TOTAL_PCT:
                return share(sums.total);
            case TOTAL:
                return sums.total;
            case SELF_PCT:
                return share(sums.self);
            case SELF:
                return sums.self;
            case BLOCKED:
                return sums.blocked;
            case SAMPLES:
                return sums.n;
            case INTERRUPTED:
                return sums.interrupted;
            default:
                return NaN;
        }
    }
    text(node: number, at: number): string | null {
        const of = this.sample(node);
        switch (at) {
            case NAME:
                return this.folded.name(of);
            case MODULE:
                return this.folded.module(of);
            case CATEGORY:
                return this.folded.category(of);
            case SITE:
                return this.site(node);
            default:
                return null;
        }
    }
    protected site(node: number): string | null {
        return this.folded.site(this.sample(node));
    }
    rank(node: number, at: number): number {
        if (at === NAME) {
            this.nameRank ??= rankTexts(this.folded.names);
            return this.nameRank[this.folded.nameOf[this.sample(node)] ?? -1] ?? NaN;
        }
        if (at === MODULE) return this.folded.tree.module.i[this.sample(node)] ?? NaN;
        if (at === CATEGORY) return this.folded.tree.category.i[this.sample(node)] ?? NaN;
        if (at === SITE) return this.folded.tree.site.i[this.sample(node)] ?? NaN;
        return this.num(node, at);
    }
    object(node: number): ObjectRef | null {
        const id = this.folded.functionId(this.sample(node));
        return id === null ? null : { kind: 'function', id };
    }
}

export class TopDownRows extends PathRows {
    readonly nested = true;
    readonly complete = true;

    count(): number {
        return this.folded.n;
    }
    roots(): ArrayLike<number> {
        return this.folded.nesting.roots;
    }
    children(node: number): ArrayLike<number> {
        return this.folded.nesting.children(node);
    }
    hasChildren(node: number): boolean {
        return this.folded.nesting.hasChildren(node);
    }
    parent(node: number): number {
        return this.folded.parent[node]!;
    }
    key(node: number): string {
        return `p${node}`;
    }
    find(key: string): number {
        const node = Number(key.slice(1));
        return Number.isInteger(node) && node >= 0 && node < this.folded.n ? node : -1;
    }
    protected sums(node: number): Sums {
        return {
            total: this.folded.total[node]!,
            self: this.folded.tree.self_s[node] ?? 0,
            blocked: this.folded.totalBlocked[node]!,
            n: this.folded.totalN[node]!,
            interrupted: this.folded.totalFolded[node]!,
        };
    }
    protected sample(node: number): number {
        return node;
    }
}

/** Keys of the rows that lead to where most time is, or where it parts: a tree opens along them. */
export function hotKeys(rows: Rows): string[] {
    const roots = Array.from(rows.roots());
    if (!roots.length) return [];
    const hottest = roots.reduce((best, node) =>
        rows.num(node, TOTAL) > rows.num(best, TOTAL) ? node : best,
    );
    // The last one too: below it no single child has half of the time.
    return hotPath(rows, hottest, TOTAL)
        .filter(node => rows.hasChildren(node))
        .map(node => rows.key(node));
}

export class FlatRows extends PathRows {
    readonly nested = false;
    readonly complete = true;
    private readonly first: Int32Array;
    private readonly all: Int32Array;

    constructor(folded: Folded) {
        super(folded);
        this.all = range(folded.flat().length);
        const firstOf = new Map<number, number>();
        for (let node = folded.n - 1; node >= 0; node--)
            firstOf.set(folded.nameOf[node] ?? -1, node);
        this.first = Int32Array.from(folded.flat(), entry => firstOf.get(entry.name)!);
    }
    count(): number {
        return this.all.length;
    }
    roots(): ArrayLike<number> {
        return this.all;
    }
    children(): ArrayLike<number> {
        return [];
    }
    hasChildren(): boolean {
        return false;
    }
    parent(): number {
        return -1;
    }
    key(node: number): string {
        return `n${this.folded.flat()[node]!.name}`;
    }
    find(key: string): number {
        const name = Number(key.slice(1));
        return this.folded.flat().findIndex(entry => entry.name === name);
    }
    protected sums(node: number): Sums {
        const entry = this.folded.flat()[node]!;
        return {
            total: entry.total,
            self: entry.self,
            blocked: NaN,
            n: entry.totalN,
            interrupted: NaN,
        };
    }
    protected sample(node: number): number {
        return this.first[node]!;
    }
    protected override site(): string | null {
        return null;
    }
}

interface Caller {
    parent: number;
    key: string;
    /** The nodes that spent time, and for each the frame at this level. */
    leaves: Int32Array;
    frames: Int32Array;
    sums: Sums;
    children: number[] | null;
}

/** Roots are functions by their own time; below each, its callers with the time they caused. */
export class BottomUpRows extends PathRows {
    readonly nested = true;
    readonly complete = false;
    private readonly made: Caller[] = [];
    private readonly byKey = new Map<string, number>();
    private readonly rootNodes: number[];

    constructor(folded: Folded) {
        super(folded);
        const leaves: number[] = [];
        for (let node = 0; node < folded.n; node++)
            if ((folded.tree.self_n[node] ?? 0) > 0 || (folded.tree.self_s[node] ?? 0) > 0)
                leaves.push(node);
        this.rootNodes = this.gather(-1, leaves, leaves);
    }

    private gather(parent: number, leaves: ArrayLike<number>, frames: ArrayLike<number>): number[] {
        const groups = new Map<number, { leaves: number[]; frames: number[] }>();
        for (let i = 0; i < leaves.length; i++) {
            const frame = frames[i]!;
            if (frame < 0) continue;
            const name = this.folded.nameOf[frame] ?? -1;
            let group = groups.get(name);
            if (!group) groups.set(name, (group = { leaves: [], frames: [] }));
            group.leaves.push(leaves[i]!);
            group.frames.push(frame);
        }
        const prefix = parent < 0 ? 'b' : `${this.made[parent]!.key}.`;
        return [...groups].map(([name, group]) => {
            const sums: Sums = { total: 0, self: 0, blocked: 0, n: 0, interrupted: NaN };
            for (const leaf of group.leaves) {
                sums.total += this.folded.tree.self_s[leaf] ?? 0;
                sums.blocked += this.folded.tree.blocked_s[leaf] ?? 0;
                sums.n += this.folded.tree.self_n[leaf] ?? 0;
            }
            sums.self = parent < 0 ? sums.total : NaN;
            const key = `${prefix}${name}`;
            this.byKey.set(key, this.made.length);
            this.made.push({
                parent,
                key,
                leaves: Int32Array.from(group.leaves),
                frames: Int32Array.from(group.frames),
                sums,
                children: null,
            });
            return this.made.length - 1;
        });
    }

    count(): number {
        return this.made.length;
    }
    roots(): ArrayLike<number> {
        return this.rootNodes;
    }
    children(node: number): ArrayLike<number> {
        const of = this.made[node]!;
        of.children ??= this.gather(
            node,
            of.leaves,
            of.frames.map(frame => this.folded.parent[frame]!),
        );
        return of.children;
    }
    hasChildren(node: number): boolean {
        return this.made[node]!.frames.some(frame => this.folded.parent[frame]! >= 0);
    }
    parent(node: number): number {
        return this.made[node]!.parent;
    }
    key(node: number): string {
        return this.made[node]!.key;
    }
    find(key: string): number {
        const parts = key.split('.');
        let node = this.byKey.get(parts[0]!) ?? -1;
        for (let i = 1; i < parts.length && node >= 0; i++) {
            this.children(node);
            node = this.byKey.get(parts.slice(0, i + 1).join('.')) ?? -1;
        }
        return node;
    }
    protected sums(node: number): Sums {
        return this.made[node]!.sums;
    }
    protected sample(node: number): number {
        return this.made[node]!.frames[0]!;
    }
}
