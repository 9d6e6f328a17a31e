// SPDX-License-Identifier: Apache-2.0
// Contrasts of WCAG 2, level AA, in both colour schemes: text has 4.5 to its background. Marks with
// a meaning have 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import css from '../../src/style/colors.css';

type Colors = Map<string, string>;

function scheme(name: 'light' | 'dark'): Colors {
    const colors: Colors = new Map();
    const read = (block: string | undefined): void => {
        for (const [, key, value] of (block ?? '').matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g))
            colors.set(key!, value!);
    };
    const [light, dark] = css.split(":root[data-theme='dark']");
    read(light);
    if (name === 'dark') read(dark);
    return colors;
}

function luminance(color: string): number {
    const [r, g, b] = [1, 3, 5].map(at => {
        const part = parseInt(color.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(a: string, b: string): number {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light! + 0.05) / (dark! + 0.05);
}

const GROUNDS = ['ground', 'panel', 'raised', 'stripe', 'accent-ground', 'pinned', 'linked'];
const TEXTS = ['text', 'muted', 'link'];
const PAIRS: [string, string, number][] = [
    ...GROUNDS.flatMap(ground =>
        TEXTS.map((text): [string, string, number] => [text, ground, 4.5]),
    ),
    ...['good', 'fair', 'poor'].flatMap((rating): [string, string, number][] => [
        [rating, 'panel', 4.5],
        [rating, `${rating}-ground`, 4.5],
        ['text', `${rating}-ground`, 4.5],
    ]),
    ...Array.from({ length: 17 }, (_, i): [string, string, number] => [
        'category-text',
        `category-${i}`,
        4.5,
    ]),
    ...Array.from({ length: 6 }, (_, i): [string, string, number] => [`series-${i}`, 'panel', 3]),
    ...['keyword', 'string', 'number', 'comment', 'type', 'name'].flatMap(
        (part): [string, string, number][] =>
            ['panel', 'linked', 'pinned'].map(ground => [`code-${part}`, ground, 4.5]),
    ),
    ['match-text', 'match', 4.5],
    ['text', 'dim', 4.5],
    ['line-strong', 'panel', 3],
    ['accent', 'panel', 3],
];

for (const name of ['light', 'dark'] as const)
    test(`colours: contrast of the ${name} scheme`, () => {
        const colors = scheme(name);
        const low = PAIRS.map(([text, ground, least]) => {
            const found = contrast(colors.get(text) ?? '', colors.get(ground) ?? '');
            return found >= least ? '' : `${text} on ${ground}: ${found.toFixed(2)}`;
        }).filter(Boolean);
        assert.deepEqual(low, []);
    });
