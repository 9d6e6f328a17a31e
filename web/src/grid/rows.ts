// SPDX-License-Identifier: Apache-2.0
// The content of a table: nodes with values in columns, flat or nested. The table does not know the
// source of its nodes: a view, functions with their loops, a grouping, or a call tree.

import type { View, ViewColumn } from '../data/contract';
import { Values } from './values';

export interface ObjectRef {
    kind: string;
    id: number;
}

export interface GridColumn extends ViewColumn {
    /** Sums over rows mean something. */
    additive: boolean;
    /** Largest magnitude in the column: fixes unit, decimals and the length of bars. */
    max: number;
    /** Columns of the interval, the doubt and the count behind this one, or -1. */
    lowAt: number;
    highAt: number;
    doubtAt: number;
    countAt: number;
    /** Column that says where each value comes from, where they differ; or -1. */
    originAt: number;
}

export interface Rows {
    readonly columns: GridColumn[];
    readonly nested: boolean;
    /** False where children are made on demand, so that not all nodes can be looked at. */
    readonly complete: boolean;
    /** Nested by dozens of levels: its names need room. */
    readonly deep?: boolean;
    /** The column that carries the nesting. */
    readonly treeColumn: number;
    count(): number;
    roots(): ArrayLike<number>;
    children(node: number): ArrayLike<number>;
    hasChildren(node: number): boolean;
    parent(node: number): number;
    num(node: number, column: number): number;
    text(node: number, column: number): string | null;
    rank(node: number, column: number): number;
    key(node: number): string;
    find(key: string): number;
    object(node: number): ObjectRef | null;
}

const ADDITIVE = new Set([
    'exclusive_sample_n',
    'exclusive_time_s',
    'exclusive_pct',
    'blocked_time_s',
    'computing_time_s',
    'idle_time_s',
    'runnable_time_s',
    'time_s',
    'time_pct',
    'sample_n',
    'lost_sample_n',
    'self_s',
    'self_n',
    'self_pct',
]);

/**
 * Column by which a row that holds others is ordered: of own times, that with all below it, for
 * while it is folded it stands for them.
 */
export function nestColumn(columns: readonly GridColumn[], column: number): number {
    const own = columns[column];
    if (!own || !isNumeric(own) || !own.name.startsWith('exclusive_')) return column;
    const whole = own.name.replace('exclusive_', 'inclusive_');
    const at = columns.findIndex(one => one.name === whole);
    return at >= 0 ? at : column;
}

export function isNumeric(column: ViewColumn): boolean {
    return column.kind === 'number' || column.kind === 'integer' || column.kind === 'share';
}

const BEHIND = /^(exclusive|inclusive)_/;

function countColumn(
    column: ViewColumn,
    at: Map<string, number>,
    ofs: Map<string, string | null | undefined>,
): number {
    if (!isNumeric(column)) return -1;
    const counted = at.get(`${column.name}_n`);
    if (counted !== undefined && ofs.get(`${column.name}_n`) === column.name) return counted;
    const side = BEHIND.exec(column.name)?.[1];
    const behind = side ? at.get(`${side}_sample_n`) : at.get('sample_n');
    return behind ?? -1;
}

export function gridColumns(
    columns: ViewColumn[],
    max: (column: ViewColumn) => number,
): GridColumn[] {
    const at = new Map(columns.map((column, i) => [column.name, i]));
    const place = (name: string | null | undefined): number => (name ? (at.get(name) ?? -1) : -1);
    const ofs = new Map(columns.map(column => [column.name, column.of]));
    return columns.map(column => ({
        ...column,
        additive: ADDITIVE.has(column.name),
        max: isNumeric(column) ? max(column) : 0,
        lowAt: place(column.low),
        highAt: place(column.high),
        doubtAt: place(column.doubt),
        countAt: countColumn(column, at, ofs),
        originAt:
            ofs.get(`${column.name}_origin`) === column.name
                ? (at.get(`${column.name}_origin`) ?? -1)
                : -1,
    }));
}

const NAMES = ['name', 'title', 'exe', 'function', 'label', 'source_file'];

export function nameColumn(columns: ViewColumn[]): number {
    for (const shown of [true, false])
        for (const name of NAMES) {
            const found = columns.findIndex(
                column => column.name === name && (!shown || column.shown),
            );
            if (found >= 0) return found;
        }
    return Math.max(
        0,
        columns.findIndex(column => column.kind === 'text' || column.kind === 'code'),
    );
}

/** Columns that only serve others: intervals, doubts and counts behind a value. */
export function servingColumns(columns: readonly ViewColumn[]): Set<string> {
    const serving = new Set<string>();
    for (const { name, low, high, doubt, of } of columns) {
        for (const other of [low, high, doubt]) if (other) serving.add(other);
        if (of) serving.add(name);
    }
    return serving;
}

export function range(n: number): Int32Array {
    const all = new Int32Array(n);
    for (let i = 0; i < n; i++) all[i] = i;
    return all;
}

