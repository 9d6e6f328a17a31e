// SPDX-License-Identifier: Apache-2.0
// Source text as HTML, a line each. The whole excerpt is read at once, so that comments over
// several lines are known; a part that goes on beyond a line is marked on each of them.

import { LANGUAGES, type Language, type LanguageName } from './languages';

const MOST_CHARS = 2_000_000; // beyond this plain text is shown at once instead

export function escapeHtml(text: string): string {
    return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function languageOf(language: string | null, path: string): LanguageName | null {
    const named = (language ?? '').toLowerCase();
    const end = path.slice(path.lastIndexOf('.') + 1);
    if (/^(f|for|ftn|f77)$/i.test(end)) return 'fixed';
    if (/c\+\+|cpp|cuda|hip/.test(named)) return 'cpp';
    if (/fortran/.test(named)) return 'fortran';
    if (/^(gnu )?c\d*\b/.test(named)) return 'c';
    if (/asm|assembl/.test(named)) return 'asm';
    if (/^(cc|cpp|cxx|c\+\+|C|hh|hpp|hxx|tcc|ipp|cu|cuh|inl)$/.test(end)) return 'cpp';
    if (/^(c|h)$/.test(end)) return 'c';
    if (/^(f90|f95|f03|f08|fpp)$/i.test(end)) return 'fortran';
    if (/^(s|asm)$/i.test(end)) return 'asm';
    return null;
}

function marked(text: string, part: string): string {
    return text
        .split('\n')
        .map(line => (line ? `<span class="code-${part}">${escapeHtml(line)}</span>` : ''))
        .join('\n');
}

function highlight(text: string, language: Language): string {
    let html = '';
    let from = 0;
    for (const token of text.matchAll(language.tokens)) {
        const { word, delimiter: _, ...parts } = token.groups!;
        const known = language.ignoresCase ? word?.toLowerCase() : word;
        const part =
            known === undefined
                ? Object.keys(parts).find(name => parts[name] !== undefined)
                : language.words.get(known);
        if (!part) continue;
        html += escapeHtml(text.slice(from, token.index)) + marked(token[0], part);
        from = token.index + token[0].length;
    }
    return html + escapeHtml(text.slice(from));
}

export function highlightLines(lines: readonly string[], language: LanguageName | null): string[] {
    const text = lines.map(line => line.replace(/\r?\n$/, '')).join('\n');
    if (!language || text.length > MOST_CHARS) return lines.map(escapeHtml);
    const made = highlight(text, LANGUAGES[language]).split('\n');
    return made.length === lines.length ? made : lines.map(escapeHtml);
}
