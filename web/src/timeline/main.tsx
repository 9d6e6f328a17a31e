// SPDX-License-Identifier: Apache-2.0
// Starts the page of a time line: asks what there is, then shows it.

import { render } from 'preact';
import { startTips } from '../parts/tip';
import { startTheme } from '../theme';
import { App } from './App';
import { meta } from './data';
import { askMeta } from './server';
import { view, viewOf } from './view';

async function start(): Promise<void> {
    const root = document.getElementById('timeline')!;
    startTheme();
    try {
        const told = await askMeta();
        const names = told.metrics.map(one => one.name);
        const read = (): void => {
            view.value = viewOf(location.hash, told.end_ns, names);
        };
        meta.value = told;
        read();
        addEventListener('hashchange', read);
        startTips();
        document.title = `Time line of ${told.title}`;
        root.textContent = '';
        render(<App />, root);
        document.documentElement.dataset.ready = 'true';
    } catch (error) {
        root.textContent = '';
        render(
            <p class="warning" role="alert" id="failure">
                The time line cannot be shown: {String(error)}. Start assay open again.
            </p>,
            root,
        );
        document.documentElement.dataset.ready = 'failed';
    }
}

void start();
