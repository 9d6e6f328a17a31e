// SPDX-License-Identifier: Apache-2.0
// Labels of an axis: all with the same number of decimals, and as many as it takes to tell any two
// apart.

const MOST = 8; // decimals

export function tickTexts(
    ticks: readonly (number | null)[],
    format: (value: number, decimals?: number) => string,
): string[] {
    const known = [...new Set(ticks.filter(tick => tick !== null))];
    const texts = (decimals?: number): string[] =>
        ticks.map(tick => (tick === null ? '' : format(tick, decimals)));
    const differ = (decimals?: number): boolean =>
        new Set(known.map(tick => format(tick, decimals))).size === known.length;
    if (differ()) return texts();
    for (let decimals = 0; decimals < MOST; decimals++)
        if (differ(decimals)) return texts(decimals);
    return texts(MOST);
}

const LOG_MOST = 9; // ticks of a logarithmic axis

/** Powers of the base between both ends; of few decades also 2 and 5 times those of ten. */
export function logTicks(from: number, to: number, base: 2 | 10): number[] {
    const first = Math.floor(Math.log(from) / Math.log(base));
    const powers = Array.from(
        { length: Math.ceil(Math.log(to / from) / Math.log(base)) + 2 },
        (_, i) => base ** (first + i),
    );
    const isIn = (tick: number): boolean => tick >= from && tick <= to;
    const fine = base === 10 ? powers.flatMap(tick => [tick, 2 * tick, 5 * tick]) : powers;
    const ticks = fine.filter(isIn);
    if (ticks.length <= LOG_MOST) return ticks;
    const coarse = powers.filter(isIn);
    const every = Math.ceil(coarse.length / LOG_MOST);
    return coarse.filter((_, i) => i % every === 0);
}
