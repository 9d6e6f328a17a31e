// SPDX-License-Identifier: Apache-2.0
// Titles of the columns, which sort.

import { headerUnit } from './cells';
import type { Sort } from './order';
import { type Rows, isNumeric } from './rows';

interface Props {
    rows: Rows;
    shown: readonly number[];
    sort: Sort | null;
    onSort: (sort: Sort) => void;
}

function meaning(rows: Rows, at: number): string {
    const column = rows.columns[at]!;
    const parts = [column.meaning || column.title];
    if (column.origin) parts.push(`Origin: ${column.origin}.`);
    parts.push(`In filters: ${column.name}`);
    return parts.join('\n');
}

export function Header({ rows, shown, sort, onSort }: Props) {
    return (
        <div class="grid-head" role="rowgroup">
            <div class="grid-row" role="row" aria-rowindex={1}>
                {shown.map((at, i) => {
                    const column = rows.columns[at]!;
                    const here = sort?.column === at;
                    const numeric = isNumeric(column);
                    const state = here ? (sort.descending ? 'descending' : 'ascending') : 'none';
                    const unit = headerUnit(column);
                    return (
                        <div
                            key={column.name}
                            class={numeric ? 'grid-cell number' : 'grid-cell'}
                            role="columnheader"
                            aria-colindex={i + 1}
                            aria-sort={state}
                            data-column={column.name}
                        >
                            <button
                                type="button"
                                data-tip={meaning(rows, at)}
                                onClick={() =>
                                    onSort({
                                        column: at,
                                        descending: here ? !sort.descending : numeric,
                                    })
                                }
                            >
                                <span class="head-title">{column.title}</span>
                                {unit && <span class="head-unit">{unit}</span>}
                                <span class="head-arrow" aria-hidden="true">
                                    {here ? (sort.descending ? '▼' : '▲') : ''}
                                </span>
                            </button>
                        </div>
                    );
                })}
            </div>
        </div>
    );
}
