// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Flag, View } from '../../src/data/contract';
import { isEstimated, originOf } from '../../src/grid/cells';
import { ViewRows } from '../../src/grid/rows';
import { chartSeries, groupNames } from '../../src/views/chart_series';
import { onceEach, refusals } from '../../src/views/refusals';

test('what was refused stands together by reason, most time first', () => {
    const flag = (id: number, name: string, text: string): Flag => ({
        object: 'loop',
        id,
        name,
        text,
        n: 1,
    });
    const flags = [
        flag(1, 'loop_not_timed', 'no room'),
        flag(2, 'not_counted', 'no room'),
        flag(3, 'loop_not_timed', 'no room'),
        flag(4, 'lost_samples', 'some were lost'),
    ];
    assert.deepEqual(
        refusals(flags, one => one.id!),
        [
            { what: 'loop not timed', reason: 'no room', objects: 2, share: 4 },
            { what: 'loop not counted', reason: 'no room', objects: 1, share: 2 },
        ],
    );
});

test('what flags say of several objects stands once, with their number', () => {
    const flag = (id: number, name: string, text: string): Flag => ({
        object: 'loop',
        id,
        name,
        text,
        n: null,
    });
    const cut = flag(1, 'counts_cut', 'threads ended in it');
    const busy = flag(2, 'busy_host', 'others took a processor');
    assert.deepEqual(onceEach([cut, busy, flag(3, 'counts_cut', 'threads ended in it')]), [
        [cut, 2],
        [busy, 1],
    ]);
});

test('bars stand in the order of rows, points in that of their number and by group', () => {
    const rows = [
        [3, 30, 'a'],
        [1, 10, 'b'],
        [2, null, 'a'],
    ];
    const titles = ['x', 'y', 'thread'];
    assert.deepEqual(chartSeries({ kind: 'bars', x: 0, y: 1, group: null }, rows, titles), {
        x: [0, 1, 2],
        series: [{ label: 'y', kind: 'bars', values: [30, 10, null] }],
    });
    assert.deepEqual(chartSeries({ kind: 'points', x: 0, y: 1, group: 2 }, rows, titles), {
        x: [1, 2, 3],
        series: [
            { label: 'thread a', kind: 'points', values: [null, null, 30] },
            { label: 'thread b', kind: 'points', values: [10, null, null] },
        ],
    });
});

test('of many groups the largest have a colour, the others share one', () => {
    const rows = Array.from({ length: 45 }, (_, i) => [Math.floor(Math.sqrt(i))]);
    assert.deepEqual(groupNames(rows, 0), ['5', '4', '6', '3', '2', 'others']);
    assert.deepEqual(groupNames(rows.slice(0, 9), 0), ['2', '1', '0']);
    assert.deepEqual(groupNames(rows, null), ['']);
});

test('a count that is estimated is told from one that is exact, row by row', () => {
    const view: View = {
        name: 'loops',
        title: 'Loops',
        object: 'loop',
        key: 'loop_id',
        parent: null,
        sort: null,
        row_n: 2,
        columns: [
            { name: 'loop_id', title: 'Loop', kind: 'id', shown: true },
            { name: 'entry_n', title: 'Entries', kind: 'number', unit: '1', shown: true },
            { name: 'entry_n_origin', title: 'Whence', kind: 'text', of: 'entry_n', shown: false },
            {
                name: 'sample_n',
                title: 'Samples',
                kind: 'integer',
                unit: 'samples',
                shown: true,
                origin: 'measured',
            },
        ],
        data: {
            loop_id: { v: [1, 2] },
            entry_n: { v: [10, 20] },
            entry_n_origin: { dict: ['exact', 'measured'], i: [0, 1] },
            sample_n: { v: [1, 2] },
        },
    };
    const rows = new ViewRows(view);
    const entries = rows.columns[1]!;
    assert.equal(originOf(rows, 0, entries), 'exact');
    assert.equal(isEstimated(rows, 0, entries), false);
    assert.equal(isEstimated(rows, 1, entries), true);
    assert.equal(isEstimated(rows, 1, rows.columns[3]!), false);
});
