// SPDX-License-Identifier: Apache-2.0
// How fast the page is with 20,000 loops and 5,000 functions, and how large: figures and targets,
// never a failure. The browser is headless and the machine may be busy: read ratios with care.
//
// usage: node bench.mjs [--lines FILE]   (appends a JSON object a line)

import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildShell } from './build.mjs';
import { fill } from './slots.mjs';
import { openBrowser } from './test/browser/browser.mjs';
import { largeDocument } from './test/fixture/large.mjs';

const TIMES = 5;
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'));
const results = [];

function median(values) {
    return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** A row as `./dev bench` prints them. */
function tell(what, value, target, unit) {
    const verdict = value <= target ? 'met' : 'MISSED';
    const number = `${value.toFixed(2)} ${unit}`.padStart(9);
    console.log(
        `${what.padEnd(44)} ${number}  ${''.padEnd(17)} ${String(target).padStart(7)}  ${verdict}`,
    );
    results.push({ what, unit, value, target, verdict, measured: null });
}

/** Seconds until the page has shown what the action leads to. */
async function shown(page, act) {
    return page.evaluate(async source => {
        const start = performance.now();
        await eval(source)();
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        return (performance.now() - start) / 1000;
    }, act);
}

async function measure(page, what, target, acts) {
    const times = [];
    for (let i = 0; i < TIMES; i++) times.push(await shown(page, acts[i % acts.length]));
    tell(what, median(times), target, 's');
}

/** Milliseconds of script and layout for a step of the wheel: the median of 100. */
async function scroll(page) {
    return page.evaluate(async () => {
        const grid = document.querySelector('.grid');
        const times = [];
        for (let i = 0; i < 100; i++) {
            await new Promise(requestAnimationFrame);
            const start = performance.now();
            grid.scrollTop += 120;
            grid.dispatchEvent(new Event('scroll'));
            await Promise.resolve();
            await Promise.resolve();
            grid.querySelector('.grid-body').lastElementChild.getBoundingClientRect();
            times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b)[50];
    });
}

const click = (title, n) =>
    `() => document.querySelectorAll('${title}')[${n}].querySelector('button').click()`;

try {
    const file = join(folder, 'large.html');
    const document = largeDocument();
    const { shell } = await buildShell();
    writeFileSync(file, fill(shell, JSON.stringify(document), { title: 'large', noscript: '' }));
    tell('size of the report', statSync(file).size / 2 ** 20, 15, 'MiB');

    const { browser, close } = await openBrowser();
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        bypassCSP: true, // for eval in the measurement alone
    });
    const opened = [];
    let page;
    for (let i = 0; i < TIMES; i++) {
        await page?.close();
        page = await context.newPage();
        const start = performance.now();
        await page.goto(`file://${file}#/functions`);
        await page.waitForSelector('.grid-body .grid-row');
        opened.push((performance.now() - start) / 1000);
    }
    tell('open, 20,000 loops and 5,000 functions', median(opened), 2, 's');
    const header = '[role=columnheader]';
    await measure(page, 'sort functions by name or time', 0.3, [
        click(header, 0),
        click(header, 1),
    ]);
    await page.getByRole('button', { name: 'Expand all' }).click();
    await measure(page, 'sort functions with all loops open', 0.3, [
        click(header, 0),
        click(header, 1),
    ]);
    await page.goto(`file://${file}#/loops`);
    await page.waitForSelector('.grid-body .grid-row');
    await measure(page, 'sort 20,000 loops', 0.3, [click(header, 0), click(header, 2)]);
    tell('a step of scrolling: script and layout', await scroll(page), 16, 'ms');
    await measure(page, 'filter 20,000 loops', 0.3, [
        `() => { const field = document.querySelector('.filter');
                 field.value = field.value === 'solve' ? 'own>1' : 'solve';
                 field.dispatchEvent(new Event('input', { bubbles: true })); }`,
    ]);
    await measure(page, 'open the call tree of 40,000 paths', 0.5, [
        `() => { location.hash = '#/calltree'; }`,
        `() => { location.hash = '#/loops'; }`,
    ]);
    await measure(page, 'open the flame graph', 0.5, [
        `() => { location.hash = '#/calltree?mode=flame'; }`,
        `() => { location.hash = '#/loops'; }`,
    ]);
    await measure(page, 'open the page of a function', 0.5, [
        `() => { location.hash = '#/function/1'; }`,
        `() => { location.hash = '#/loops'; }`,
    ]);
    await close();
    const at = process.argv.indexOf('--lines');
    const lines = results.map(result => `${JSON.stringify(result)}\n`).join('');
    if (at > 0) appendFileSync(process.argv[at + 1], lines);
} finally {
    rmSync(folder, { recursive: true, force: true });
}
