// SPDX-License-Identifier: Apache-2.0
// One instruction as HTML: mnemonic, registers, numbers and comments told apart by colour. Lines
// stand alone in assembly, so this is done for the visible rows only.

import { escapeHtml, highlightLines } from './highlight';

const cache = new Map<string, string>();

export function instructionHtml(text: string): string {
    let html = cache.get(text);
    if (html === undefined) {
        html = highlightLines([text], 'asm')[0] ?? escapeHtml(text);
        if (cache.size > 20_000) cache.clear();
        cache.set(text, html);
    }
    return html;
}
