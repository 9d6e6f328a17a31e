// SPDX-License-Identifier: Apache-2.0
// Findings that say the same of several loops, as of the versions of one kernel in a library, once.

import type { Finding } from '../data/contract';

export interface AlikeFindings {
    first: Finding;
    others: Finding[];
}

/** `nameOf`: of the function that a finding is about, which its text may tell. */
export function alikeFindings(
    findings: readonly Finding[],
    nameOf: (finding: Finding) => string | null,
): AlikeFindings[] {
    const groups = new Map<string, AlikeFindings>();
    for (const finding of findings) {
        const name = nameOf(finding);
        const text = name ? finding.text.replaceAll(name, '') : finding.text;
        const key = [finding.object, finding.topic, finding.level, text, finding.workaround].join(
            '\n',
        );
        const group = groups.get(key);
        if (group) group.others.push(finding);
        else groups.set(key, { first: finding, others: [] });
    }
    return [...groups.values()];
}
