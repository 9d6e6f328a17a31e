// SPDX-License-Identifier: Apache-2.0
// The same names as the terminal's: tests/golden/report/short-names.tsv holds both.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { shortName } from '../../src/parts/short_name';

const GOLDEN = '../tests/golden/report/short-names.tsv'; // from web/, where the tests run

test('names: as short as asked for, the class before the rest', () => {
    const lines = readFileSync(GOLDEN, 'utf8')
        .trimEnd()
        .split('\n')
        .filter(line => !line.startsWith('#'));
    assert.ok(lines.length > 20);
    for (const line of lines) {
        const [most, name, told] = line.split('\t');
        assert.equal(shortName(name!, Number(most)), told);
        assert.equal(shortName(name!, 1000), name);
    }
});