/** Children of each node as one array with offsets. `parent[i]` is a node, or -1 for a root. */
export class Nesting {
    readonly roots: Int32Array;
    private readonly first: Int32Array;
    private readonly list: Int32Array;

    constructor(readonly parent: Int32Array) {
        const n = parent.length;
        this.first = new Int32Array(n + 1);
        let rootCount = 0;
        for (let i = 0; i < n; i++) {
            if (parent[i]! >= 0) this.first[parent[i]! + 1]!++;
            else rootCount++;
        }
        for (let i = 0; i < n; i++) this.first[i + 1]! += this.first[i]!;
        const next = this.first.slice();
        this.list = new Int32Array(n - rootCount);
        this.roots = new Int32Array(rootCount);
        let root = 0;
        for (let i = 0; i < n; i++) {
            if (parent[i]! >= 0) this.list[next[parent[i]!]!++] = i;
            else this.roots[root++] = i;
        }
    }

    children(node: number): Int32Array {
        return this.list.subarray(this.first[node]!, this.first[node + 1]!);
    }

    hasChildren(node: number): boolean {
        return this.first[node + 1]! > this.first[node]!;
    }
}

/** Rows of one view, flat or nested by its `parent` column. */
export class ViewRows implements Rows {
    readonly columns: GridColumn[];
    readonly nested: boolean;
    readonly complete = true;
    readonly treeColumn: number;
    readonly values: Values[];
    private readonly nesting: Nesting | null = null;
    private readonly all: Int32Array;
    private readonly ids: Values;
    private byKey: Map<number, number> | null = null;
    /** By which a row that holds others is ordered, for each column. */
    private readonly wholeOf: number[];

    constructor(
        readonly view: View,
        nest = true,
    ) {
        this.values = view.columns.map(column => new Values(view.data[column.name]));
        const valuesOf = new Map(view.columns.map((column, i) => [column.name, this.values[i]!]));
        this.columns = gridColumns(view.columns, column => valuesOf.get(column.name)!.max());
        this.wholeOf = this.columns.map((_, at) => nestColumn(this.columns, at));
        this.treeColumn = nameColumn(view.columns);
        this.ids = new Values(view.key ? view.data[view.key] : undefined);
        this.all = range(view.row_n);
        const parents = view.parent ? view.data[view.parent] : undefined;
        if (nest && parents) this.nesting = this.nestBy(new Values(parents));
        this.nested = this.nesting !== null;
    }

    private nestBy(parents: Values): Nesting {
        const parent = new Int32Array(this.view.row_n).fill(-1);
        for (let row = 0; row < parent.length; row++) {
            const id = parents.num(row);
            if (Number.isNaN(id)) continue;
            const above = this.rowOf(id);
            if (above !== row) parent[row] = above;
        }
        return new Nesting(parent);
    }

    /** Row of the object with this id, or -1. */
    rowOf(id: number): number {
        if (!this.byKey) {
            this.byKey = new Map();
            for (let row = 0; row < this.view.row_n; row++) {
                const key = this.ids.num(row);
                if (!Number.isNaN(key)) this.byKey.set(key, row);
            }
        }
        return this.byKey.get(id) ?? -1;
    }

    columnAt(name: string): number {
        return this.columns.findIndex(column => column.name === name);
    }

    /** Returns whether any row has a value in this column. */
    hasValues(column: number): boolean {
        const values = this.values[column];
        for (let row = 0; row < this.view.row_n; row++)
            if (!Number.isNaN(values?.num(row) ?? NaN) || values?.text(row)) return true;
        return false;
    }
    count(): number {
        return this.view.row_n;
    }
    roots(): ArrayLike<number> {
        return this.nesting ? this.nesting.roots : this.all;
    }
    children(node: number): ArrayLike<number> {
        return this.nesting ? this.nesting.children(node) : [];
    }
    hasChildren(node: number): boolean {
        return this.nesting ? this.nesting.hasChildren(node) : false;
    }
    parent(node: number): number {
        return this.nesting ? this.nesting.parent[node]! : -1;
    }
    num(node: number, column: number): number {
        return this.values[column]?.num(node) ?? NaN;
    }
    text(node: number, column: number): string | null {
        return this.values[column]?.text(node) ?? null;
    }
    rank(node: number, column: number): number {
        const by = this.hasChildren(node) ? this.wholeOf[column]! : column;
        return this.values[by]?.rank(node) ?? NaN;
    }
    id(node: number): number {
        return this.ids.num(node);
    }
    key(node: number): string {
        const id = this.ids.num(node);
        return Number.isNaN(id) ? `r${node}` : `${(this.view.object ?? 'r').charAt(0)}${id}`;
    }
    find(key: string): number {
        const number = Number(key.slice(1));
        if (!Number.isInteger(number)) return -1;
        if (!this.view.key) return number < this.view.row_n ? number : -1;
        return this.rowOf(number);
    }
    object(node: number): ObjectRef | null {
        const id = this.ids.num(node);
        return this.view.object && !Number.isNaN(id) ? { kind: this.view.object, id } : null;
    }
}
