// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailOf } from '../../src/data/levels';
import { type OverTime, lineOf, shownStates } from '../../src/data/over_time';
import { threadRows } from '../../src/views/OverTime';
import { tellBin } from '../../src/views/ThreadTimeline';
// @ts-expect-error: fixtures are plain scripts
import { overTime as made } from '../fixture/over_time.mjs';

const overTime = (): OverTime => made() as OverTime;
const state = (name: string, bins: number[]) => ({ name, title: name, bins });

test('what ran is in the kernel by its share of samples', () => {
    const shown = shownStates([
        state('user', [500, 0, 300]),
        state('kernel', [500, 0, 900, 1000]),
        state('running', [1000, 400, 800, 100, 50]),
        state('ready', [0, 600]),
    ]);
    assert.deepEqual(
        shown.map(({ name, bins }) => [name, bins]),
        [
            ['user', [500, 400, 200, 0, 50]],
            ['kernel', [500, 0, 600, 100, 0]],
            ['ready', [0, 600]],
        ],
    );
});

test('samples alone are shown as they are', () => {
    const shown = shownStates([state('user', [500]), state('kernel', [0, 250])]);
    assert.deepEqual(
        shown.map(({ title, bins }) => [title, bins]),
        [
            ['running', [500]],
            ['in the kernel', [0, 250]],
        ],
    );
});

test('the time line of threads zooms, in every state', () => {
    const { levels, finerS, whole } = detailOf(lineOf(overTime()));
    assert.deepEqual(
        levels.map(level => level.binS),
        [0.01, 0.005, 0.0025],
    );
    assert.equal(finerS, null);
    assert.equal(whole.to, 2);
    const [first, second] = levels[2]!.lanes;
    assert.equal(
        tellBin(first!, 45 * 4, 0.0025),
        'thread 0, 450.0 ms to 452.5 ms: in the kernel 75.0 %, running 25.0 %',
    );
    assert.equal(
        tellBin(second!, 799, 0.0025),
        'thread 1, 1.9975 s to 2.0000 s: running 60.0 %, ready, no CPU 40.0 %',
    );
    assert.ok(/waiting 100 %$/.test(tellBin(levels[0]!.lanes[1]!, 99, 0.01)));
});

test('each thread has its seconds', () => {
    const rows = threadRows(overTime());
    assert.equal(rows.count(), 2);
});
