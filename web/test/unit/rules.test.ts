// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import source from '../../../doc/reference/rules.md';
import { meaningOfRule, parseRules } from '../../src/rules';

test('items of rules are read over several lines, without marks', () => {
    const text = '# R\n\n## P\n\n- `one` (hint): A `b`\n  c: d.\n- `two`: E.\n\n## Q\n';
    assert.deepEqual(
        [...parseRules(text)],
        [
            ['one', 'A b c: d.'],
            ['two', 'E.'],
        ],
    );
});

test('every rule of the page has a meaning', () => {
    const names = [...source.matchAll(/^- `(\w+)`/gm)].map(match => match[1]!);
    assert.ok(names.length > 100);
    for (const name of names) assert.ok(/^[A-Z].*\.$/.test(meaningOfRule(name) ?? ''), name);
    assert.equal(meaningOfRule('no_such_rule'), undefined);
});
