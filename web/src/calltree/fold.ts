// SPDX-License-Identifier: Apache-2.0
// Sums over the prefix tree of call paths: inclusive times, the flat profile, callers and callees.
// Recursion counts a sample once: an inner occurrence of a function adds nothing to its inclusive
// time.

import type { CallTree } from '../data/contract';
import { Nesting } from '../grid/rows';
import { INLINED } from '../parts/short_name';
import type { Interrupted } from './shape';

export interface FlatEntry {
    name: number; // index into the names of functions
    functionId: number | null;
    module: string | null;
    category: string | null;
    self: number;
    total: number;
    selfN: number;
    totalN: number;
}

export interface Relative {
    name: number;
    functionId: number | null;
    time: number;
    n: number;
}

export class Folded {
    readonly n: number;
    readonly total: Float64Array;
    readonly totalN: Float64Array;
    readonly totalBlocked: Float64Array;
    readonly totalFolded: Float64Array;
    readonly parent: Int32Array;
    readonly nesting: Nesting;
    readonly all: number; // seconds of the whole tree
    /** The id of a function, if it has one, is its identity: two functions may have one name. */
    readonly names: string[] = [];
    readonly nameOf: Int32Array;
    private entries: FlatEntry[] | null = null;

    constructor(
        readonly tree: CallTree,
        /** Seconds of each row's own time that interrupts and page faults took from it. */
        readonly foldedInto: Float64Array | null = null,
        readonly interrupted: Interrupted = { seconds: 0, n: 0 },
    ) {
        const n = tree.row_n;
        this.n = n;
        this.nameOf = this.identify();
        this.parent = Int32Array.from({ length: n }, (_, i) => {
            const above = tree.parent[i] ?? -1;
            return above >= 0 && above < i ? above : -1; // parents stand before children
        });
        this.total = this.upward(tree.self_s);
        this.totalN = this.upward(tree.self_n);
        this.totalBlocked = this.upward(tree.blocked_s);
        this.totalFolded = foldedInto ? this.upward(foldedInto) : new Float64Array(n);
        this.nesting = new Nesting(this.parent);
        let all = 0;
        for (const root of this.nesting.roots) all += this.total[root]!;
        this.all = all;
    }

    private identify(): Int32Array {
        const places = new Map<string, number>();
        return Int32Array.from({ length: this.n }, (_, node) => {
            const text = this.tree.function.i[node] ?? -1;
            const id = this.tree.function_id[node] ?? null;
            const key = id === null ? `n${text}` : `f${id}`;
            let place = places.get(key);
            if (place === undefined) {
                place = this.names.length;
                places.set(key, place);
                const mark = this.tree.inlined?.[node] === 1 ? INLINED : '';
                this.names.push((this.tree.function.dict[text] ?? '(unknown)') + mark);
            }
            return place;
        });
    }

    private upward(own: ArrayLike<number>): Float64Array {
        const sum = Float64Array.from({ length: this.n }, (_, i) => own[i] ?? 0);
        for (let i = this.n - 1; i >= 0; i--)
            if (this.parent[i]! >= 0) sum[this.parent[i]!]! += sum[i]!;
        return sum;
    }

    name(node: number): string {
        return this.names[this.nameOf[node] ?? -1] ?? '(unknown)';
    }
    module(node: number): string | null {
        return this.tree.module.dict[this.tree.module.i[node] ?? -1] ?? null;
    }
    category(node: number): string | null {
        return this.tree.category.dict[this.tree.category.i[node] ?? -1] ?? null;
    }
    site(node: number): string | null {
        return this.tree.site.dict[this.tree.site.i[node] ?? -1] ?? null;
    }
    functionId(node: number): number | null {
        return this.tree.function_id[node] ?? null;
    }

    /** Marks nodes without their own function above them. The totals of marked nodes may be
     * added. */
    outermost(): Uint8Array {
        const outermost = new Uint8Array(this.n);
        for (let node = 0; node < this.n; node++) {
            const name = this.nameOf[node];
            let at = this.parent[node]!;
            while (at >= 0 && this.nameOf[at] !== name) at = this.parent[at]!;
            outermost[node] = at < 0 ? 1 : 0;
        }
        return outermost;
    }

    /** One entry a function. */
    flat(): FlatEntry[] {
        if (this.entries) return this.entries;
        const byName = new Map<number, FlatEntry>();
        const outermost = this.outermost();
        for (let node = 0; node < this.n; node++) {
            const name = this.nameOf[node] ?? -1;
            let entry = byName.get(name);
            if (!entry) {
                entry = {
                    name,
                    functionId: this.functionId(node),
                    module: this.module(node),
                    category: this.category(node),
                    self: 0,
                    total: 0,
                    selfN: 0,
                    totalN: 0,
                };
                byName.set(name, entry);
            }
            entry.self += this.tree.self_s[node] ?? 0;
            entry.selfN += this.tree.self_n[node] ?? 0;
            if (outermost[node]) {
                entry.total += this.total[node]!;
                entry.totalN += this.totalN[node]!;
            }
        }
        this.entries = [...byName.values()].sort((a, b) => b.total - a.total);
        return this.entries;
    }

    /** Returns callers and callees of the function, most time first. */
    relatives(name: number): {
        callers: Relative[];
        callees: Relative[];
        self: number;
        total: number;
    } {
        const callers = new Map<number, Relative>();
        const callees = new Map<number, Relative>();
        const outermost = this.outermost();
        let self = 0;
        let total = 0;
        const add = (to: Map<number, Relative>, node: number, time: number, n: number): void => {
            const key = node < 0 ? -1 : (this.nameOf[node] ?? -1);
            const entry = to.get(key) ?? {
                name: key,
                functionId: node < 0 ? null : this.functionId(node),
                time: 0,
                n: 0,
            };
            entry.time += time;
            entry.n += n;
            to.set(key, entry);
        };
        for (let node = 0; node < this.n; node++) {
            if (this.nameOf[node] === name) {
                self += this.tree.self_s[node] ?? 0;
                if (outermost[node]) {
                    total += this.total[node]!;
                    add(callers, this.parent[node]!, this.total[node]!, this.totalN[node]!);
                }
            }
            const above = this.parent[node]!;
            // Below an inner occurrence the time was counted at the outer one already, unless the
            // callee is another function.
            if (above >= 0 && this.nameOf[above] === name && this.nameOf[node] !== name)
                add(callees, node, this.total[node]!, this.totalN[node]!);
        }
        const sorted = (from: Map<number, Relative>): Relative[] =>
            [...from.values()].sort((a, b) => b.time - a.time);
        return { callers: sorted(callers), callees: sorted(callees), self, total };
    }
}
