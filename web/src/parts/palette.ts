// SPDX-License-Identifier: Apache-2.0
// One colour a category of time, the same in bars and flame graphs; unknown ones share by hash.

const KNOWN = [
    'application',
    'mpi',
    'openmp',
    'pthread',
    'math',
    'io',
    'memory',
    'string',
    'kernel',
    'gpu',
    'python',
    'python_extension',
    'interpreter',
    'runtime',
    'loader',
    'measurement',
    'compression',
    'other',
];

export const CATEGORY_N = KNOWN.length;

function hash(text: string): number {
    let sum = 0;
    for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
    return sum;
}

export function categoryIndex(name: string | null): number {
    if (!name) return CATEGORY_N - 1;
    const lower = name.toLowerCase();
    const exact = KNOWN.indexOf(lower);
    if (exact >= 0) return exact;
    const near = KNOWN.findIndex(known => lower.includes(known) || known.startsWith(lower));
    return near >= 0 ? near : hash(lower) % CATEGORY_N;
}

export function categoryClass(name: string | null): string {
    return `category-${categoryIndex(name)}`;
}
