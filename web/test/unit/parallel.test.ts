// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Parallel, counterLines, lineOf, matrixOf, placeOf } from '../../src/data/parallel';
import { shade } from '../../src/views/TraceMatrix';
import { isHatched } from '../../src/views/timeline_states';
import { niceStep, rowHeight } from '../../src/views/timeline_draw';
import { tellBin } from '../../src/views/ThreadTimeline';
import {
    counterRows,
    lateRows,
    offRows,
    sampleRows,
    sizeName,
    threadRows,
    waitRows,
} from '../../src/views/trace_tables';
// @ts-expect-error: fixtures are plain scripts
import { parallel as made } from '../fixture/parallel.mjs';

const parallel = (ranks: number): Parallel => made(ranks) as Parallel;

test('a thread has its states and the critical path apart', () => {
    const { lanes } = lineOf(parallel(4));
    assert.equal(lanes.length, 4);
    assert.deepEqual(
        lanes[0]!.states.map(one => one.name),
        ['computing', 'mpi', 'waiting'],
    );
    assert.equal(lanes[3]!.path[7], 1000);
    assert.equal(lanes[0]!.path[7], 0);
    assert.equal(tellBin(lanes[0]!, 7, 0.05), 'rank 0, 350 ms to 400 ms: waiting 100 %');
    assert.ok(/computing 100 %; on the critical path 100 %$/.test(tellBin(lanes[3]!, 7, 0.05)));
    assert.ok(/not there$/.test(tellBin(lanes[3]!, 4000, 0.05)));
});

test('many ranks stay in one picture', () => {
    assert.equal(rowHeight(4), 24);
    assert.ok(rowHeight(64) * 64 <= 520);
    assert.equal(rowHeight(2000), 5);
    assert.equal(niceStep(6, 8), 1);
    assert.equal(niceStep(0.013, 8), 0.002);
});

test('messages are a matrix of the ranks that are there', () => {
    const { ranks, values, most } = matrixOf(
        [
            { from: 2, to: 5, n: 3, size_b: 100 },
            { from: 5, to: 2, n: 1, size_b: 7 },
        ],
        'size_b',
    );
    assert.deepEqual(ranks, [2, 5]);
    assert.deepEqual([...values], [0, 100, 7, 0]);
    assert.equal(most, 100);
    assert.equal(shade(0, 100), 0);
    assert.equal(shade(100, 100), 1);
    assert.ok(shade(1, 1e9) > 0.1);
});

test('tables have a column for each state there is, whatever it is called', () => {
    const data = parallel(4);
    data.states.push({ number: 1, name: 'gpu', title: 'GPU', time_s: 2.5 });
    const rows = threadRows(data);
    const at = rows.columnAt('gpu_s');
    assert.equal(rows.num(1, at), 2.5);
    assert.equal(rows.num(0, at), 0);
    assert.equal(rows.num(3, rows.columnAt('path_s')), 6);
    assert.equal(rows.count(), 4);
    const waits = waitRows(data);
    assert.equal(waits.num(0, waits.columnAt('time_s')), 20.25);
    const late = lateRows(data);
    assert.equal(late.num(0, late.columnAt('elapsed_s')), 3);
});

test('counters are a line a thread, of many the least, the middle and the most', () => {
    const readings = (ranks: number) =>
        parallel(ranks).counters.filter(one => one.name === 'resident bytes');
    const few = counterLines(readings(4), 120, 6);
    assert.deepEqual(
        few.map(line => line.label),
        ['rank 0', 'rank 1', 'rank 2', 'rank 3'],
    );
    assert.deepEqual(few[1]!.values.slice(0, 3), [null, null, 4096 * 1012]);
    const many = counterLines(readings(9), 120, 6);
    assert.deepEqual(
        many.map(line => [line.label, line.values[1], line.values[2]]),
        [
            ['most of any', null, 4096 * 1082],
            ['middle', null, 4096 * 1042],
            ['least of any', null, 4096 * 1002],
        ],
    );
    const rows = counterRows(readings(4));
    assert.equal(rows.num(3, rows.columnAt('most')), 4096 * 1149);
    assert.equal(rows.num(3, rows.columnAt('n')), 118);
});

test('what was not recorded is a table, and hatched', () => {
    const rows = offRows(parallel(4).offs);
    assert.equal(rows.count(), 1);
    assert.equal(rows.num(0, rows.columnAt('off_s')), 0.4);
    assert.equal(rows.text(0, rows.columnAt('reason')), 'by the program');
    assert.ok(isHatched('off') && !isHatched('idle'));
});

test('samples are told by function, or by file where there is none', () => {
    const rows = sampleRows(parallel(4).samples);
    const text = (row: number, column: string): string | null =>
        rows.text(row, rows.columnAt(column));
    assert.equal(rows.count(), 8);
    assert.deepEqual(
        ['who', 'state', 'function', 'place', 'caller'].map(column => text(1, column)),
        ['rank 1', 'computing', 'relax', 'relax.c:17', 'solve'],
    );
    assert.deepEqual(
        ['who', 'state', 'function', 'routine'].map(column => text(6, column)),
        ['rank 2', 'waiting', 'libmpi.so.12', 'MPI_Recv'],
    );
    assert.equal(rows.num(0, rows.columnAt('time_s')), 0.08);
});

test('places and sizes are told as far as they are known', () => {
    const site = { routine: 'MPI_Recv', function: null, source_file: null, line: null };
    assert.equal(placeOf(site), null);
    assert.equal(placeOf({ ...site, function: 'solve' }), 'solve');
    assert.equal(
        placeOf({ ...site, function: 'solve', source_file: '/a/solve.c', line: 12 }),
        'solve, solve.c:12',
    );
    assert.equal(sizeName({ from_b: 0, below_b: 1, n: 1, size_b: 0, wait_s: 0 }), '0 B');
    const size = { from_b: 64, below_b: 128, n: 1, size_b: 0, wait_s: 0 };
    assert.equal(sizeName(size), '64 B to 127 B');
});
