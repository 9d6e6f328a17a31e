// SPDX-License-Identifier: Apache-2.0
// Source text as HTML, a line each. The highlighter sees the whole excerpt, so that comments over
// several lines are known; open spans are closed and opened again at the end of each line.

import hljs from 'highlight.js/lib/core';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import fortran from 'highlight.js/lib/languages/fortran';
import x86asm from 'highlight.js/lib/languages/x86asm';

hljs.registerLanguage('c', c);
hljs.registerLanguage('cpp', cpp);
hljs.registerLanguage('fortran', fortran);
hljs.registerLanguage('x86asm', x86asm);

const MOST_CHARS = 2_000_000; // beyond this plain text is shown at once instead

export function escapeHtml(text: string): string {
    return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function languageOf(language: string | null, path: string): string | null {
    const named = (language ?? '').toLowerCase();
    if (/c\+\+|cpp|cuda|hip/.test(named)) return 'cpp';
    if (/fortran/.test(named)) return 'fortran';
    if (/^(gnu )?c\d*\b/.test(named)) return 'c';
    if (/asm|assembl/.test(named)) return 'x86asm';
    const end = path.slice(path.lastIndexOf('.') + 1);
    if (/^(cc|cpp|cxx|c\+\+|C|hh|hpp|hxx|tcc|ipp|cu|cuh|inl)$/.test(end)) return 'cpp';
    if (/^(c|h)$/.test(end)) return 'c';
    if (/^(f|for|ftn|f77|f90|f95|f03|f08|fpp)$/i.test(end)) return 'fortran';
    if (/^(s|asm)$/i.test(end)) return 'x86asm';
    return null;
}

/** Cuts highlighted HTML at line ends; every line is whole by itself. */
export function splitHtml(html: string): string[] {
    const open: string[] = [];
    return html.split('\n').map(line => {
        const before = open.join('');
        for (const tag of line.match(/<span[^>]*>|<\/span>/g) ?? []) {
            if (tag === '</span>') open.pop();
            else open.push(tag);
        }
        return before + line + '</span>'.repeat(open.length);
    });
}

export function highlightLines(lines: readonly string[], language: string | null): string[] {
    const text = lines.map(line => line.replace(/\r?\n$/, '')).join('\n');
    if (!language || text.length > MOST_CHARS) return lines.map(escapeHtml);
    try {
        const html = hljs.highlight(text, { language, ignoreIllegals: true }).value;
        const made = splitHtml(html);
        return made.length === lines.length ? made : lines.map(escapeHtml);
    } catch {
        return lines.map(escapeHtml);
    }
}
