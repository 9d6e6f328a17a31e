// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, Take, Verdict } from '../../src/data/contract';
import { doubtNumber, reliability, takeOf, variedLoops } from '../../src/data/variants';
import { alikeFindings } from '../../src/views/alike';
import { sectionColumn } from '../../src/views/section_columns';
import { executions } from '../../src/views/Timeline';

const take = (loop_id: number, bucket: string | null, variant: string, more = {}): Take => ({
    ...{ loop_id, bucket, variant, title: null, n: 31, cycles: 1, low: null, high: null },
    ...{ least: 1, stability: 0, instance: 900, iterations: 9, speedup: 1 },
    place: ['orig', 'ref', 'fp'].indexOf(variant),
    ...more,
});

test('variants stand by loop and bucket, few iterations first, in their order', () => {
    const verdict: Verdict = { loop_id: 7, bucket: null, title: 'RAM bound', confidence: 'high' };
    const variants = [
        take(7, '64 to 127 iterations', 'orig'),
        take(7, '8 to 15 iterations', 'fp'),
        take(7, '8 to 15 iterations', 'orig'),
        take(7, null, 'orig', { cycles: 3 }),
        take(9, null, 'fp', { cycles: null }),
    ];
    const all = variedLoops({ variants, verdicts: [verdict] });
    assert.deepEqual(
        all.map(one => [one.loop, one.verdict?.title ?? null, one.buckets.map(of => of.bucket)]),
        [
            [7, 'RAM bound', ['8 to 15 iterations', '64 to 127 iterations']],
            [9, null, []],
        ],
    );
    assert.deepEqual(
        all[0]!.buckets[0]!.takes.map(one => one.variant),
        ['orig', 'fp'],
    );
    assert.equal(takeOf(all[0]!, 'orig')?.cycles, 3);
    assert.equal(takeOf(all[1]!, 'fp'), null, 'without cycles nothing was measured');
});

test('instances below 250 cycles are unreliable, below 500 weak', () => {
    const of = (instance: number | null) => take(1, null, 'orig', { instance });
    assert.deepEqual(
        [249.9, 250, 499.9, 500].map(cycles => reliability(of(cycles))),
        ['unreliable', 'weak', 'weak', 'reliable'],
    );
    assert.deepEqual(
        [249, 300, 500, null].map(cycles => doubtNumber(of(cycles))),
        [3, 2, null, null],
    );
});

test('a time line is added up from its differences', () => {
    const timeline = {
        text: ['add', 'mul'],
        each: [1, 0, 0, 2, 0, 1, 3, 1, 1, 1, 0, 4, 4, 0],
    };
    assert.deepEqual(executions(timeline), [
        { iteration: 1, text: 'add', at: [0, 2, 2, 3, 6] },
        { iteration: 1, text: 'mul', at: [1, 1, 5, 9, 9] },
    ]);
});

test('findings that say the same of several loops stand once', () => {
    const finding = (rank: number, id: number, text: string): Finding => ({
        ...{ rank, level: 'potential', topic: 'vector_length', object: 'loop', id, text },
        ...{ workaround: 'do this', gain_s: null },
    });
    const names: Record<number, string> = { 1: 'kernel_a', 2: 'kernel_b', 3: 'kernel_c' };
    const groups = alikeFindings(
        [
            finding(1, 1, 'A loop of kernel_a uses 50 %'),
            finding(2, 2, 'A loop of kernel_b uses 50 %'),
            finding(3, 3, 'A loop of kernel_c uses 25 %'),
        ],
        one => names[one.id!] ?? null,
    );
    assert.deepEqual(
        groups.map(group => [group.first.rank, group.others.map(one => one.rank)]),
        [
            [1, [2]],
            [3, []],
        ],
    );
});

test('numbers of a section that have units of their own keep their digits', () => {
    const table = {
        columns: ['Value', 'Unit'],
        rows: [
            [0.94, 'x'],
            [126000, 'cycles'],
        ],
    };
    assert.equal(sectionColumn('Value', 0, table).mixed, true);
    assert.equal(sectionColumn('Value', 0, { ...table, columns: ['Value'] }).mixed, false);
});
