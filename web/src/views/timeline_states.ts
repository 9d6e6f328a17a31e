// SPDX-License-Identifier: Apache-2.0
// Colours of what threads do. States that the page does not know have one of the others.

const COLOURS: Record<string, string> = {
    computing: '--category-4',
    user: '--category-4',
    kernel: '--category-0',
    ready: '--category-2',
    mpi: '--category-0',
    openmp: '--category-5',
    threads: '--category-6',
    files: '--category-7',
    idle: '--dim',
    waiting: '--category-1',
    off: '--panel',
};
const OTHERS = ['--category-2', '--category-10', '--category-12', '--category-15', '--category-3'];

/** Returns whether a state is hatched: nothing was recorded in it. */
export const isHatched = (name: string): boolean => name === 'off';

/** The CSS variable of a state; `others` are the names that are not known, in their order. */
export function stateColour(name: string, others: readonly string[]): string {
    const known = COLOURS[name];
    if (known) return known;
    return OTHERS[Math.max(0, others.indexOf(name)) % OTHERS.length]!;
}

export const isKnownState = (name: string): boolean => name in COLOURS;
