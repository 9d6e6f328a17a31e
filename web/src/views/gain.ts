// SPDX-License-Identifier: Apache-2.0
// Gain curves over one common axis, cut at their flat end. Objects without a gain have no curve.

import type { WhatIf } from '../data/contract';

export interface GainCurves {
    x: number[];
    series: { title: string; values: (number | null)[] }[];
}

const LEAST = 10; // objects shown at least, where there are as many
const BEYOND = 4; // times the objects for 80 % of the gain

/** A thousandth of the run is less than any measurement of it can tell. */
const LEAST_SPEEDUP = 1.001;

function gains(one: WhatIf): boolean {
    const last = one.cumulative[one.cumulative.length - 1];
    return last !== undefined && last >= LEAST_SPEEDUP;
}

export function gainSeries(whatIfs: readonly WhatIf[]): GainCurves {
    const curves = whatIfs.filter(gains);
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
