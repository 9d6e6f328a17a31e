// SPDX-License-Identifier: Apache-2.0
// Gain curves over one common axis, cut where they have become flat.

import type { WhatIf } from '../data/contract';

export interface GainCurves {
    x: number[];
    series: { title: string; values: (number | null)[] }[];
}

const LEAST = 10; // objects shown at least, where there are as many
const BEYOND = 4; // times the objects for 80 % of the gain

export function gainSeries(whatIfs: readonly WhatIf[]): GainCurves {
    const curves = whatIfs.filter(one => one.cumulative.length > 0);
    const longest = Math.max(0, ...curves.map(one => one.cumulative.length));
    const wanted = Math.max(LEAST, ...curves.map(one => BEYOND * (one.to_80_n ?? 0)));
    const n = Math.min(longest, wanted);
    const x = Array.from({ length: n + 1 }, (_, i) => i);
    return {
        x,
        series: curves.map(one => ({
            title: one.title,
            values: x.map(at =>
                at === 0 ? 1 : (one.cumulative[Math.min(at, one.cumulative.length) - 1] ?? null),
            ),
        })),
    };
}
