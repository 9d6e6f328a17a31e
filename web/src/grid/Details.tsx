// SPDX-License-Identifier: Apache-2.0
// All that is known of one row: every column with its value, interval, origin, count and meaning.

import { provenance, words } from '../format';
import { cellText } from './Cell';
import { doubtOf, headerUnit, marginText } from './cells';
import { type Rows, servingColumns } from './rows';

interface Props {
    rows: Rows;
    node: number;
    onClose: () => void;
}

export function Details({ rows, node, onClose }: Props) {
    const backing = servingColumns(rows.columns);
    const groups = new Map<string, number[]>();
    rows.columns.forEach((column, at) => {
        if (backing.has(column.name) || cellText(rows, node, at) === '') return;
        const group = column.group || 'other';
        groups.set(group, [...(groups.get(group) ?? []), at]);
    });
    return (
        <aside class="details" aria-label="All values of the row">
            <div class="details-head">
                <h3>{rows.text(node, rows.treeColumn)}</h3>
                <button type="button" class="button" aria-label="Close" onClick={onClose}>
                    ✕
                </button>
            </div>
            {[...groups].map(([group, members]) => (
                <section key={group}>
                    <h4>{words(group)}</h4>
                    <dl>
                        {members.map(at => {
                            const column = rows.columns[at]!;
                            const doubt = doubtOf(rows, node, column);
                            const value = (index: number): number | null =>
                                index < 0 ? null : rows.num(node, index);
                            const rests = provenance(
                                column.origin,
                                value(column.countAt),
                                value(column.lowAt),
                                value(column.highAt),
                                column.unit,
                            );
                            return (
                                <div key={column.name} data-tip={column.meaning || undefined}>
                                    <dt>{column.title}</dt>
                                    <dd>
                                        {cellText(rows, node, at)}{' '}
                                        <span class="muted">{marginText(rows, node, at)}</span>{' '}
                                        {headerUnit(column)}
                                        {doubt && (
                                            <strong class={`doubt ${doubt.rating}`}>
                                                {` ${doubt.mark} ${doubt.words}`}
                                            </strong>
                                        )}
                                        {column.countAt >= 0 && rests && (
                                            <div class="muted small">{rests}</div>
                                        )}
                                    </dd>
                                </div>
                            );
                        })}
                    </dl>
                </section>
            ))}
        </aside>
    );
}
