// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ViewRows } from '../../src/grid/rows';
import type { View } from '../../src/data/contract';
import { type Part, machinesOf } from '../../src/views/topology';

type Row = [
    place: number,
    parent: number,
    kind: string,
    number: number | null,
    level: number | null,
    size: number | null,
    usable: number,
];

// Two cores of two threads under an L3, the second of which may not be used.
const ROWS: Row[] = [
    [0, 0, 'machine', 0, null, null, 0],
    [1, 0, 'package', 0, null, null, 0],
    [2, 1, 'memory', 0, null, 8 * 2 ** 30, 0],
    [3, 1, 'cache', 0, 3, 2 ** 25, 0],
    [4, 3, 'cache', 0, 2, 2 ** 20, 0],
    [5, 4, 'core', 0, null, null, 0],
    [6, 5, 'processor', 0, null, null, 1],
    [7, 5, 'processor', 2, null, null, 1],
    [8, 3, 'cache', 1, 2, 2 ** 20, 0],
    [9, 8, 'core', 1, null, null, 0],
    [10, 9, 'processor', 1, null, null, 0],
    [11, 9, 'processor', 3, null, null, 0],
];

function view(rows: Row[]): View {
    const kinds = [...new Set(rows.map(row => row[2]))];
    const column = (name: string, kind: 'id' | 'integer' | 'text') => ({ name, title: name, kind });
    return {
        name: 'machine_places',
        title: 'Parts',
        object: null,
        key: null,
        parent: null,
        sort: null,
        row_n: rows.length,
        columns: [
            column('host_id', 'id'),
            column('host', 'text'),
            column('place', 'id'),
            column('parent', 'id'),
            column('kind', 'text'),
            column('number', 'id'),
            column('level', 'id'),
            column('size_b', 'integer'),
            column('is_usable', 'id'),
        ],
        data: {
            host_id: { v: rows.map(() => 1) },
            host: { dict: ['node07'], i: rows.map(() => 0) },
            place: { v: rows.map(row => row[0]) },
            parent: { v: rows.map(row => row[1]) },
            kind: { dict: kinds, i: rows.map(row => kinds.indexOf(row[2])) },
            number: { v: rows.map(row => row[3]) },
            level: { v: rows.map(row => row[4]) },
            size_b: { v: rows.map(row => row[5]) },
            is_usable: { v: rows.map(row => row[6]) },
        },
    };
}

function only(rows: Row[]): Part {
    const machines = machinesOf(new ViewRows(view(rows)));
    assert.equal(machines.length, 1);
    assert.equal(machines[0]!.host, 'node07');
    return machines[0]!.part;
}

test('topology: what holds one part alone shares its box', () => {
    const part = only(ROWS);
    assert.deepEqual(part.labels, ['package 0', 'L3 32.0 MiB']);
    assert.deepEqual(part.memories, ['memory 8.00 GiB, node 0']);
    assert.equal(part.parts.length, 2);
    assert.deepEqual(part.parts[0]!.labels, ['L2 1.00 MiB', 'core 0']);
    assert.deepEqual(part.parts[0]!.processors, [
        { number: 0, usable: true },
        { number: 2, usable: true },
    ]);
    assert.equal(part.parts[1]!.processors[0]!.usable, false);
});

test('topology: a tree that holds itself is not followed', () => {
    const damaged: Row[] = [
        [0, 0, 'machine', 0, null, null, 0],
        [1, 2, 'package', 0, null, null, 0],
        [2, 1, 'package', 1, null, null, 0],
        [3, 3, 'core', 1, null, null, 0],
    ];
    assert.deepEqual(only(damaged).parts, []);
    assert.deepEqual(machinesOf(new ViewRows(view(damaged.slice(1)))), []);
});
