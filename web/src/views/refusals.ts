// SPDX-License-Identifier: Apache-2.0
// Loops and functions that could not be timed or counted, by reason.

import type { Flag } from '../data/contract';

const REFUSALS: Record<string, string> = {
    loop_not_timed: 'not timed',
    not_counted: 'not counted',
    loop_not_varied: 'not varied',
};

export interface Refusal {
    what: string;
    reason: string;
    objects: number;
    /** Per cent of the time of the run. */
    share: number;
}

export function isRefusal(flag: Flag): boolean {
    return flag.name in REFUSALS;
}

/** Returns the objects that were left out, by reason, most time first. */
export function refusals(flags: readonly Flag[], shareOf: (flag: Flag) => number): Refusal[] {
    const all = new Map<string, Refusal>();
    for (const flag of flags.filter(isRefusal)) {
        const what = `${flag.object} ${REFUSALS[flag.name]}`;
        const key = `${what} ${flag.text}`;
        const it = all.get(key) ?? { what, reason: flag.text, objects: 0, share: 0 };
        it.objects++;
        it.share += shareOf(flag);
        all.set(key, it);
    }
    return [...all.values()].sort((a, b) => b.share - a.share || b.objects - a.objects);
}

/** Flags that say the same of several objects, once, with the number of these. */
export function onceEach(flags: readonly Flag[]): [Flag, number][] {
    const of = new Map<string, [Flag, number]>();
    for (const flag of flags) {
        const key = `${flag.name} ${flag.text}`;
        const seen = of.get(key);
        if (seen) seen[1]++;
        else of.set(key, [flag, 1]);
    }
    return [...of.values()];
}
