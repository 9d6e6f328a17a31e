// SPDX-License-Identifier: Apache-2.0
// Functions with their loops nested under them as one tree: nodes below `functionCount` are
// functions, the rest are loops. Columns are matched by name.

import {
    type GridColumn,
    Nesting,
    type ObjectRef,
    type Rows,
    type ViewRows,
    nestColumn,
} from './rows';
import { rankTexts } from './values';

export class NestedLoops implements Rows {
    readonly columns: GridColumn[];
    readonly nested = true;
    readonly complete = true;
    readonly treeColumn: number;
    private readonly wholeOf: number[];
    private readonly loopColumn: Int32Array;
    private readonly functionColumn: Int32Array;
    private readonly nesting: Nesting;
    private readonly functionCount: number;
    private ranks = new Map<number, Int32Array>();

    constructor(
        private readonly functions: ViewRows,
        private readonly loops: ViewRows,
    ) {
        this.functionCount = functions.count();
        this.treeColumn = functions.treeColumn;
        const known = new Set(functions.columns.map(column => column.name));
        const extra = loops.columns.filter(
            column =>
                !known.has(column.name) &&
                column.name !== 'parent_id' &&
                column.name !== 'function',
        );
        const names = [...functions.columns, ...extra].map(column => column.name);
        const place = (name: string | null | undefined): number =>
            name ? names.indexOf(name) : -1;
        this.columns = [
            ...functions.columns,
            ...extra.map(column => ({ ...column, shown: false })),
        ].map((column, i) => ({
            ...column,
            lowAt: place(column.low),
            highAt: place(column.high),
            doubtAt: place(column.doubt),
            countAt:
                i < functions.columns.length
                    ? column.countAt
                    : place(loops.columns[column.countAt]?.name ?? null),
            originAt:
                i < functions.columns.length
                    ? column.originAt
                    : place(loops.columns[column.originAt]?.name ?? null),
        }));
        this.wholeOf = this.columns.map((_, at) => nestColumn(this.columns, at));
        this.functionColumn = Int32Array.from(names, name => functions.columnAt(name));
        this.loopColumn = Int32Array.from(names, name => loops.columnAt(name));
        this.nesting = new Nesting(this.parents());
    }

    private parents(): Int32Array {
        const parent = new Int32Array(this.functionCount + this.loops.count()).fill(-1);
        const functionOf = this.loops.columnAt('function_id');
        for (let row = 0; row < this.loops.count(); row++) {
            const above = this.loops.parent(row);
            parent[this.functionCount + row] =
                above >= 0
                    ? this.functionCount + above
                    : this.functions.rowOf(functionOf >= 0 ? this.loops.num(row, functionOf) : NaN);
        }
        return parent;
    }

    count(): number {
        return this.functionCount + this.loops.count();
    }
    roots(): ArrayLike<number> {
        return this.nesting.roots;
    }
    children(node: number): ArrayLike<number> {
        return this.nesting.children(node);
    }
    hasChildren(node: number): boolean {
        return this.nesting.hasChildren(node);
    }
    parent(node: number): number {
        return this.nesting.parent[node]!;
    }
    num(node: number, column: number): number {
        return node < this.functionCount
            ? this.functions.num(node, this.functionColumn[column]!)
            : this.loops.num(node - this.functionCount, this.loopColumn[column]!);
    }
    text(node: number, column: number): string | null {
        if (node < this.functionCount)
            return this.functions.text(node, this.functionColumn[column]!);
        return this.loops.text(node - this.functionCount, this.loopColumn[column]!);
    }

    /** Texts of both sides are ranked together, once for each column. */
    rank(node: number, column: number): number {
        const kind = this.columns[column]?.kind;
        if (kind === 'number' || kind === 'integer' || kind === 'share')
            return this.num(node, this.isNest(node) ? this.wholeOf[column]! : column);
        if (kind === 'flag' || kind === 'id') return this.num(node, column);
        let ranks = this.ranks.get(column);
        if (!ranks) {
            ranks = rankTexts(
                Array.from({ length: this.count() }, (_, i) => this.text(i, column) ?? '\uffff'),
            );
            this.ranks.set(column, ranks);
        }
        return ranks[node]!;
    }

    /** A loop with loops in it. A function's own time has that of its loops already. */
    private isNest(node: number): boolean {
        return node >= this.functionCount && this.hasChildren(node);
    }

    key(node: number): string {
        return node < this.functionCount
            ? this.functions.key(node)
            : this.loops.key(node - this.functionCount);
    }
    find(key: string): number {
        if (key.startsWith('f')) return this.functions.find(key);
        const row = this.loops.find(key);
        return row < 0 ? -1 : this.functionCount + row;
    }
    object(node: number): ObjectRef | null {
        return node < this.functionCount
            ? this.functions.object(node)
            : this.loops.object(node - this.functionCount);
    }
}
