// SPDX-License-Identifier: Apache-2.0
// Measurements of variants of loops, grouped by loop and bucket.

import type { Document, Take, Verdict } from './contract';

/** Variants of a loop as a whole (no bucket: its main one), or of a bucket of its instances. */
export interface Varied {
    bucket: string | null;
    verdict: Verdict | null;
    takes: Take[]; // as variants are ordered
}

export interface VariedLoop extends Varied {
    loop: number;
    buckets: Varied[]; // those with fewest iterations first
}

const firstNumber = (name: string | null): number => Number(/\d+/.exec(name ?? '')?.[0] ?? NaN);

export function variedLoops(doc: Pick<Document, 'variants' | 'verdicts'>): VariedLoop[] {
    const all = new Map<number, Map<string | null, Varied>>();
    const of = (loop: number, bucket: string | null): Varied => {
        const parts = all.get(loop) ?? new Map<string | null, Varied>();
        all.set(loop, parts);
        const it = parts.get(bucket) ?? { bucket, verdict: null, takes: [] };
        parts.set(bucket, it);
        return it;
    };
    for (const verdict of doc.verdicts) of(verdict.loop_id, verdict.bucket).verdict = verdict;
    for (const take of doc.variants) of(take.loop_id, take.bucket).takes.push(take);
    return [...all].map(([loop, parts]) => {
        const whole = parts.get(null) ?? { bucket: null, verdict: null, takes: [] };
        const buckets = [...parts.values()]
            .filter(one => one.bucket !== null)
            .sort((a, b) => firstNumber(a.bucket) - firstNumber(b.bucket));
        for (const one of parts.values()) one.takes.sort((a, b) => a.place - b.place);
        return { ...whole, loop, buckets };
    });
}

export const takeOf = (of: Varied, variant: string): Take | null =>
    of.takes.find(take => take.variant === variant && take.cycles !== null) ?? null;

export type Reliability = 'unreliable' | 'weak' | 'reliable';

/** By cycles of an instance: noting the time takes some fifty of them. */
export function reliability(take: Take | null): Reliability | null {
    if (!take || take.instance === null) return null;
    return take.instance < 250 ? 'unreliable' : take.instance < 500 ? 'weak' : 'reliable';
}

/** As columns of doubt have it (grid/cells.ts). */
export function doubtNumber(take: Take | null): number | null {
    const is = reliability(take);
    return is === 'unreliable' ? 3 : is === 'weak' ? 2 : null;
}
