// SPDX-License-Identifier: Apache-2.0
// Frames on a canvas.

import type { Folded } from '../calltree/fold';
import { CATEGORY_N, categoryIndex } from '../parts/palette';
import { shortName } from '../parts/short_name';
import { cssColor } from '../theme';
import type { Frame } from './layout';

export const FRAME_PX = 19;

export interface Look {
    selected: number;
    hovered: number;
    matches: ((node: number) => boolean) | null;
}

function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
    const char = 6.6; // of the font below, on average
    const room = Math.floor((width - 8) / char);
    if (room < 3) return '';
    if (text.length <= room) return text;
    let cut = shortName(text, room);
    if (cut.length <= room && context.measureText(cut).width <= width - 8) return cut;
    cut = cut.slice(0, room);
    while (cut.length > 2 && context.measureText(`${cut}…`).width > width - 8)
        cut = cut.slice(0, -1);
    return `${cut}…`;
}

export function draw(
    canvas: HTMLCanvasElement,
    folded: Folded,
    frames: readonly Frame[],
    width: number,
    height: number,
    look: Look,
): void {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const colors = Array.from({ length: CATEGORY_N }, (_, i) => cssColor(`--category-${i}`));
    const paper = cssColor('--panel');
    const text = cssColor('--category-text');
    const accent = cssColor('--match');
    const matchText = cssColor('--match-text');
    const dim = cssColor('--dim');
    const strong = cssColor('--text');
    for (const { node, depth, x, width: wide } of frames) {
        const top = depth * FRAME_PX;
        const matched = look.matches ? node >= 0 && look.matches(node) : false;
        context.fillStyle = matched
            ? accent
            : look.matches || node < 0
              ? dim
              : colors[categoryIndex(folded.category(node))]!;
        const inner = wide > 2 ? wide - 1 : Math.max(wide, 0.5);
        context.fillRect(x, top, inner, FRAME_PX - 1);
        if (node === look.selected || (node === look.hovered && node !== -2)) {
            context.strokeStyle = strong;
            context.lineWidth = node === look.selected ? 2 : 1;
            context.strokeRect(x + 1, top + 1, Math.max(inner - 2, 1), FRAME_PX - 3);
        }
        if (wide > 30) {
            context.fillStyle = matched ? matchText : look.matches || node < 0 ? strong : text;
            const label = fit(context, node < 0 ? 'all' : folded.name(node), wide);
            if (label) context.fillText(label, x + 4, top + FRAME_PX / 2);
        }
    }
    if (!frames.length) {
        context.fillStyle = paper;
        context.fillRect(0, 0, width, height);
    }
}
