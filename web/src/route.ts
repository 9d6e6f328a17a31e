// SPDX-License-Identifier: Apache-2.0
// All state of the page that is worth a link stands in the address behind `#`:
// `#/functions?sort=-exclusive_time_s&q=time%3E1`. Back and forward follow from that.

import { signal } from '@preact/signals';

export type Params = Record<string, string>;

export interface Route {
    path: string[];
    params: Params;
}

export const HOME = 'summary';

export function parseHash(hash: string): Route {
    const text = hash.replace(/^#\/?/, '');
    const mark = text.indexOf('?');
    const decode = (part: string): string => {
        try {
            return decodeURIComponent(part);
        } catch {
            return part;
        }
    };
    const path = (mark < 0 ? text : text.slice(0, mark)).split('/').filter(Boolean).map(decode);
    const params: Params = {};
    if (mark >= 0)
        new URLSearchParams(text.slice(mark + 1)).forEach((value, name) => {
            params[name] = value;
        });
    return { path: path.length ? path : [HOME], params };
}

export function formatHash(route: Route): string {
    const query = new URLSearchParams(
        Object.entries(route.params).filter(([, value]) => value !== ''),
    ).toString();
    return `#/${route.path.map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`;
}

export const route = signal<Route>({ path: [HOME], params: {} });

/** The last parameters of each page, so that coming back by the menu finds it as it was left. */
const remembered = new Map<string, Params>();

function take(next: Route): void {
    remembered.set(next.path.join('/'), next.params);
    route.value = next;
}

export function startRouting(): void {
    take(parseHash(location.hash));
    addEventListener('hashchange', () => {
        const next = parseHash(location.hash);
        if (formatHash(next) !== formatHash(route.value)) take(next);
    });
}

export function href(path: string, params: Params = {}): string {
    return formatHash({ path: path.split('/'), params });
}

export function rememberedHref(path: string): string {
    return href(path, remembered.get(path) ?? {});
}

export function go(path: string, params: Params = {}): void {
    const next = { path: path.split('/'), params };
    history.pushState(null, '', formatHash(next));
    take(next);
}

/** Goes where a link made by `href` leads. */
export function follow(address: string): void {
    const { path, params } = parseHash(address);
    go(path.join('/'), params);
}

/** Changes parameters of the page; `undefined` takes one away. */
export function setParams(changes: Record<string, string | undefined>, replace = false): void {
    const params = { ...route.value.params };
    for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) delete params[name];
        else params[name] = value;
    }
    const next = { path: route.value.path, params };
    if (formatHash(next) === formatHash(route.value)) return;
    history[replace ? 'replaceState' : 'pushState'](null, '', formatHash(next));
    take(next);
}
