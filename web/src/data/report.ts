// SPDX-License-Identifier: Apache-2.0
// The document with what is looked up in it again and again, made once and on first use.

import type { Code, Document, Finding, Numbers, Section, Source, View } from './contract';
import { type ObjectRef, ViewRows } from '../grid/rows';
import { NestedLoops } from '../grid/nested_loops';
import { shortName } from '../parts/short_name';
import { withNames } from './names';
import { Folded } from '../calltree/fold';
import { type Shape, hasInlined, shapeTree, withoutInlined } from '../calltree/shape';
import { binaryView } from './binary';
import { lineKey } from '../code/link';
import { type VariedLoop, variedLoops } from './variants';

interface LinePlace {
    functionId: number;
    at: string;
}

/** The document has code of hot functions first, so the first that has a line is the one. */
function lineOwners(doc: Document): Map<string, LinePlace> {
    const owners = new Map<string, LinePlace>();
    for (const code of doc.code)
        code.source.forEach((source, i) => {
            const file = doc.sources[source];
            const line = code.line[i];
            if (!file || typeof line !== 'number') return;
            const key = `${file.path}:${line}`;
            if (!owners.has(key))
                owners.set(key, { functionId: code.function_id, at: lineKey(source, line) });
        });
    return owners;
}

export class Report {
    private readonly rowsOf = new Map<string, ViewRows>();
    private readonly flatOf = new Map<string, ViewRows>();
    private readonly binaryOf = new Map<string, ViewRows>();
    private readonly nestedOf = new Map<boolean, NestedLoops>();
    private inlined: boolean | null = null;
    private variedAll: VariedLoop[] | null = null;
    private lineOwners: Map<string, LinePlace> | null = null;
    private readonly foldedAs = new Map<boolean, Folded>();
    private readonly shapedAs = new Map<string, Folded>();

    constructor(readonly doc: Document) {}

    /** Returns true for a report on code, not on a run: such a report has no times. */
    get isCode(): boolean {
        return this.doc.run['kind'] === 'code';
    }

    view(name: string): View | null {
        return this.doc.views.find(view => view.name === name) ?? null;
    }

    /** Rows of a view, or null where the report does not have it or it is empty. */
    rows(name: string): ViewRows | null {
        const made = this.rowsOf.get(name);
        if (made) return made;
        const view = this.view(name);
        if (!view || view.row_n === 0) return null;
        const rows = new ViewRows(withNames(view));
        this.rowsOf.set(name, rows);
        return rows;
    }

    /** The same rows without their nesting. */
    flatRows(name: string): ViewRows | null {
        const rows = this.rows(name);
        if (!rows?.nested) return rows;
        const made = this.flatOf.get(name) ?? new ViewRows(rows.view, false);
        this.flatOf.set(name, made);
        return made;
    }

    /** Returns whether the report has inlined functions; without them the choice is hidden. */
    hasInlined(): boolean {
        this.inlined ??=
            hasInlined(this.doc.calltree) ||
            (this.view('functions')?.data['is_inlined'] !== undefined &&
                (this.view('functions')!.data['is_inlined'] as Numbers).v.some(is => is === 1));
        return this.inlined;
    }

    /** Rows of functions or loops as if nothing was inlined. */
    binaryRows(name: 'functions' | 'loops', flat = false): ViewRows | null {
        const key = `${name} ${flat}`;
        let made = this.binaryOf.get(key);
        const view = this.view(name);
        if (!made && view && view.row_n) {
            const seconds = Number(this.doc.run['sampled_time_s']);
            made = new ViewRows(withNames(binaryView(view, seconds)), !flat);
            this.binaryOf.set(key, made);
        }
        return made ?? null;
    }

    nestedLoops(inlined = true): NestedLoops | null {
        const made = this.nestedOf.get(inlined);
        if (made) return made;
        const functions = inlined ? this.rows('functions') : this.binaryRows('functions');
        const loops = inlined ? this.rows('loops') : this.binaryRows('loops');
        if (!functions || !loops) return null;
        const rows = new NestedLoops(functions, loops);
        this.nestedOf.set(inlined, rows);
        return rows;
    }

