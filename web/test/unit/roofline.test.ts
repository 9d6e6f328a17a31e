// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tellPoint } from '../../src/chart/RooflineChart';
import {
    type Roofline,
    decades,
    frameOf,
    isDrawn,
    linesOf,
    pointsOf,
    roofsOf,
} from '../../src/data/roofline';
import { pointRows } from '../../src/views/Roofline';
// @ts-expect-error: fixtures are plain scripts
import { roofline as made } from '../fixture/roofline.mjs';

const data = (): Roofline => made() as Roofline;
const names = (points: { name: string }[]): string[] => points.map(point => point.name);

test('loops stand for their functions, and functions for themselves', () => {
    assert.deepEqual(names(pointsOf(data(), 'loops')), [
        'whole program',
        'relax solver.c:40',
        'pack',
        'norm solver.c:71',
    ]);
    assert.deepEqual(names(pointsOf(data(), 'functions')), ['whole program', 'relax', 'pack']);
    assert.deepEqual(names(pointsOf(data(), 'loops').filter(point => !isDrawn(point))), ['pack']);
});

test('a loop that is all of the loop around it stands for both', () => {
    const given = data();
    given.points.push({ ...given.points[2]!, id: 13, name: 'inner', parent_id: 12, time_s: 5.5 });
    assert.ok(!names(pointsOf(given, 'loops')).includes('relax solver.c:40'));
    given.points.at(-1)!.time_s = 5;
    assert.ok(names(pointsOf(given, 'loops')).includes('relax solver.c:40'));
});

test('roofs are those of the cores and of the type of most time', () => {
    const given = data();
    const points = pointsOf(given, 'loops');
    assert.deepEqual(names(roofsOf(given, 8, points)), [
        'L1',
        'L2',
        'L3',
        'memory',
        'memory on huge pages',
        'add f64 scalar',
        'FMA f64 avx2',
    ]);
    assert.equal(roofsOf(given, 8, points)[3]!.value, 90e9);
    for (const point of points) point.single_share = 1;
    assert.deepEqual(names(roofsOf(given, 1, points).slice(5)), ['FMA f32 avx2']);
    assert.deepEqual(roofsOf(given, 3, points), []);
});

test('slopes end at the highest level, and levels begin at the steepest slope', () => {
    const given = data();
    const points = pointsOf(given, 'loops');
    const roofs = roofsOf(given, 1, points);
    const lines = linesOf(roofs, { x: [-2, 2], y: [8, 11] });
    const of = (name: string) => lines.find(line => line.roof.name === name)!;
    assert.deepEqual(of('memory').to, [56 / 20, 56e9]);
    assert.deepEqual(of('memory').from, [0.01, 20e7]);
    assert.deepEqual(of('FMA f64 avx2').from, [56 / 300, 56e9]);
    assert.deepEqual(of('FMA f64 avx2').to, [100, 56e9]);
    assert.deepEqual(linesOf([], { x: [-2, 2], y: [8, 11] }), []);
});

test('all points, their levels and peaks are in the frame', () => {
    const points = pointsOf(data(), 'loops');
    const frame = frameOf(points, roofsOf(data(), 8, points));
    for (const point of points.filter(isDrawn)) {
        assert.ok(Math.log10(point.intensity!) > frame.x[0]);
        assert.ok(Math.log10(point.flop_s!) > frame.y[0]);
    }
    assert.ok(Math.log10(8 * 56e9) < frame.y[1]);
    assert.deepEqual(frameOf([], []), { x: [-1, 1], y: [8, 11] });
    assert.deepEqual(decades([-1, 1]), [0.1, 1, 10]);
});

test('a point is told with its interval, roof and marks', () => {
    const norm = data().points[3]!;
    assert.equal(
        tellPoint(norm),
        'norm solver.c:71: 5.0 % of the time, 9.00 [8.10, ∞] GFLOP/s at 0.125 flop/B, 90.0 % of ' +
            'memory, headroom at most 15.0×, scalar; fewer than 30 samples; above a measured ' +
            'ceiling: measure the machine again',
    );
    const rows = pointRows(data().points);
    assert.equal(rows.num(2, rows.columnAt('gflop_s')), 7.2);
    assert.ok(Number.isNaN(rows.num(4, rows.columnAt('gflop_s'))));
});
