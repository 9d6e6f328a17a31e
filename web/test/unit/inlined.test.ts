// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folded } from '../../src/calltree/fold';
import { hasInlined, shapeTree, withoutInlined } from '../../src/calltree/shape';
import { lineFrom, link } from '../../src/code/link';
import { binaryView } from '../../src/data/binary';
import type { CallTree, Code, Source, View } from '../../src/data/contract';
import { withNames } from '../../src/data/names';
import { ViewRows } from '../../src/grid/rows';
import { inliningParts } from '../../src/views/Inlining';

// main(1) [step(2) [leaf(4)]]; step calls walk(8) [leaf(16)]; leaf calls walk(32); main [leaf(64)]
const NODES: [number, string, number, number, number][] = [
    [-1, 'main', 1, 0, 1],
    [0, 'step', 7, 1, 2],
    [1, 'leaf', 8, 1, 4],
    [1, 'walk', 2, 0, 8],
    [3, 'leaf', 8, 1, 16],
    [2, 'walk', 2, 0, 32],
    [0, 'leaf', 8, 1, 64],
];
const DICT = ['main', 'step', 'leaf', 'walk'];

function tree(): CallTree {
    const none = { dict: [], i: NODES.map(() => -1) };
    return {
        row_n: NODES.length,
        parent: NODES.map(node => node[0]),
        function: { dict: DICT, i: NODES.map(node => DICT.indexOf(node[1])) },
        function_id: NODES.map(node => node[2]),
        module: none,
        category: none,
        site: none,
        inlined: NODES.map(node => node[3]),
        self_n: NODES.map(node => node[4]),
        self_s: NODES.map(node => node[4]),
        blocked_s: NODES.map(() => 0),
    };
}

test('inlined functions are frames that say so', () => {
    const folded = new Folded(tree());
    assert.deepEqual(folded.names, ['main', 'step (inlined)', 'leaf (inlined)', 'walk']);
    const leaf = folded.flat().find(entry => entry.functionId === 8)!;
    assert.equal(leaf.self, 84);
    assert.equal(leaf.total, 116); // with what it calls
    const { callers } = folded.relatives(folded.nameOf[2]!);
    assert.deepEqual(
        callers.map(one => [folded.names[one.name], one.time]),
        [
            ['main', 64],
            ['step (inlined)', 36],
            ['walk', 16],
        ],
    );
});

test('without inlined functions their time is that of the function of the binary', () => {
    const made = withoutInlined(tree());
    assert.deepEqual(made.parent, [-1, 0, 0]);
    assert.deepEqual(made.self_n, [71, 24, 32]);
    assert.equal(hasInlined(made), false);
    const folded = new Folded(made);
    assert.deepEqual(folded.names, ['main', 'walk']);
    assert.equal(folded.all, 127);
    const { tree: merged } = shapeTree(tree(), { entries: true, sites: false, inlined: false });
    assert.deepEqual(merged.self_n, [71, 56]);
    const { tree: same } = shapeTree(tree(), { entries: true, sites: true });
    assert.equal(same.row_n, NODES.length);
});

test('where a function is inlined, and what is inlined into one', () => {
    assert.deepEqual(inliningParts(tree(), 8, true), [
        { id: 1, seconds: 68 },
        { id: 2, seconds: 16 },
    ]);
    assert.deepEqual(inliningParts(tree(), 1, false), [
        { id: 8, seconds: 68 },
        { id: 7, seconds: 2 },
    ]);
    assert.deepEqual(inliningParts(tree(), 2, true), []);
});

const column = (name: string, kind: View['columns'][0]['kind']) => ({ name, title: name, kind });

