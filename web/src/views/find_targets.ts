// SPDX-License-Identifier: Apache-2.0
// Finds functions, loops and pages by name: exact first, then beginnings, then anything inside.

import type { Report } from '../data/report';

export interface Target {
    label: string;
    kind: string;
    path: string;
}

const MOST = 12;

function place(text: string, wanted: string): number {
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) return -1;
    return at === 0 ? (text.length === wanted.length ? 0 : 1) : 2;
}

export function findTargets(report: Report, query: string, pages: Target[]): Target[] {
    const wanted = query.trim().toLowerCase();
    if (!wanted) return [];
    const ranked: { rank: number; target: Target }[] = [];
    const consider = (label: string, make: () => Target): void => {
        const rank = place(label, wanted);
        if (rank >= 0) ranked.push({ rank, target: make() });
    };
    for (const page of pages) consider(page.label, () => page);
    const functions = report.rows('functions');
    if (functions)
        for (let row = 0; row < functions.count(); row++) {
            const label = functions.text(row, functions.treeColumn) ?? '';
            consider(label, () => ({
                label,
                kind: 'function',
                path: `function/${functions.id(row)}`,
            }));
        }
    const loops = report.rows('loops');
    if (loops)
        for (let row = 0; row < loops.count(); row++) {
            const label = loops.text(row, loops.treeColumn) ?? '';
            consider(label, () => ({ label, kind: 'loop', path: `loop/${loops.id(row)}` }));
        }
    return ranked
        .sort((a, b) => a.rank - b.rank)
        .slice(0, MOST)
        .map(one => one.target);
}
