// SPDX-License-Identifier: Apache-2.0
// State of one table, which lives in the address: sort, filter, columns, grouping, what is open and
// which row is active. Tables that are not the only one of their page put their name before it.

import { useEffect, useRef, useState } from 'preact/hooks';
import { formatHash, route, setParams } from '../route';
import type { Rows } from './rows';
import type { Sort } from './order';

export type Name = 'sort' | 'q' | 'cols' | 'group' | 'open' | 'row';

export class GridParams {
    constructor(private readonly prefix: string) {}

    private key(name: Name): string {
        return this.prefix ? `${this.prefix}.${name}` : name;
    }
    get(name: Name): string | undefined {
        return route.value.params[this.key(name)];
    }
    set(changes: Partial<Record<Name, string | undefined>>, replace = false): void {
        const named: Record<string, string | undefined> = {};
        for (const [name, value] of Object.entries(changes)) named[this.key(name as Name)] = value;
        setParams(named, replace);
    }
}

/** `-name` sorts descending. */
export function parseSort(text: string | undefined, rows: Rows): Sort | null {
    if (!text) return null;
    const descending = text.startsWith('-');
    const column = rows.columns.findIndex(one => one.name === (descending ? text.slice(1) : text));
    return column < 0 ? null : { column, descending };
}

export function formatSort(sort: Sort, rows: Rows): string {
    return (sort.descending ? '-' : '') + rows.columns[sort.column]!.name;
}

/** Nothing is open, in a table of which something is at first. */
export const ALL_CLOSED = '-';

/** Keys of open rows, joined by commas; `*` is all. Commas in keys of groups are escaped. */
export function parseOpen(text: string | undefined): Set<string> {
    return new Set(
        (text ?? '')
            .split(',')
            .filter(key => key && key !== ALL_CLOSED)
            .map(key => key.replace(/~c/g, ',').replace(/~t/g, '~')),
    );
}

export function formatOpen(open: ReadonlySet<string>): string | undefined {
    const keys = [...open].map(key => key.replace(/~/g, '~t').replace(/,/g, '~c'));
    return keys.length ? keys.join(',') : undefined;
}

const SETTLE_MS = 250; // browsers refuse addresses that change too often

/** A parameter that changes quickly: shown at once, written to the address when it has settled. */
export function useSettling(params: GridParams, name: Name): [string, (value: string) => void] {
    const inAddress = params.get(name) ?? '';
    const [value, setValue] = useState(inAddress);
    const timer = useRef<ReturnType<typeof setTimeout>>();
    const written = useRef(inAddress);
    useEffect(() => {
        if (inAddress !== written.current) {
            written.current = inAddress;
            setValue(inAddress);
        }
    }, [inAddress]);
    useEffect(() => () => clearTimeout(timer.current), []);
    const change = (next: string): void => {
        setValue(next);
        clearTimeout(timer.current);
        const page = formatHash({ path: route.value.path, params: {} });
        timer.current = setTimeout(() => {
            if (formatHash({ path: route.value.path, params: {} }) !== page) return;
            written.current = next;
            params.set({ [name]: next || undefined }, true);
        }, SETTLE_MS);
    };
    return [value, change];
}
