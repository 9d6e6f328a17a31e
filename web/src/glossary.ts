// SPDX-License-Identifier: Apache-2.0
// The terms of doc/reference/glossary.md, so that manual and report explain them by the same words.

import source from '../../doc/reference/glossary.md';

export interface Term {
    names: string[];
    meaning: string;
}

/** Removes links to pages, which a report does not have, and marks of Markdown. */
function plain(text: string): string {
    return text
        .replace(/:? *\[[^\]]*\]\([^)]*\)/g, '')
        .replace(/[`*]/g, '')
        .trim();
}

/** Returns the rows of the table of the page, in its order. */
export function parseGlossary(text: string): Term[] {
    const rows = text.split('\n').filter(line => /^\|(?!-|\s*term\s*\|)/.test(line));
    return rows.map(row => {
        const [, names = '', meaning = ''] = row.split('|');
        return { names: names.split(',').map(plain), meaning: plain(meaning) };
    });
}

export const GLOSSARY = parseGlossary(source);

const BY_NAME = new Map(
    GLOSSARY.flatMap(term => term.names.map(name => [name.toLowerCase(), term.meaning] as const)),
);

/** Returns the meaning of a term in any case, for a tooltip; undefined if it is not in the page. */
export function meaningOf(name: string): string | undefined {
    return BY_NAME.get(name.toLowerCase());
}
