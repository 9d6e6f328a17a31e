// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    bytes,
    count,
    counted,
    fixed,
    hertz,
    moment,
    percentNumber,
    plural,
    provenance,
    quantityText,
    seconds,
    significant,
    withUnit,
} from '../../src/format';

test('format: three significant digits at any magnitude', () => {
    assert.equal(significant(8.3149), '8.31');
    assert.equal(significant(0.0412345), '0.0412');
    assert.equal(significant(123.4), '123');
    assert.equal(significant(999.6), '1000');
    assert.equal(significant(0), '0');
    assert.equal(significant(-2.5), '−2.50');
    assert.equal(significant(1000), '1000');
});

test('format: seconds take the unit that keeps them above one', () => {
    assert.equal(seconds(8.31), '8.31 s');
    assert.equal(seconds(0.0412), '41.2 ms');
    assert.equal(seconds(0.0000123), '12.3 µs');
    assert.equal(seconds(4e-9), '4.00 ns');
    assert.equal(seconds(0), '0 s');
    assert.equal(seconds(-0.5), '−500 ms');
});

test('format: thousands are grouped from five digits on', () => {
    assert.equal(fixed(1234, 0), '1234');
    assert.equal(fixed(1234567.891, 1), '1\u202f234\u202f567.9');
    assert.equal(fixed(-0.0001, 2), '0.00');
});

test('format: shares', () => {
    assert.equal(percentNumber(71.04), '71.0');
    assert.equal(percentNumber(0.123), '0.12');
    assert.equal(percentNumber(0.001), '<0.01');
    assert.equal(percentNumber(100), '100');
});

test('format: bytes, hertz, factors, counts', () => {
    assert.equal(bytes(512), '512 B');
    assert.equal(bytes(34_359_738_368), '32.0 GiB');
    assert.equal(hertz(2.4e9), '2.40 GHz');
    assert.equal(withUnit(1.357, 'x'), '1.36×');
    assert.equal(withUnit(12, '1'), '12');
    assert.equal(withUnit(null, 's'), '–');
    assert.equal(withUnit(12, 'loops'), '12 loops');
});

const told = (value: number | null, low: number | null, high: number | null, unit: string) =>
    quantityText({ value, low, high, n: 1, origin: 'measured' }, unit).replace(/\u00a0/g, ' ');

test('format: one unit for a value and its margin, that of the larger', () => {
    assert.equal(told(14.2, 13.6, 14.8, 's'), '14.2 ±0.60 s');
    assert.equal(told(0.5, 0.4, 0.6, 's'), '500 ±100 ms');
    assert.equal(told(0.338, -1.462, 2.138, 's'), '0.338 ±1.8 s'); // not 338 ms ±1.8
    assert.equal(told(0, -0.002, 0.002, 's'), '0 ±2.0 ms'); // not 0 s ±2.0
    assert.equal(told(50, 49, 51, '%'), '50.0 ±1.0 %');
    assert.equal(told(1.5, 1.4, 1.6, 'x'), '1.50 ±0.10×');
    assert.equal(told(2048, 1024, 3072, 'B'), '2.00 ±1.0 KiB');
    assert.equal(told(14.2, null, null, 's'), '14.2 s');
    assert.equal(told(1, 1, 1, 's'), '1.00 s');
    assert.equal(told(null, null, null, 's'), '–');
});

test('format: one bound where only one says something', () => {
    assert.equal(told(0.338, 0, 2.1, 's'), '0.338 (≤ 2.10) s');
    assert.equal(told(0.338, null, 2.1, 's'), '0.338 (≤ 2.10) s');
    assert.equal(told(0.338, 0.1, null, 's'), '338 (≥ 100) ms');
    assert.equal(told(0.338, 0.1, Infinity, 's'), '338 (≥ 100) ms');
    assert.equal(told(0.338, 0, null, 's'), '338 ms');
    assert.equal(told(1.05, 1, 1.4, 'x'), '1.05 (≤ 1.40)×'); // 1 means without speed-up
    assert.equal(told(12, 12, 100, '%'), '12.0 (12.0 to 100) %');
    assert.equal(told(0.5, 0.4, 1.5, 's'), '0.500 (0.400 to 1.50) s'); // ±0.55 would reach below 0
    assert.equal(told(-3, -4, -2, '%'), '−3.0 ±1.0 %');
});

test('format: counts that are read as numbers, not as digits', () => {
    assert.equal(withUnit(2_799_360, '1'), '2.80\u00a0million');
    assert.equal(withUnit(2_799_360, 'paths'), '2.80\u00a0million paths');
    assert.equal(withUnit(45_800, '1'), '45\u202f800');
    assert.equal(count(7e9), '7.00\u00a0billion');
    assert.equal(count(9.2e18), '9.2·10^18');
    assert.equal(counted(2_000_000, 'process'), '2.00\u00a0million processes');
});

test('format: one and many', () => {
    assert.deepEqual(['process', 'thread', 'category', 'way', 'switch'].map(plural), [
        'processes',
        'threads',
        'categories',
        'ways',
        'switches',
    ]);
    assert.equal(counted(1, 'process'), '1 process');
});

test('format: what a number rests on', () => {
    assert.equal(
        provenance('measured', 120, 1, 2, 's'),
        'measured, n = 120, 95 % interval 1.00 s to 2.00 s',
    );
    assert.equal(provenance('derived', null, null, 2, 's'), 'derived, at most 2.00 s (95 %)');
    assert.equal(provenance('derived', null, 1, null, 's'), 'derived, at least 1.00 s (95 %)');
    assert.equal(provenance(null, null), '');
    assert.equal(moment('2026-03-02T10:15:42Z'), '2026-03-02 10:15 UTC');
});
