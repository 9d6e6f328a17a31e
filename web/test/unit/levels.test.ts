// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    clamped,
    detailOf,
    isWhole,
    lengthOf,
    levelFor,
    moved,
    spanOf,
    textOf,
    zoomed,
} from '../../src/data/levels';
import { type Parallel, lineOf } from '../../src/data/parallel';
import { tellSpan } from '../../src/views/ThreadTimeline';
import { binsOf, tickOf, timeOf } from '../../src/views/timeline_draw';
// @ts-expect-error: fixtures are plain scripts
import { parallel as made } from '../fixture/parallel.mjs';

const parallel = (): Parallel => made(4) as Parallel;
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test('levels between the time line and the finest are its means', () => {
    const { levels, whole, finerS } = detailOf(lineOf(parallel()));
    assert.deepEqual(
        levels.map(level => level.binS),
        [0.05, 0.025, 0.0125],
    );
    near(whole.to, 6);
    assert.equal(finerS, 0.00625);
    const bins = (level: number, state: number): readonly number[] =>
        levels[level]!.lanes[1]!.states[state]!.bins;
    // The 12th bin of the time line: first 200 thousandths computing, then MPI.
    assert.deepEqual([bins(0, 0)[11], bins(0, 1)[11]], [200, 800]);
    assert.deepEqual(bins(1, 0).slice(22, 24), [400, 0]);
    assert.deepEqual(bins(1, 1).slice(22, 24), [600, 1000]);
    assert.deepEqual(bins(2, 0).slice(44, 48), [800, 0, 0, 0]);
    assert.deepEqual(bins(2, 1).slice(44, 48), [200, 1000, 1000, 1000]);
    for (const level of [1, 2])
        for (let bin = 0; bin < 120; bin++) {
            const by = 2 ** level;
            const part = bins(level, 0).slice(bin * by, (bin + 1) * by);
            near(part.reduce((a, b) => a + b, 0) / by, bins(0, 0)[bin]!);
        }
    assert.deepEqual(levels[2]!.lanes[3]!.path.slice(0, 3), [1000, 1000, 1000]);
});

test('rows that are not there have nothing, and do not shift the others', () => {
    const data = parallel();
    data.levels!.rows = data.levels!.rows.filter(row => row.segment !== 0);
    const lane = detailOf(lineOf(data)).levels[2]!.lanes[3]!;
    assert.equal(lane.path[0], 0);
    assert.equal(lane.path[300], 1000);
});

test('a document without levels has the time line alone', () => {
    const data = { ...parallel(), levels: null };
    const detail = detailOf(lineOf(data));
    assert.equal(detail.levels.length, 1);
    assert.equal(detail.finerS, null);
    assert.equal(tellSpan(detail, detail.levels[0]!, detail.whole), 'A column is 50.0 ms.');
    delete (data as Partial<Parallel>).levels;
    assert.equal(detailOf(lineOf(data)).levels.length, 1);
    const none = { bin_s: null, least_bin_s: 0.0125, segment_n: 256, rows: [] };
    const refused = detailOf(lineOf({ ...data, levels: none }));
    assert.equal(refused.finerS, 0.0125);
    assert.ok(
        /columns of 12\.50* ms: assay open --serve/.test(
            tellSpan(refused, refused.levels[0]!, refused.whole),
        ),
    );
});

test('half of the picture has bins half as long, down to the finest', () => {
    const detail = detailOf(lineOf(parallel()));
    assert.equal(levelFor(detail, detail.whole).binS, 0.05);
    const half = zoomed(detail, detail.whole, 2);
    near(half.from, 1.5);
    near(half.to, 4.5);
    assert.equal(levelFor(detail, half).binS, 0.025);
    assert.equal(levelFor(detail, { from: 0, to: 3.1 }).binS, 0.05);
    let span = half;
    for (let i = 0; i < 20; i++) span = zoomed(detail, span, 2);
    near(lengthOf(span), 8 * 0.0125);
    assert.equal(levelFor(detail, span).binS, 0.0125);
    assert.ok(
        /of 6\.00 s\. A column is 12\.5 ms\. The experiment has columns of 6\.25 ms/.test(
            tellSpan(detail, levelFor(detail, span), span),
        ),
    );
    assert.ok(!/experiment/.test(tellSpan(detail, levelFor(detail, half), half)));
    for (let i = 0; i < 20; i++) span = zoomed(detail, span, 0.5);
    assert.ok(isWhole(detail, span));
});

test('what is pointed at stays where it is', () => {
    const detail = detailOf(lineOf(parallel()));
    const span = zoomed(detail, detail.whole, 2, 1.5);
    near((1.5 - span.from) / lengthOf(span), 1.5 / 6);
});

test('spans stay within the run', () => {
    const detail = detailOf(lineOf(parallel()));
    const late = moved(detail, { from: 4, to: 5.5 }, 0.5);
    near(late.from, 4.5);
    near(late.to, 6);
    const early = moved(detail, { from: 0.25, to: 1.25 }, -0.5);
    near(early.from, 0);
    near(early.to, 1);
    const point = clamped(detail, { from: 6, to: 6 });
    near(point.to, 6);
    near(lengthOf(point), 0.1);
    const far = clamped(detail, { from: -5, to: 50 });
    assert.ok(isWhole(detail, far));
});

test('an address has the span, and one that makes no sense is the whole run', () => {
    const detail = detailOf(lineOf(parallel()));
    const span = clamped(detail, { from: 1.2375, to: 1.8 });
    assert.equal(textOf(detail, span), '1.2375..1.8');
    const again = spanOf(detail, '1.2375..1.8');
    near(again.from, span.from);
    near(again.to, span.to);
    assert.equal(textOf(detail, detail.whole), undefined);
    for (const text of [undefined, '', 'x', '3', '3..2', '7..9', 'NaN..1', '-3..-1'])
        assert.ok(isWhole(detail, spanOf(detail, text)), text);
    near(spanOf(detail, '5..99').to, 6);
});

test('bins of a span, and ticks that differ', () => {
    const level = { binS: 0.0125, lanes: [] };
    assert.deepEqual(binsOf(level, { from: 0.0125, to: 0.05 }), { first: 1, last: 3 });
    assert.deepEqual(binsOf(level, { from: 0.02, to: 0.051 }), { first: 1, last: 4 });
    assert.equal(timeOf(1.2375, 0.0125), '1.238 s');
    assert.equal(timeOf(0.35, 0.05), '350 ms');
    assert.equal(tickOf(100.01, 0.01), '100.01 s');
    assert.equal(tickOf(0, 0.01), '0 s');
});
