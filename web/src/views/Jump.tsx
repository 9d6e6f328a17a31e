// SPDX-License-Identifier: Apache-2.0
// The field in the head that goes to a function, loop or page by its name; `/` leads there.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useReport } from '../context';
import { PAGES } from '../pages';
import { go } from '../route';
import { type Target, findTargets } from './find_targets';

export function Jump() {
    const report = useReport();
    const [query, setQuery] = useState('');
    const [active, setActive] = useState(0);
    const field = useRef<HTMLInputElement>(null);
    const pages = useMemo<Target[]>(
        () => PAGES.map(page => ({ label: page.title, kind: 'page', path: page.path })),
        [],
    );
    const found = useMemo(() => findTargets(report, query, pages), [report, query]);
    useEffect(() => {
        const onKey = (event: KeyboardEvent): void => {
            const from = event.target as HTMLElement;
            if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
            if (from.matches('input, textarea, select')) return;
            event.preventDefault();
            field.current?.focus();
        };
        document.addEventListener('keydown', onKey);
        return () => document.removeEventListener('keydown', onKey);
    }, []);
    const choose = (target: Target | undefined): void => {
        if (!target) return;
        setQuery('');
        field.current?.blur();
        go(target.path);
    };
    return (
        <div class="jump">
            <input
                ref={field}
                type="search"
                role="combobox"
                aria-expanded={found.length > 0}
                aria-controls="jump-list"
                aria-activedescendant={found.length ? `jump-${active}` : undefined}
                aria-label="Go to a function or loop"
                placeholder="Go to function or loop  ( / )"
                autocomplete="off"
                spellcheck={false}
                value={query}
                onInput={event => {
                    setQuery(event.currentTarget.value);
                    setActive(0);
                }}
                onBlur={() => setTimeout(() => setQuery(''), 150)}
                onKeyDown={event => {
                    if (event.key === 'ArrowDown')
                        setActive(Math.min(found.length - 1, active + 1));
                    else if (event.key === 'ArrowUp') setActive(Math.max(0, active - 1));
                    else if (event.key === 'Enter') choose(found[active]);
                    else if (event.key === 'Escape') setQuery('');
                    else return;
                    event.preventDefault();
                }}
            />
            <ul id="jump-list" role="listbox" aria-label="Found" hidden={!found.length}>
                {found.map((target, i) => (
                    <li
                        key={target.path}
                        id={`jump-${i}`}
                        role="option"
                        aria-selected={i === active}
                        class={i === active ? 'active' : ''}
                        onPointerDown={event => {
                            event.preventDefault();
                            choose(target);
                        }}
                    >
                        <span class="muted">{target.kind}</span>{' '}
                        <span class="mono">{target.label}</span>
                    </li>
                ))}
            </ul>
        </div>
    );
}
