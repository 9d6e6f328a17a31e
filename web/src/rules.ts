// SPDX-License-Identifier: Apache-2.0
// The rules of doc/reference/rules.md: how each finding is known, by the same words as the manual.

import source from '../../doc/reference/rules.md';

/** Returns the meaning of each rule of the page, by its name. */
export function parseRules(text: string): Map<string, string> {
    const item = /^- `(\w+)`[^:]*: ([^]*?)(?=\n(?! {2}))/gm;
    return new Map(
        [...text.matchAll(item)].map(([, name, meaning]) => [
            name!,
            meaning!.replace(/\n +/g, ' ').replaceAll('`', ''),
        ]),
    );
}

const RULES = parseRules(source);

/** Returns how a finding of the rule is known; undefined of rules that are not in the page. */
export function meaningOfRule(rule: string | null | undefined): string | undefined {
    return rule ? RULES.get(rule) : undefined;
}
