// SPDX-License-Identifier: Apache-2.0
// Colours of codes. States have the meaning that Paraver's files give their numbers.

import { cssColor } from '../theme';
import type { Code } from './server';

const STATES: Record<number, string> = {
    0: '--dim',
    1: '--category-4',
    2: '--panel',
    3: '--category-1',
    4: '--category-0',
    5: '--category-5',
    6: '--category-15',
    7: '--category-6',
    8: '--category-12',
    9: '--category-1',
    10: '--category-8',
    11: '--category-10',
    12: '--category-7',
    13: '--category-2',
    14: '--panel',
    15: '--category-13',
    16: '--category-16',
};
const OTHERS = [0, 2, 5, 6, 1, 10, 12, 7, 3, 15, 9, 16, 11, 13, 8].map(n => `--category-${n}`);

/** The CSS variable of each code, by its place. Outside of all calls (0) is pale. */
export function variablesOf(codes: readonly Code[], areStates: boolean): string[] {
    let next = 0;
    return codes.map(({ value }) => {
        const known = areStates ? STATES[value] : value === 0 ? '--dim' : undefined;
        return known ?? OTHERS[next++ % OTHERS.length]!;
    });
}

/** 0xAABBGGRR of a CSS colour, as the pixels of a canvas have it. */
export function pixelOf(colour: string): number {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d')!;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
    return ((255 << 24) | (b! << 16) | (g! << 8) | r!) >>> 0;
}

export const pixelOfVariable = (name: string): number => pixelOf(cssColor(name));

/** From the ground to the colour of heat in 256 steps. */
export function gradient(): Uint32Array {
    const [r, g, b] = cssColor('--heat').split(' ').map(Number);
    const ground = pixelOfVariable('--panel');
    const from = [ground & 255, (ground >> 8) & 255, (ground >> 16) & 255];
    const steps = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
        const share = 0.12 + (0.88 * i) / 255;
        const mix = (a: number, z: number): number => Math.round(a + (z - a) * share);
        steps[i] =
            ((255 << 24) |
                (mix(from[2]!, b!) << 16) |
                (mix(from[1]!, g!) << 8) |
                mix(from[0]!, r!)) >>>
            0;
    }
    return steps;
}
