// SPDX-License-Identifier: Apache-2.0
// Which source lines and which instructions belong together on the page of a function or loop.

import type { Code, Source } from '../data/contract';

export interface SourceRow {
    kind: 'file' | 'line';
    source: number; // index into the sources of the document
    line: number; // number in the file; 0 of a heading
}

export interface Linked {
    instructions: number[]; // indices into the code
    sourceRows: SourceRow[];
    /** Instructions of a line, by `lineKey`. */
    byLine: Map<string, number[]>;
    lineMax: number; // largest time of a line shown
    instructionMax: number;
    total: number; // seconds of the instructions shown
}

export function lineKey(source: number, line: number): string {
    return `${source}:${line}`;
}

/** Loops inside a loop, with itself: their instructions are its code. */
export function loopFamily(loopId: number, parents: Map<number, number | null>): Set<number> {
    const family = new Set([loopId]);
    for (let grown = true; grown;) {
        grown = false;
        for (const [id, parent] of parents)
            if (parent !== null && family.has(parent) && !family.has(id)) {
                family.add(id);
                grown = true;
            }
    }
    return family;
}

export function instructionsOf(code: Code, family: Set<number> | null): number[] {
    const all = code.text.map((_, i) => i);
    return family ? all.filter(i => family.has(code.loop_id[i] ?? -1)) : all;
}

export function link(
    code: Code | null,
    instructions: number[],
    sources: readonly Source[],
    own: readonly number[], // sources to show even if no instruction names them
): Linked {
    const byLine = new Map<string, number[]>();
    const timeOf = new Map<number, number>();
    let instructionMax = 0;
    let total = 0;
    for (const i of instructions) {
        const time = code?.time_s[i] ?? 0;
        instructionMax = Math.max(instructionMax, time);
        total += time;
        const source = code?.source[i] ?? -1;
        const line = code?.line[i] ?? null;
        if (source < 0 || line === null || !sources[source]) continue;
        timeOf.set(source, (timeOf.get(source) ?? 0) + time);
        const key = lineKey(source, line);
        const list = byLine.get(key);
        if (list) list.push(i);
        else byLine.set(key, [i]);
    }
    for (const source of own) if (!timeOf.has(source)) timeOf.set(source, 0);
    const order = [...timeOf.keys()].sort(
        (a, b) => timeOf.get(b)! - timeOf.get(a)! || sources[a]!.first - sources[b]!.first,
    );
    const sourceRows: SourceRow[] = [];
    let lineMax = 0;
    for (const at of order) {
        const source = sources[at]!;
        sourceRows.push({ kind: 'file', source: at, line: 0 });
        source.lines.forEach((_, i) => {
            sourceRows.push({ kind: 'line', source: at, line: source.first + i });
            lineMax = Math.max(lineMax, source.time_s[i] ?? 0);
        });
    }
    return { instructions, sourceRows, byLine, lineMax, instructionMax, total };
}

/** The first line with code from `line` of a file on, as a key; null if there is none. */
export function lineFrom(
    linked: Linked,
    sources: readonly Source[],
    path: string | null,
    line: number,
): string | null {
    const found = linked.sourceRows.filter(
        row =>
            row.kind === 'line' &&
            row.line >= line &&
            sources[row.source]?.path === path &&
            linked.byLine.has(lineKey(row.source, row.line)),
    );
    const first = found.reduce<SourceRow | null>(
        (best, row) => (best && best.line <= row.line ? best : row),
        null,
    );
    return first && lineKey(first.source, first.line);
}

/** The line with most time among those shown, as a key; null if none has any. */
export function hottestLine(linked: Linked, code: Code | null): string | null {
    let best: string | null = null;
    let most = 0;
    for (const [key, list] of linked.byLine) {
        const time = list.reduce((sum, i) => sum + (code?.time_s[i] ?? 0), 0);
        if (time > most) {
            most = time;
            best = key;
        }
    }
    return best;
}
