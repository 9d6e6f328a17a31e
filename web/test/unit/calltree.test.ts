// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folded } from '../../src/calltree/fold';
import { BottomUpRows, FlatRows, TopDownRows, hotKeys } from '../../src/calltree/rows';
import { foldEntries, mergeSites, shapeTree } from '../../src/calltree/shape';
import type { CallTree, Texts } from '../../src/data/contract';
import { frameAt, layout, matchedTime } from '../../src/flame/layout';

// main(1) -> a(2) -> b(3) -> a(4, recursion) -> b(0.5); main -> b(5); another function named b
const NODES: [number, string, number | null, number][] = [
    [-1, 'main', 1, 1],
    [0, 'a', 2, 2],
    [1, 'b', 3, 3],
    [2, 'a', 2, 4],
    [3, 'b', 3, 0.5],
    [0, 'b', 3, 5],
    [0, 'b', 9, 0.25],
];
const DICT = ['main', 'a', 'b'];

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
        self_n: NODES.map(node => node[3] * 4),
        self_s: NODES.map(node => node[3]),
        blocked_s: NODES.map(() => 0),
    };
}

test('call tree: totals are sums of the subtree', () => {
    const folded = new Folded(tree());
    assert.equal(folded.all, 15.75);
    assert.deepEqual(Array.from(folded.total), [15.75, 9.5, 7.5, 4.5, 0.5, 5, 0.25]);
});

test('call tree: recursion counts once in the flat profile', () => {
    const folded = new Folded(tree());
    const of = (id: number) => folded.flat().find(entry => entry.functionId === id)!;
    assert.equal(of(2).total, 9.5);
    assert.equal(of(2).self, 6);
    assert.equal(of(3).total, 12.5); // 7.5 below the outer a, 5 below main
    assert.equal(of(3).self, 8.5);
});

test('call tree: functions of one name are told apart by their id', () => {
    const folded = new Folded(tree());
    assert.equal(folded.flat().length, 4);
    assert.equal(new FlatRows(folded).count(), 4);
});

test('call tree: callers and callees of a function', () => {
    const folded = new Folded(tree());
    const b = folded.nameOf[2]!;
    const { callers, callees, self, total } = folded.relatives(b);
    assert.equal(self, 8.5);
    assert.equal(total, 12.5);
    assert.deepEqual(
        callers.map(one => [folded.names[one.name], one.time]),
        [
            ['a', 7.5],
            ['main', 5],
        ],
    );
    assert.deepEqual(
        callees.map(one => [folded.names[one.name], one.time]),
        [['a', 4.5]],
    );
});

test('call tree: bottom-up goes from own time to callers', () => {
    const folded = new Folded(tree());
    const rows = new BottomUpRows(folded);
    const b = Array.from(rows.roots()).find(
        node => rows.text(node, 0) === 'b' && rows.num(node, 2) > 1,
    )!;
    assert.equal(rows.num(b, 2), 8.5);
    const callers = Array.from(rows.children(b)).map(node => [
        rows.text(node, 0),
        rows.num(node, 2),
    ]);
    assert.deepEqual(callers, [
        ['a', 3.5],
        ['main', 5],
    ]);
    const key = rows.key(rows.children(b)[0]!);
    assert.equal(new BottomUpRows(folded).find(key) >= 0, true);
    assert.equal(rows.find('b99'), -1);
});

test('call tree: top-down shares', () => {
    const rows = new TopDownRows(new Folded(tree()));
    assert.equal(rows.num(0, 1), 100);
    assert.equal(rows.find('p3'), 3);
    assert.equal(rows.find('p7'), -1);
});

test('call tree: a parent that stands after its child is not believed', () => {
    const wrong = tree();
    wrong.parent[1] = 5;
    const folded = new Folded(wrong);
    assert.equal(folded.parent[1], -1);
    assert.equal(folded.all, 15.75);
});

test('flame graph: frames are as wide as their time', () => {
    const folded = new Folded(tree());
    const frames = layout(folded, -1, 1575);
    const of = (node: number) => frames.find(frame => frame.node === node)!;
    assert.equal(of(1).width, 950);
    assert.equal(of(1).x, 0);
    assert.equal(of(5).x, 950);
    assert.equal(frameAt(frames, 960, 2)!.node, 5);
    assert.equal(frameAt(frames, 1574, 3), null);
    const zoomed = layout(folded, 2, 1000);
    assert.deepEqual(
        zoomed.slice(0, 4).map(frame => [frame.node, frame.depth, Math.round(frame.width)]),
        [
            [-1, 0, 1000],
            [0, 1, 1000],
            [1, 2, 1000],
            [2, 3, 1000],
        ],
    );
    assert.equal(zoomed.find(frame => frame.node === 3)!.width, 600);
});

test('flame graph: matches inside matches add nothing', () => {
    const folded = new Folded(tree());
    assert.equal(
        matchedTime(folded, node => folded.name(node) === 'b'),
        12.75,
    );
    assert.equal(
        matchedTime(folded, () => false),
        0,
    );
});

