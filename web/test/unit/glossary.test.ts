// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import source from '../../../doc/reference/glossary.md';
import { GLOSSARY, meaningOf, parseGlossary } from '../../src/glossary';

test('a table of terms is read; links and marks are left out', () => {
    assert.deepEqual(
        parseGlossary('# G\n\n| term | meaning |\n|---|---|\n| a, b c | of `x`: [p.md](p.md) |\n'),
        [{ names: ['a', 'b c'], meaning: 'of x' }],
    );
});

test('every row of the page is a term with a meaning', () => {
    const rows = source.split('\n').filter(line => line.startsWith('| ')).length - 1;
    assert.equal(GLOSSARY.length, rows);
    assert.ok(rows > 40);
    for (const { names, meaning } of GLOSSARY) {
        assert.ok(names.every(name => name.length > 0) && meaning.length > 0, names.join());
        assert.ok(!/[`[\]*]/.test(meaning), meaning);
    }
});

test('terms of the first page of a report have a meaning, whatever their case', () => {
    for (const term of ['gain', 'potential', 'hint', 'expert', 'Wall time', 'Overhead', 'Samples'])
        assert.ok(meaningOf(term), term);
    assert.equal(meaningOf('no such term'), undefined);
});
