// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    bytes,
    fixed,
    hertz,
    moment,
    percentNumber,
    plusMinus,
    provenance,
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

test('format: a margin has the unit of its value', () => {
    assert.equal(plusMinus(14.2, 13.6, 14.8, 's'), '±0.60');
    assert.equal(plusMinus(0.5, 0.4, 0.6, 's'), '±100');
    assert.equal(plusMinus(50, 49, 51, '%'), '±1.0');
    assert.equal(plusMinus(50, null, 51, '%'), '');
    assert.equal(plusMinus(1, 1, 1, 's'), '');
});

test('format: what a number rests on', () => {
    assert.equal(
        provenance('measured', 120, 1, 2, 's'),
        'measured, n = 120, 95 % interval 1.00 s to 2.00 s',
    );
    assert.equal(provenance(null, null), '');
    assert.equal(moment('2026-03-02T10:15:42Z'), '2026-03-02 10:15 UTC');
});
