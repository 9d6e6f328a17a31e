// SPDX-License-Identifier: Apache-2.0
// Shares of the categories of time as one bar with a legend that has the numbers.

import type { ViewRows } from '../grid/rows';
import { percent, seconds } from '../format';
import { categoryClass } from './palette';

export interface Share {
    name: string;
    title: string;
    pct: number;
    time: number;
    meaning: string | null;
}

export function categoryShares(rows: ViewRows): Share[] {
    const at = (name: string): number => rows.columnAt(name);
    const all: Share[] = [];
    for (let row = 0; row < rows.count(); row++) {
        const pct = rows.num(row, at('time_pct'));
        if (!(pct > 0)) continue;
        const name = rows.text(row, at('name')) ?? '';
        all.push({
            name,
            title: rows.text(row, at('title')) ?? name,
            pct,
            time: rows.num(row, at('time_s')),
            meaning: rows.text(row, at('meaning')),
        });
    }
    return all.sort((a, b) => b.pct - a.pct);
}

export function CategoryBar({ shares }: { shares: Share[] }) {
    return <Bar shares={shares} classOf={categoryClass} />;
}

/** Running, waiting, ready: what threads did with their wall time. */
export function StateBar({ shares }: { shares: Share[] }) {
    return shares.length ? <Bar shares={shares} classOf={name => `state-${name}`} /> : null;
}

interface BarProps {
    shares: Share[];
    classOf: (name: string) => string;
}

function Bar({ shares, classOf }: BarProps) {
    return (
        <div class="category">
            <div
                class="category-bar"
                role="img"
                aria-label={shares.map(s => `${s.title} ${percent(s.pct)}`).join(', ')}
            >
                {shares.map(share => (
                    <span
                        key={share.name}
                        class={`category-part ${classOf(share.name)}`}
                        style={{ flexGrow: share.pct }}
                        data-tip={`${share.title}: ${percent(share.pct)}, ${seconds(share.time)}`}
                    >
                        {share.pct >= 8 ? share.title : ''}
                    </span>
                ))}
            </div>
            <ul class="legend">
                {shares.map(share => (
                    <li key={share.name} data-tip={share.meaning || undefined}>
                        <span class={`swatch ${classOf(share.name)}`} aria-hidden="true" />
                        {share.title} <b>{percent(share.pct)}</b>
                    </li>
                ))}
            </ul>
        </div>
    );
}
