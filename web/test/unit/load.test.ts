// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ViewRows } from '../../src/grid/rows';
import type { View } from '../../src/data/contract';
import { loadOf } from '../../src/views/load';

// Two ranks of two threads; one thread idles. mpirun has no rank.
const ROWS: [number | null, number, number, number, string][] = [
    [1, 20, 3, 5, 'worker'],
    [null, 1, 0.1, 9, 'launcher'],
    [0, 10, 2, 5, 'worker'],
    [0, 11, 1, 5, 'worker'],
    [1, 21, 0, 0.01, 'idle'],
];

function view(withRoles: boolean): View {
    const column = (name: string, kind: 'id' | 'number' | 'text') => ({
        name,
        title: name,
        kind,
    });
    const data: View['data'] = {
        rank: { v: ROWS.map(row => row[0]) },
        tid: { v: ROWS.map(row => row[1]) },
        time_s: { v: ROWS.map(row => row[3]) },
    };
    const columns: View['columns'] = [
        column('rank', 'id'),
        column('tid', 'id'),
        column('time_s', 'number'),
    ];
    if (withRoles) {
        const dict = ['worker', 'launcher', 'idle'];
        data.computing_time_s = { v: ROWS.map(row => row[2]) };
        data.role = { dict, i: ROWS.map(row => dict.indexOf(row[4])) };
        columns.push(column('computing_time_s', 'number'), column('role', 'text'));
    }
    return {
        name: 'threads',
        title: 'Threads',
        object: 'thread',
        key: null,
        parent: null,
        sort: null,
        row_n: ROWS.length,
        columns,
        data,
    };
}

test('load: ranks share it, idle threads and launchers do not', () => {
    assert.deepEqual(loadOf(new ViewRows(view(true)), true), {
        labels: ['rank 0', 'rank 1'],
        computing: [3, 3],
        idle: 2,
    });
});

test('load: each thread that works', () => {
    const load = loadOf(new ViewRows(view(true)), false);
    assert.deepEqual(load.computing, [2, 1, 3]);
    assert.deepEqual(load.labels, ['rank 0, thread 10', 'rank 0, thread 11', 'rank 1, thread 20']);
});

test('load: an older report has running times only', () => {
    assert.deepEqual(loadOf(new ViewRows(view(false)), false).computing.length, 5);
});
