// SPDX-License-Identifier: Apache-2.0
// One column of a view: numbers, or texts over a dictionary. Sorting asks for ranks, so that texts
// are compared once per dictionary and not once per comparison.

import type { ColumnData } from '../data/contract';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Place of each text in the order of reading. */
export function rankTexts(texts: readonly string[]): Int32Array {
    const order = Array.from(texts, (_, i) => i).sort((a, b) =>
        collator.compare(texts[a]!, texts[b]!),
    );
    const rank = new Int32Array(texts.length);
    let place = 0;
    order.forEach((at, i) => {
        if (i > 0 && collator.compare(texts[at]!, texts[order[i - 1]!]!) !== 0) place = i;
        rank[at] = place;
    });
    return rank;
}

export class Values {
    private ranks: Int32Array | null = null;
    private readonly numbers: (number | null)[] | null;
    private readonly dict: string[];
    private readonly index: number[];

    constructor(data: ColumnData | undefined) {
        this.numbers = data && 'v' in data ? data.v : null;
        this.dict = data && 'dict' in data ? data.dict : [];
        this.index = data && 'dict' in data ? data.i : [];
    }

    get isText(): boolean {
        return this.numbers === null;
    }

    /** Not-a-number where nothing is known. */
    num(row: number): number {
        return this.numbers?.[row] ?? NaN;
    }

    text(row: number): string | null {
        if (this.numbers) {
            const value = this.numbers[row];
            return value === null || value === undefined ? null : String(value);
        }
        return this.dict[this.index[row] ?? -1] ?? null;
    }

    /** A number that orders rows by this column; not-a-number sorts last. */
    rank(row: number): number {
        if (this.numbers) return this.num(row);
        const at = this.index[row] ?? -1;
        if (at < 0) return NaN;
        this.ranks ??= rankTexts(this.dict);
        return this.ranks[at] ?? NaN;
    }

    max(): number {
        let most = 0;
        if (this.numbers)
            for (const value of this.numbers)
                if (value !== null && Math.abs(value) > most && Number.isFinite(value))
                    most = Math.abs(value);
        return most;
    }
}
