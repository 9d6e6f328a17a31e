// SPDX-License-Identifier: Apache-2.0
// Rows gathered under the values of one column. A group shows the sums of what may be added, and
// how many rows it has; all else of a group is empty.

import { type GridColumn, type ObjectRef, type Rows, isNumeric } from './rows';
import { rankTexts } from './values';

export class GroupedRows implements Rows {
    readonly columns: GridColumn[];
    readonly nested = true;
    readonly complete: boolean;
    readonly treeColumn: number;
    private readonly base: number; // nodes from here on are groups
    private readonly names: string[] = [];
    private readonly members: number[][] = [];
    private readonly groupOf = new Map<number, number>();
    private readonly sums: (Float64Array | null)[];
    private readonly nameRank: Int32Array;

    constructor(
        private readonly rows: Rows,
        by: number,
    ) {
        this.treeColumn = rows.treeColumn;
        this.complete = rows.complete;
        this.base = rows.count();
        const places = new Map<string, number>();
        const roots = rows.roots();
        for (let i = 0; i < roots.length; i++) {
            const node = roots[i]!;
            const name = rows.text(node, by) ?? '(unknown)';
            let group = places.get(name);
            if (group === undefined) {
                group = this.names.length;
                places.set(name, group);
                this.names.push(name);
                this.members.push([]);
            }
            this.members[group]!.push(node);
            this.groupOf.set(node, group);
        }
        this.sums = rows.columns.map((column, c) => (column.additive ? this.sum(c) : null));
        this.columns = rows.columns.map((column, c) => ({
            ...column,
            max: Math.max(column.max, ...(this.sums[c] ?? [0])),
        }));
        this.nameRank = rankTexts(this.names);
    }

    private sum(column: number): Float64Array {
        return Float64Array.from(this.members, members => {
            let sum = 0;
            for (const node of members) {
                const value = this.rows.num(node, column);
                if (!Number.isNaN(value)) sum += value;
            }
            return sum;
        });
    }

    count(): number {
        return this.base + this.names.length;
    }
    roots(): ArrayLike<number> {
        return this.names.map((_, group) => this.base + group);
    }
    children(node: number): ArrayLike<number> {
        return node >= this.base ? this.members[node - this.base]! : this.rows.children(node);
    }
    hasChildren(node: number): boolean {
        return node >= this.base || this.rows.hasChildren(node);
    }
    parent(node: number): number {
        if (node >= this.base) return -1;
        const group = this.groupOf.get(node);
        return group === undefined ? this.rows.parent(node) : this.base + group;
    }
    num(node: number, column: number): number {
        return node >= this.base
            ? (this.sums[column]?.[node - this.base] ?? NaN)
            : this.rows.num(node, column);
    }
    text(node: number, column: number): string | null {
        if (node < this.base) return this.rows.text(node, column);
        if (column !== this.treeColumn) return null;
        const group = node - this.base;
        return `${this.names[group]} (${this.members[group]!.length})`;
    }
    rank(node: number, column: number): number {
        if (node < this.base) return this.rows.rank(node, column);
        return isNumeric(this.columns[column]!)
            ? this.num(node, column)
            : column === this.treeColumn
              ? this.nameRank[node - this.base]!
              : NaN;
    }
    key(node: number): string {
        return node >= this.base ? `g${this.names[node - this.base]}` : this.rows.key(node);
    }
    find(key: string): number {
        if (!key.startsWith('g')) return this.rows.find(key);
        const group = this.names.indexOf(key.slice(1));
        return group < 0 ? -1 : this.base + group;
    }
    object(node: number): ObjectRef | null {
        return node >= this.base ? null : this.rows.object(node);
    }
}
