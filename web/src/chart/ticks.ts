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
