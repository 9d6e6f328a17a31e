// SPDX-License-Identifier: Apache-2.0
// Starts the page: reads the data slot, then shows the report or the sentence why it cannot.

import { render } from 'preact';
import { App } from './App';
import { SlotError, readSlot } from './data/slot';
import { Report } from './data/report';
import { startTips } from './parts/tip';
import { startRouting } from './route';
import { startTheme } from './theme';
import { Print } from './views/Print';

function fail(error: unknown, root: HTMLElement): void {
    const text =
        error instanceof SlotError ? error.message : `The report cannot be shown: ${String(error)}`;
    render(
        <p class="warning" role="alert" id="failure">
            {text}
        </p>,
        root,
    );
}

/** The print version is made when it is asked for and at once, before the browser lays it out. */
function startPrinting(report: Report, paper: HTMLElement): void {
    const on = (): void => render(<Print report={report} />, paper);
    const off = (): void => render(null, paper);
    addEventListener('beforeprint', on);
    addEventListener('afterprint', off);
    matchMedia('print').addEventListener('change', event => (event.matches ? on() : off()));
}

async function start(): Promise<void> {
    const root = document.getElementById('report')!;
    startTheme();
    try {
        const slot = document.getElementById('assay-data');
        const doc = await readSlot(slot?.textContent ?? '');
        slot?.remove(); // frees megabytes that are not read again
        const report = new Report(doc);
        startRouting();
        startTips();
        startPrinting(report, document.getElementById('paper')!);
        root.textContent = '';
        render(<App report={report} />, root);
        document.documentElement.dataset.ready = 'true';
    } catch (error) {
        root.textContent = '';
        fail(error, root);
        document.documentElement.dataset.ready = 'failed';
    }
}

void start();
