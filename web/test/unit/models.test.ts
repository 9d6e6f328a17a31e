// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTicks } from '../../src/chart/ticks';
import { detailOf } from '../../src/data/levels';
import {
    type Scaling,
    type Simulated,
    factorChart,
    factorTable,
    lineOfRun,
    popRating,
    settingText,
    settingTitle,
    sweepOver,
    sweptNames,
} from '../../src/data/models';
import { onAxis, statesOf } from '../../src/views/BeforeAfter';
import { rangeText, tellKind } from '../../src/views/ScalingModel';
// @ts-expect-error: fixtures are plain scripts
import { scaling as madeScaling, simulated as madeSimulated } from '../fixture/models.mjs';

const simulated = (): Simulated => madeSimulated(2) as Simulated;
const scaling = (): Scaling => madeScaling() as Scaling;

test('a sweep has a curve for each value of the second setting', () => {
    const data = simulated();
    // Ranks per node are the same in all; one of three bandwidths is without a limit.
    assert.deepEqual(sweptNames(data), ['latency_ns', 'bandwidth_bps']);
    const { x, series, xLog, leftOut } = sweepOver(data, 'latency_ns');
    assert.deepEqual(x, [1000, 10_000, 100_000]);
    assert.deepEqual([xLog, leftOut], [true, 0]);
    // 4 s of computing, 10,000 latencies, 1 GB.
    const near = (values: (number | null)[] | undefined, wanted: number[]): void =>
        wanted.forEach((value, i) => assert.ok(Math.abs(values![i]! - value) < 1e-9));
    assert.deepEqual(
        series.map(one => one.label),
        ['bandwidth 1.00 GB/s', 'bandwidth 10.0 GB/s', 'bandwidth no limit', 'recorded'],
    );
    near(series[0]!.values, [5.01, 5.1, 6]);
    near(series[1]!.values, [4.11, 4.2, 5.1]);
    near(series[2]!.values, [4.01, 4.1, 5]);
    near(series[3]!.values, [6, 6, 6]);
});

test('simulations without a limit are not on the axis of the limit', () => {
    const { x, series, leftOut } = sweepOver(simulated(), 'bandwidth_bps');
    assert.deepEqual([x, leftOut], [[1e9, 1e10], 3]);
    assert.deepEqual(
        series.map(one => one.label),
        ['latency 1.00 µs', 'latency 10.0 µs', 'latency 100 µs', 'recorded'],
    );
});

test('a zero has no place on a logarithmic axis, and has one on another', () => {
    const zeroed = (values: number[]): Simulated => {
        const data = simulated();
        data.simulations = data.simulations.slice(0, values.length);
        data.settings = data.simulations.map(({ run_id }, i) => ({
            run_id,
            name: 'latency_ns',
            value: String(values[i]),
        }));
        return data;
    };
    const wide = sweepOver(zeroed([0, 10, 1000]), 'latency_ns');
    assert.deepEqual([wide.x, wide.xLog, wide.leftOut], [[10, 1000], true, 1]);
    const narrow = sweepOver(zeroed([0, 10, 40]), 'latency_ns');
    assert.deepEqual([narrow.x, narrow.xLog, narrow.leftOut], [[0, 10, 40], false, 0]);
    assert.equal(narrow.series[0]!.label, 'simulated');
});

test('settings are told with their units', () => {
    assert.equal(settingTitle('inside_bandwidth_bps'), 'inside bandwidth');
    assert.equal(settingTitle('ranks_per_node'), 'ranks per node');
    assert.equal(settingTitle('eager_b'), 'eager');
    assert.equal(settingText('latency_ns', 2500), '2.50 µs');
    assert.equal(settingText('bandwidth_bps', 25e6), '25.0 MB/s');
    assert.equal(settingText('eager_b', 32_768), '32.0 KiB');
    assert.equal(settingText('cpu', 2), '2.00×');
    assert.equal(settingText('buses', 4), '4');
});

test('both time lines have one axis: that of the longer one', () => {
    const data = simulated();
    const [before, after] = [lineOfRun(data, 1)!, lineOfRun(data, 3)!];
    assert.deepEqual([before.binN, after.binN], [120, 101]);
    const whole = detailOf(onAxis(after, 6)).whole;
    assert.ok(Math.abs(whole.to - 6) < 1e-9);
    assert.equal(onAxis(before, 5).binN, 120);
    assert.deepEqual(
        statesOf([before, after]).map(([name]) => name),
        ['computing', 'mpi'],
    );
    assert.equal(lineOfRun(data, 99), null);
    // The first rank computes 4 s in both, the second one 3.5 s.
    assert.equal(after.lanes[0]!.states[0]!.bins[79], 1000);
    assert.equal(after.lanes[0]!.states[0]!.bins[80], 0);
    assert.equal(after.lanes[1]!.states[0]!.bins[70], 0);
});

