// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folded } from '../../src/calltree/fold';
import { BottomUpRows, FlatRows, TopDownRows } from '../../src/calltree/rows';
import type { CallTree } from '../../src/data/contract';
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
