// SPDX-License-Identifier: Apache-2.0
// The slots of the shell and how they are filled. doc/internals/web.md describes them for the
// program, which does the same in C.

import { deflateSync } from 'node:zlib';

export const MARKERS = {
    title: '%ASSAY_TITLE%',
    noscript: '%ASSAY_NOSCRIPT%',
    data: '%ASSAY_DATA%',
};

export function escapeHtml(text) {
    return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/** The shell with its slots filled; `json` is the text of the document. */
export function fill(shell, json, { title, noscript }) {
    const values = {
        [MARKERS.title]: escapeHtml(title),
        [MARKERS.noscript]: escapeHtml(noscript),
        [MARKERS.data]: deflateSync(Buffer.from(json, 'utf8'), { level: 6 }).toString('base64'),
    };
    return Object.entries(values).reduce((page, [marker, value]) => {
        const at = page.indexOf(marker);
        if (at < 0) throw new Error(`the shell has no ${marker}`);
        return page.slice(0, at) + value + page.slice(at + marker.length);
    }, shell);
}
