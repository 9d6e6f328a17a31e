// SPDX-License-Identifier: Apache-2.0
// Levels of detail of a time line: bins of a level are half as long as those of the level before.
// The document has the time line and one finer level. The bins of that level make up the levels in
// between.

import { type Lane, type LaneState, type TimeLine, PATH } from './timeline';

/** Part of the time line, in seconds. */
export interface Span {
    from: number;
    to: number;
}

export interface Level {
    binS: number;
    lanes: readonly Lane[];
}

export interface Detail {
    /** From the time line on, each with bins half as long. */
    levels: readonly Level[];
    whole: Span;
    /** Length in seconds of the finer bins that only the experiment has; null: none. */
    finerS: number | null;
}

const LEAST_BINS = 8; // that are in the picture

/** Means of so many bins. */
function coarser(bins: readonly number[], by: number): number[] {
    const means: number[] = [];
    for (let at = 0; at < bins.length; at += by) {
        let sum = 0;
        for (let i = at; i < at + by; i++) sum += bins[i] ?? 0;
        means.push(Math.round(sum / by));
    }
    return means;
}

/** By thread and state the bins of the finer level, joined: `[number, name]` is the key. */
function finestBins({ levels }: TimeLine): Map<string, number[]> {
    const joined = new Map<string, number[]>();
    for (const { number, name, segment, bins } of levels?.rows ?? []) {
        const key = `${number} ${name}`;
        const all = joined.get(key) ?? [];
        const first = segment * levels!.segment_n;
        const values = JSON.parse(bins) as number[];
        while (all.length < first) all.push(0);
        values.forEach((value, i) => (all[first + i] = value));
        joined.set(key, all);
    }
    return joined;
}

export function detailOf(line: TimeLine): Detail {
    const { binS, binN, lanes, levels } = line;
    const shown = line.shown ?? ((states: readonly LaneState[]): LaneState[] => [...states]);
    const steps = levels?.bin_s ? Math.round(Math.log2(binS / levels.bin_s)) : 0;
    const least = levels?.least_bin_s ?? binS;
    const finestS = levels?.bin_s ?? binS;
    const finest = finestBins(line);
    const finer = Array.from({ length: steps }, (_, i): Level => {
        const by = 2 ** (steps - 1 - i);
        const binsOf = ({ number }: Lane, name: string): number[] =>
            coarser(finest.get(`${number} ${name}`) ?? [], by);
        return {
            binS: finestS * by,
            lanes: lanes.map(lane => ({
                ...lane,
                states: shown(
                    lane.states.map(state => ({ ...state, bins: binsOf(lane, state.name) })),
                ),
                path: binsOf(lane, PATH),
            })),
        };
    });
    const coarsest = lanes.map(lane => ({ ...lane, states: shown(lane.states) }));
    return {
        levels: [{ binS, lanes: coarsest }, ...finer],
        whole: { from: 0, to: Math.max(1, binN) * binS },
        finerS: least < finestS * 0.999 ? least : null,
    };
}

export const lengthOf = ({ from, to }: Span): number => to - from;

/** The finest level that has no more bins in the span than the time line has in all of it. */
export function levelFor({ levels, whole }: Detail, span: Span): Level {
    const most = lengthOf(whole) / levels[0]!.binS;
    const fits = levels.filter(level => lengthOf(span) / level.binS <= most * 1.001);
    return fits.at(-1) ?? levels[0]!;
}

/** Within the run, on borders of the shortest bins, and some of them long. */
export function clamped({ levels, whole }: Detail, span: Span): Span {
    const { binS } = levels.at(-1)!;
    const all = Math.round(lengthOf(whole) / binS);
    const from = Math.floor(span.from / binS + 1e-6);
    const to = Math.ceil(span.to / binS - 1e-6);
    const n = Math.min(all, Math.max(LEAST_BINS, to - from));
    const middle = n > to - from ? Math.round((from + to - n) / 2) : from;
    const first = Math.max(0, Math.min(all - n, middle));
    return { from: first * binS, to: (first + n) * binS };
}

/** Shorter by a factor above 1, longer by one below; `at` stays where it is in the picture. */
export function zoomed(detail: Detail, span: Span, factor: number, at?: number): Span {
    const centre = at ?? (span.from + span.to) / 2;
    return clamped(detail, {
        from: centre - (centre - span.from) / factor,
        to: centre + (span.to - centre) / factor,
    });
}

/** Earlier or later by a share of its length. */
export function moved(detail: Detail, span: Span, share: number): Span {
    const by = share * lengthOf(span);
    const from = Math.max(
        detail.whole.from,
        Math.min(detail.whole.to - lengthOf(span), span.from + by),
    );
    return clamped(detail, { from, to: from + lengthOf(span) });
}

export function isWhole({ whole, levels }: Detail, span: Span): boolean {
    return lengthOf(span) > lengthOf(whole) - levels.at(-1)!.binS / 2;
}

/** Parses "1.25..2.5" in the address; a range outside of the run means the whole run. */
export function spanOf(detail: Detail, text: string | undefined): Span {
    const [from, to] = (text ?? '').split('..').map(Number);
    const { whole } = detail;
    if (from === undefined || to === undefined || !(from < to) || from >= whole.to || to <= 0)
        return whole;
    return clamped(detail, { from, to: Math.min(to, whole.to) });
}

export function textOf(detail: Detail, span: Span): string | undefined {
    if (isWhole(detail, span)) return undefined;
    const digits = Math.max(3, 2 - Math.floor(Math.log10(detail.levels.at(-1)!.binS)));
    return `${Number(span.from.toFixed(digits))}..${Number(span.to.toFixed(digits))}`;
}