// main(1) calls work at :7 (4) and at :9 (2). The first is interrupted twice: 0.5 each, one with a
// function below. Page faults interrupt both :7 and :9 (1 and 3). One more has no known place
// (0.25).
const SHAPED: [number, string, string | null, string | null, number][] = [
    [-1, 'main', null, null, 1],
    [0, 'work', 'a.c:7', null, 4],
    [0, 'work', 'a.c:9', null, 2],
    [1, 'asm_sysvec_apic_timer_interrupt', 'a.c:21', 'interrupt', 0.5],
    [1, 'asm_sysvec_apic_timer_interrupt', 'a.c:22', 'interrupt', 0],
    [4, 'schedule', null, null, 0.5],
    [1, 'asm_exc_page_fault', 'a.c:21', 'page_fault', 1],
    [2, 'asm_exc_page_fault', 'a.c:21', 'page_fault', 3],
    [-1, 'asm_exc_page_fault', null, 'page_fault', 0.25],
];

function texts(values: (string | null)[]): Texts {
    const dict = [...new Set(values.filter(value => value !== null))];
    return { dict, i: values.map(value => (value === null ? -1 : dict.indexOf(value))) };
}

function interruptedTree(): CallTree {
    const none = { dict: [], i: SHAPED.map(() => -1) };
    return {
        row_n: SHAPED.length,
        parent: SHAPED.map(row => row[0]),
        function: texts(SHAPED.map(row => row[1])),
        function_id: SHAPED.map(() => null),
        module: none,
        category: none,
        site: texts(SHAPED.map(row => row[2])),
        entry: texts(SHAPED.map(row => row[3])),
        self_n: SHAPED.map(row => row[4] * 4),
        self_s: SHAPED.map(row => row[4]),
        blocked_s: SHAPED.map(() => 0),
    };
}

const told = (tree: CallTree) =>
    Array.from({ length: tree.row_n }, (_, row) => [
        tree.parent[row],
        tree.function.dict[tree.function.i[row]!],
        tree.site.dict[tree.site.i[row]!] ?? null,
        tree.self_s[row],
    ]);

test('call tree: interrupts and page faults fold into what they interrupted', () => {
    const { tree, folded, interrupted } = foldEntries(interruptedTree());
    assert.deepEqual(told(tree), [
        [-1, 'main', null, 1],
        [0, 'work', 'a.c:7', 6],
        [0, 'work', 'a.c:9', 5],
        [-1, 'asm_exc_page_fault', null, 0.25], // the interrupted function is unknown
    ]);
    assert.deepEqual(Array.from(folded), [0, 2, 3, 0]);
    assert.deepEqual(interrupted, { seconds: 5, n: 20 });
});

test('call tree: calls of one function from several places are one', () => {
    const { tree } = shapeTree(interruptedTree(), { entries: true, sites: false });
    assert.deepEqual(told(tree), [
        [-1, 'main', null, 1],
        [0, 'work', 'a.c:7, a.c:9', 6],
        [1, 'asm_sysvec_apic_timer_interrupt', 'a.c:21, a.c:22', 0.5],
        [2, 'schedule', null, 0.5],
        [1, 'asm_exc_page_fault', 'a.c:21', 4],
        [-1, 'asm_exc_page_fault', null, 0.25],
    ]);
});

test('call tree: a shape loses no time and no sample', () => {
    const whole = new Folded(interruptedTree());
    for (const entries of [false, true])
        for (const sites of [false, true]) {
            const { tree, folded, interrupted } = shapeTree(interruptedTree(), { entries, sites });
            const made = new Folded(tree, folded, interrupted);
            assert.equal(made.all, whole.all);
            assert.equal(
                tree.self_n.reduce((sum, n) => sum + n, 0),
                interruptedTree().self_n.reduce((sum, n) => sum + n, 0),
            );
            assert.equal(made.totalFolded[0], entries ? 0 : 5);
        }
    const same = shapeTree(interruptedTree(), { entries: true, sites: true });
    assert.deepEqual(told(same.tree), told(interruptedTree()));
});

test('call tree: many call sites are counted, and recursion stays below itself', () => {
    const many = interruptedTree();
    many.site = texts(SHAPED.map((_, row) => `a.c:${row}`));
    many.function = texts(SHAPED.map(() => 'f'));
    many.parent = SHAPED.map((_, row) => (row ? 0 : -1));
    const { tree } = mergeSites({
        tree: many,
        folded: new Float64Array(9),
        interrupted: { seconds: 0, n: 0 },
    });
    assert.deepEqual(told(tree), [
        [-1, 'f', 'a.c:0', 1],
        [0, 'f', 'a.c:1 and 7 more', 11.25],
    ]);
});

test('call tree: opens along the hot path, with what it parts into', () => {
    const { tree, folded, interrupted } = shapeTree(interruptedTree(), {
        entries: false,
        sites: false,
    });
    const rows = new TopDownRows(new Folded(tree, folded, interrupted));
    assert.deepEqual(hotKeys(rows), ['p0']); // work has no children left
    const apart = new TopDownRows(new Folded(interruptedTree()));
    assert.deepEqual(hotKeys(apart), ['p0', 'p1']); // below work nothing has half of it
    assert.equal(rows.num(0, 10), 5);
});
