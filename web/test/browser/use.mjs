// SPDX-License-Identifier: Apache-2.0
// Helpers that use a report in the browser. A test fails if its page logs an error, breaks its
// policy or loads anything else.

import assert from 'node:assert/strict';
import { PATIENCE_MS } from './browser.mjs';

/** A page on a report; when the test is over, all that went wrong on it is held against it. */
export async function onReport(browser, address, hash, use, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        acceptDownloads: true,
        ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const wrong = [];
    page.on('console', message => {
        if (['error', 'warning'].includes(message.type())) wrong.push(message.text());
    });
    page.on('pageerror', error => wrong.push(error.message));
    page.on('request', request => {
        if (!/^(file|data|blob):/.test(request.url())) wrong.push(`asked for ${request.url()}`);
    });
    try {
        await page.goto(`${address}#/${hash}`);
        if (options.javaScriptEnabled !== false) await page.waitForSelector('html[data-ready]');
        await use(page);
        assert.deepEqual(wrong, []);
    } finally {
        await context.close();
    }
}

/** Texts of a column as the rows stand on the screen. */
export const rowTexts = (page, column) =>
    page.$$eval(
        '.grid-body .grid-row',
        (rows, at) =>
            rows
                .map(row => [Number(row.ariaRowIndex), row.children[at].innerText.trim()])
                .sort((a, b) => a[0] - b[0])
                .map(([, text]) => text),
        column,
    );

/** Repeats `holds` until it succeeds: the browser does some steps in its own time (going back). */
export async function until(holds) {
    for (const end = Date.now() + PATIENCE_MS / 5; ;) {
        try {
            return await holds();
        } catch (error) {
            if (Date.now() > end) throw error;
            await new Promise(done => setTimeout(done, 100));
        }
    }
}