test('efficiencies are rated as by POP', () => {
    assert.deepEqual([1.2, 0.8, 0.799, 0.6, 0.599, 0].map(popRating), [
        ...['good', 'good', 'fair', 'fair', 'poor', 'poor'],
    ]);
});

test('factors stand in the order of the tree, measured sizes before projected ones', () => {
    const { sizes, rows } = factorTable(scaling());
    assert.deepEqual(
        sizes.map(({ size, isProjected, traceN }) => [size, isProjected, traceN]),
        [
            [1, false, 1],
            [2, false, 1],
            [4, false, 1],
            [8, false, 3],
            [16, true, 0],
            [32, true, 0],
            [64, true, 0],
        ],
    );
    assert.deepEqual(
        rows.map(({ title, depth }) => `${depth} ${title}`),
        [
            '0 Global efficiency',
            '1 Parallel efficiency',
            '2 Load balance',
            '2 Communication',
            '1 Computation scalability',
            '0 Speed-up',
            '0 Elapsed time',
        ],
    );
    // Amdahl with f = 0.97 at 8: 1 / (0.97 + 0.03 * 8).
    assert.ok(Math.abs(rows[2]!.cells[3]!.value - 1 / 1.21) < 1e-12);
});

test('a plot has points, a fit as far as they go, and a projection that begins there', () => {
    const { x, series } = factorChart(scaling(), 'load_balance');
    assert.deepEqual(
        series.map(({ label, kind }) => [label, kind]),
        [
            ['measured', 'points'],
            ['fit', undefined],
            ['projection', 'dashed'],
        ],
    );
    const at = (size: number): number => x.findIndex(one => Math.abs(one - size) < 1e-9);
    const [points, fit, projection] = series;
    assert.ok(Math.abs(points!.values[at(8)]! - 100 / 1.21) < 1e-9);
    assert.ok(Math.abs(points!.high![at(8)]! - 104 / 1.21) < 1e-9);
    assert.equal(points!.high![at(4)], null);
    assert.equal(points!.values.filter(value => value !== null).length, 4);
    // Both lines have the last point within what was measured.
    const places = (values: (number | null)[]): number[] =>
        values.flatMap((value, i) => (value === null ? [] : [i]));
    assert.equal(places(fit!.values).at(-1), places(projection!.values)[0]);
    assert.ok(x[places(fit!.values).at(-1)!]! <= 8 * 1.0001);
    assert.ok(Math.abs(projection!.low![at(64)]! - 100 * 0.8 * (1 / 2.89)) < 1e-9);
    // A time is not scaled to per cent.
    const [time] = factorChart(scaling(), 'elapsed').series;
    assert.equal(time!.values[at(1)], 6);
});

test('without curves there are the points alone', () => {
    const data = scaling();
    data.factors = data.factors.filter(({ part }) => part === 'measured');
    assert.deepEqual(
        factorChart(data, 'speedup').series.map(one => one.label),
        ['measured'],
    );
});

test('the kind of scaling and intervals are told in words', () => {
    const data = scaling();
    assert.equal(
        tellKind(data),
        'Scaling is strong: useful time grows with the threads to the power 0.03.',
    );
    data.model.is_doubtful = 1;
    assert.ok(
        /^Scaling is taken as strong, but .*: use --weak or --strong\.$/.test(tellKind(data)),
    );
    data.model.is_given = 1;
    assert.equal(tellKind(data), 'Scaling is strong, as given.');
    const cell = { ...data.factors[0]!, factor: 'load_balance', low: 0.5, high: 0.625 };
    assert.equal(rangeText(cell), '50.0 to 62.5 %');
    assert.equal(rangeText({ ...cell, low: null }), '? to 62.5 %');
    assert.equal(rangeText({ ...cell, low: null, high: null }), null);
    assert.equal(rangeText({ ...cell, factor: 'elapsed' }), '500 ms to 625 ms');
});

test('ticks of a logarithmic axis are powers, of few decades with 2 and 5', () => {
    assert.deepEqual(logTicks(0.9, 70, 2), [1, 2, 4, 8, 16, 32, 64]);
    assert.deepEqual(logTicks(0.9e9, 1.1e10, 10), [1e9, 2e9, 5e9, 1e10]);
    assert.deepEqual(logTicks(0.5, 2e6, 10), [1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
    assert.ok(logTicks(1, 2 ** 40, 2).length <= 9);
});
