// SPDX-License-Identifier: Apache-2.0
// The frame of the page: head, menu, and the page that the address names.

import { Component, type ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ReportContext, useReport } from './context';
import type { Report } from './data/report';
import { PAGES, type Page } from './pages';
import { Empty } from './parts/parts';
import { HOME, href, rememberedHref, route } from './route';
import { type Theme, setTheme, theme } from './theme';
import { Jump } from './views/Jump';
import { ObjectPage } from './views/ObjectPage';

class Guard extends Component<{ children: ComponentChildren; place: string }> {
    override state: { error: string | null; place: string } = { error: null, place: '' };
    static getDerivedStateFromError(error: unknown): { error: string } {
        return { error: error instanceof Error ? error.message : String(error) };
    }
    override componentDidUpdate(before: { place: string }): void {
        if (before.place !== this.props.place && this.state.error) this.setState({ error: null });
    }
    render(): ComponentChildren {
        if (!this.state.error) return this.props.children;
        return (
            <p class="warning" role="alert">
                This part of the report cannot be shown, because its data is not as expected:{' '}
                {this.state.error}. <a href={href(HOME)}>Back to the summary</a>
            </p>
        );
    }
}

export function App({ report }: { report: Report }) {
    return (
        <ReportContext.Provider value={report}>
            <a
                class="skip"
                href="#main"
                onClick={event => {
                    event.preventDefault();
                    document.getElementById('main')?.focus();
                }}
            >
                Skip to the content
            </a>
            <Head />
            <div class="frame">
                <Menu />
                <Main />
            </div>
        </ReportContext.Provider>
    );
}

function Head() {
    const { doc } = useReport();
    return (
        <header class="head">
            <a class="brand" href={href(HOME)}>
                assay
            </a>
            <span class="head-name" data-full={doc.title}>
                {doc.title}
            </span>
            {location.search === '?timeline' && <a href="timeline">Time line</a>}
            <Jump />
            <label class="tool-label">
                <span class="off-screen">Colours</span>
                <select
                    value={theme.value}
                    onChange={event => setTheme(event.currentTarget.value as Theme)}
                    aria-label="Colours"
                >
                    <option value="auto">Auto</option>
                    <option value="light">Light</option>
                    <option value="dark">Dark</option>
                </select>
            </label>
        </header>
    );
}

function Menu() {
    const report = useReport();
    const first = route.value.path[0];
    const here = first === 'loop' ? 'loops' : first === 'function' ? 'functions' : first;
    const shown = PAGES.filter(page => page.isThere?.(report) ?? true);
    return (
        <nav class="side-menu" aria-label="Pages">
            <ul>
                {shown.map(page => (
                    <li key={page.path}>
                        <a
                            href={page.path === first ? href(page.path) : rememberedHref(page.path)}
                            aria-current={page.path === here ? 'page' : undefined}
                        >
                            {page.title}
                        </a>
                    </li>
                ))}
            </ul>
        </nav>
    );
}

function content(page: Page | undefined, first: string): ComponentChildren {
    if (first === 'loop' || first === 'function') return <ObjectPage kind={first} />;
    if (page) return <page.view />;
    return (
        <Empty>
            The report has no page “{first}”. <a href={href(HOME)}>Go to the summary</a>
        </Empty>
    );
}

function Main() {
    const { path } = route.value;
    const place = path.join('/');
    const main = useRef<HTMLElement>(null);
    const before = useRef(place);
    useEffect(() => {
        if (before.current === place) return;
        before.current = place;
        main.current?.scrollTo(0, 0);
        main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    }, [place]);
    const page = PAGES.find(one => one.path === path[0]);
    return (
        <main class="main" id="main" ref={main} tabIndex={-1}>
            <Guard place={place}>
                <div class="page" key={place}>
                    {content(page, path[0] ?? HOME)}
                </div>
            </Guard>
        </main>
    );
}
