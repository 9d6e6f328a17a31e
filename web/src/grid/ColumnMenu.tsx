// SPDX-License-Identifier: Apache-2.0
// Which columns a table shows, by their groups.

import { useState } from 'preact/hooks';
import { words } from '../format';
import { Menu } from '../parts/Menu';
import type { GridColumn } from './rows';

interface Props {
    columns: GridColumn[];
    shown: readonly number[];
    fixed: number; // always shown
    onChange: (shown: number[] | null) => void;
}

export function ColumnMenu({ columns, shown, fixed, onChange }: Props) {
    return (
        <Menu label="Columns" title={`${shown.length} of ${columns.length} columns are shown`}>
            {() => (
                <ColumnPanel columns={columns} shown={shown} fixed={fixed} onChange={onChange} />
            )}
        </Menu>
    );
}

function ColumnPanel({ columns, shown, fixed, onChange }: Props) {
    const [search, setSearch] = useState('');
    const on = new Set(shown);
    const wanted = search.toLowerCase();
    const found = columns
        .map((column, at) => ({ column, at }))
        .filter(({ column }) => `${column.title} ${column.name}`.toLowerCase().includes(wanted));
    const groups = new Map<string, typeof found>();
    for (const one of found) {
        const group = one.column.group || 'other';
        groups.set(group, [...(groups.get(group) ?? []), one]);
    }
    const toggle = (at: number): void => {
        if (on.has(at)) on.delete(at);
        else on.add(at);
        onChange(columns.flatMap((_, i) => (on.has(i) ? [i] : [])));
    };
    return (
        <div class="column-menu">
            <div class="menu-row">
                <input
                    type="search"
                    placeholder="Find a column"
                    aria-label="Find a column"
                    value={search}
                    onInput={event => setSearch(event.currentTarget.value)}
                />
                <button
                    type="button"
                    class="button"
                    onClick={() => onChange(columns.map((_, i) => i))}
                >
                    All
                </button>
                <button type="button" class="button" onClick={() => onChange(null)}>
                    Default
                </button>
            </div>
            {[...groups].map(([group, members]) => (
                <fieldset key={group}>
                    <legend>{words(group)}</legend>
                    {members.map(({ column, at }) => (
                        <label key={column.name} data-tip={column.meaning || undefined}>
                            <input
                                type="checkbox"
                                checked={on.has(at)}
                                disabled={at === fixed}
                                onChange={() => toggle(at)}
                            />
                            <span>
                                {column.title}
                                {column.unit && <span class="muted"> {column.unit}</span>}
                            </span>
                        </label>
                    ))}
                </fieldset>
            ))}
            {!groups.size && <p class="muted">No column has this in its name.</p>}
        </div>
    );
}
