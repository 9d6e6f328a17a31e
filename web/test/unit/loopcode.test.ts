// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Comparison, ComparisonRow } from '../../src/data/contract';
import { loopCode } from '../../src/views/loopcode';

const row: ComparisonRow = {
    object: 'loop',
    name: 'sweep',
    where: null,
    aligned_by: null,
    time_s: [null, null],
    difference_pct: null,
    significant: false,
};
const cycles = { value: 2, low: 2, high: 2, n: 1, origin: 'modelled' as const };
const data: Comparison = {
    sides: ['A', 'B'].map(name => ({ name, experiment: name, repeats: 1, wall_s: null })),
    rows: [
        row,
        {
            ...row,
            cqa: [
                {
                    topic: 'cqa',
                    name: 'cqa_cycles',
                    title: 'Cycles',
                    unit: 'cy',
                    texts: ['2', null],
                    values: [cycles, null],
                },
                {
                    topic: 'cqa',
                    name: 'cqa_limit',
                    title: 'Limited by',
                    unit: null,
                    texts: ['chain', 'ports'],
                },
            ],
        },
    ],
};

test('the code of loops has a column for each value and side', () => {
    const columns = loopCode(data);
    assert.deepEqual(
        columns.map(one => [one.title, one.values]),
        [
            ['Cycles A', [null, 2]],
            ['Cycles B', [null, null]],
            ['Limited by A', [null, 'chain']],
            ['Limited by B', [null, 'ports']],
        ],
    );
    assert.ok(columns.every(one => !one.shown));
    assert.deepEqual(loopCode({ ...data, rows: [row] }), []);
});