function functions(): View {
    return {
        name: 'functions',
        title: 'Functions',
        object: 'function',
        key: 'function_id',
        parent: null,
        sort: 'exclusive_time_s',
        row_n: 3,
        columns: [
            column('name', 'code'),
            column('is_inlined', 'flag'),
            column('exclusive_time_s', 'number'),
            column('exclusive_low_s', 'number'),
            column('exclusive_low_pct', 'number'),
            column('binary_time_s', 'number'),
            column('binary_low_pct', 'number'),
            column('function_id', 'id'),
        ],
        data: {
            name: { dict: ['leaf', 'main'], i: [0, 1, 0] },
            is_inlined: { v: [1, 0, 0] },
            exclusive_time_s: { v: [6, 1, 2] },
            exclusive_low_s: { v: [5, 0.5, 1] },
            exclusive_low_pct: { v: [50, 5, 10] },
            binary_time_s: { v: [null, 7, 2] },
            binary_low_pct: { v: [null, 60, 10] },
            function_id: { v: [8, 1, 3] },
        },
    };
}

test('a function of the binary and one that is inlined may have one name', () => {
    const rows = new ViewRows(withNames(functions()));
    assert.deepEqual(
        [0, 1, 2].map(row => rows.text(row, 0)),
        ['leaf (inlined)', 'main', 'leaf'],
    );
});

test('functions as if nothing was inlined', () => {
    const rows = new ViewRows(withNames(binaryView(functions(), 10)));
    const all = (name: string) => [0, 1].map(row => rows.num(row, rows.columnAt(name)));
    assert.equal(rows.count(), 2);
    assert.deepEqual([rows.text(0, 0), rows.text(1, 0)], ['main', 'leaf']);
    assert.deepEqual(all('exclusive_time_s'), [7, 2]);
    assert.deepEqual(all('exclusive_low_pct'), [60, 10]);
    assert.deepEqual(all('exclusive_low_s'), [6, 1]);
    assert.equal(rows.columnAt('binary_time_s'), -1);
    assert.deepEqual(rows.rowOf(3), 1);
});

test('loops as if nothing was inlined are those of the function of the binary', () => {
    const view: View = {
        ...functions(),
        name: 'loops',
        columns: [column('function', 'code'), column('inlined_into', 'code')],
        row_n: 1,
        data: {
            function: { dict: ['leaf'], i: [0] },
            function_id: { v: [8] },
            binary_function: { dict: ['main'], i: [0] },
            binary_function_id: { v: [1] },
            inlined_into: { dict: ['main;step'], i: [0] },
        },
    };
    const made = binaryView(view, 10);
    assert.deepEqual(made.data['function'], view.data['binary_function']);
    assert.deepEqual(made.data['function_id'], { v: [1] });
    assert.deepEqual(
        made.columns.map(one => one.name),
        ['function'],
    );
});

test('a report that knows of no inlining has nothing to fold', () => {
    const old = { ...tree(), inlined: undefined };
    assert.equal(hasInlined(old), false);
    assert.equal(withoutInlined(old), old);
    const { is_inlined: _, ...data } = functions().data;
    const view = { ...functions(), data };
    assert.equal(binaryView(view, 10), view);
});

test('the code of an inlined function is shown from its first line on', () => {
    const source = (id: number, path: string, first: number, n: number): Source => ({
        id,
        path,
        language: null,
        first,
        lines: Array.from({ length: n }, () => ''),
        time_s: Array.from({ length: n }, () => 0),
        n: Array.from({ length: n }, () => 0),
    });
    const sources = [source(0, 'a.c', 1, 9), source(1, 'b.h', 10, 9), source(2, 'a.c', 30, 5)];
    const code = {
        text: ['', '', '', ''],
        time_s: [1, 2, 3, 4],
        source: [0, 0, 1, 2],
        line: [2, 8, 12, 33],
        loop_id: [null, null, null, null],
    } as unknown as Code;
    const linked = link(code, [0, 1, 2, 3], sources, []);
    assert.equal(lineFrom(linked, sources, 'a.c', 3), '0:8');
    assert.equal(lineFrom(linked, sources, 'a.c', 9), '2:33');
    assert.equal(lineFrom(linked, sources, 'b.h', 11), '1:12');
    assert.equal(lineFrom(linked, sources, 'b.h', 13), null);
    assert.equal(lineFrom(linked, sources, null, NaN), null);
});