    callTree(inlined = true): Folded | null {
        const tree = this.doc.calltree;
        if (!tree || !tree.row_n) return null;
        let made = this.foldedAs.get(inlined);
        if (!made) {
            made = new Folded(inlined ? tree : withoutInlined(tree));
            this.foldedAs.set(inlined, made);
        }
        return made;
    }

    /** The call tree as it is read: what interrupted folded, calls from several places merged. */
    shapedTree(shape: Shape): Folded | null {
        const tree = this.doc.calltree;
        if (!tree || !tree.row_n) return null;
        const key = `${shape.entries} ${shape.sites} ${shape.inlined}`;
        let made = this.shapedAs.get(key);
        if (!made) {
            const { tree: shaped, folded, interrupted } = shapeTree(tree, shape);
            made = new Folded(shaped, folded, interrupted);
            this.shapedAs.set(key, made);
        }
        return made;
    }

    /** Returns the place that shows the code of a source line: the hottest function with that
     * line. */
    linePlace(path: string, line: number): LinePlace | null {
        this.lineOwners ??= lineOwners(this.doc);
        return this.lineOwners.get(`${path}:${line}`) ?? null;
    }

    code(functionId: number): Code | null {
        return this.doc.code.find(code => code.function_id === functionId) ?? null;
    }

    sources(path: string): Source[] {
        return this.doc.sources.filter(source => source.path === path);
    }

    findings(object: ObjectRef): Finding[] {
        return this.doc.findings.filter(one => one.object === object.kind && one.id === object.id);
    }

    sections(object: ObjectRef): Section[] {
        return this.doc.sections
            .filter(one => one.object === object.kind && (one.id === object.id || one.id === null))
            .sort((a, b) => a.order - b.order);
    }

    /** Loops of which variants were measured. */
    varied(): VariedLoop[] {
        this.variedAll ??= variedLoops(this.doc);
        return this.variedAll;
    }

    private ofLoop(loopId: number, column: string): number | null {
        const loops = this.rows('loops');
        if (!loops) return null;
        const id = loops.num(loops.rowOf(loopId), loops.columnAt(column));
        return Number.isNaN(id) ? null : id;
    }

    /** The function that a loop belongs to, or null. */
    functionOfLoop(loopId: number): number | null {
        return this.ofLoop(loopId, 'function_id');
    }

    /** Returns the function of the binary that contains the code of a loop, or null. */
    codeOfLoop(loopId: number): number | null {
        return this.ofLoop(loopId, 'binary_function_id') ?? this.functionOfLoop(loopId);
    }

    /** Returns the name of an object for a sentence or a link; a function has at most `most`
     * characters. */
    label(object: ObjectRef, most = Infinity): string {
        const rows = this.rows(viewOf(object.kind));
        const row = rows ? rows.rowOf(object.id) : -1;
        if (!rows || row < 0) return `${object.kind} ${object.id}`;
        const label = rows.text(row, rows.treeColumn) ?? `${object.kind} ${object.id}`;
        if (object.kind === 'function') return shortName(label, most);
        if (object.kind !== 'loop') return label;
        const owner = rows.text(row, rows.columnAt('function'));
        return owner && !label.includes(owner) ? `${label} in ${shortName(owner, most)}` : label;
    }
}

const VIEWS: Record<string, string> = { category: 'categories', process: 'processes' };

export function viewOf(kind: string): string {
    return VIEWS[kind] ?? `${kind}s`;
}

/** Page of an object: loops and functions have one of their own, others are rows of a table. */
export function pageOf(object: ObjectRef): string | null {
    switch (object.kind) {
        case 'loop':
        case 'function':
            return `${object.kind}/${object.id}`;
        case 'line':
            return 'lines';
        case 'category':
        case 'module':
        case 'process':
        case 'thread':
            return 'application';
        case 'run':
        case 'host':
            return 'experiment';
        default:
            return null;
    }
}
