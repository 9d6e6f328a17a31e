// SPDX-License-Identifier: Apache-2.0
// Measures the time line of a large trace in a browser. The trace is that of
// tests/bench/timeline_trace.c: all 64 rows run for 70 % of the time. Prints lines
// "NAME VALUE LOW HIGH" as tests/bench/timeline.py does. A page that shows something else, or logs
// an error, fails.
//
// usage: ASSAY=... node large.mjs TRACE.prv

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { openBrowser } from './browser.mjs';

const PATIENCE_MS = 1_800_000;
const STEPS = 60; // of a zoom
const CALL = '50000001';

const show = (name, value) => {
    const text = value.toFixed(1);
    console.log(`${name} ${text} ${text} ${text}`);
};

const server = spawn(process.env.ASSAY, ['open', process.argv[2], '--serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
});
const address = await new Promise((done, failed) => {
    let told = '';
    server.stdout.on('data', text => {
        told += text;
        if (told.includes('\n')) done(told.split('\n')[0]);
    });
    server.on('exit', status => failed(new Error(`assay open ended with ${status}`)));
});
const { browser, close } = await openBrowser();
try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const wrong = [];
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('console', message => message.type() === 'error' && wrong.push(message.text()));
    page.on('pageerror', error => wrong.push(error.message));

    let begin = performance.now();
    await page.goto(`${address}#event=${CALL}`);
    await page.waitForSelector('html[data-drawn=true]');
    show('page.first.ms', performance.now() - begin);
    const rows = page.locator('section[aria-label="Time by row"] tbody tr');
    await rows.first().waitFor();
    show('page.table.ms', performance.now() - begin);
    assert.match(await rows.first().innerText(), /^All, mean\s+70\.0 %/);
    assert.equal(await rows.count(), 65);

    // A step shows the scaled picture at once, and its own picture when the answer comes.
    const steps = await page.evaluate(async steps => {
        const canvas = document.querySelector('.picture canvas');
        const { left, top, width } = canvas.getBoundingClientRect();
        const frame = () => new Promise(done => requestAnimationFrame(done));
        const note = document.querySelector('p[data-took]');
        const all = { scaled: [], own: [] };
        for (let i = 0; i < steps; i++) {
            const before = note.dataset.took;
            const begin = performance.now();
            canvas.dispatchEvent(
                new WheelEvent('wheel', {
                    deltaY: i % 20 < 10 ? -300 : 290,
                    clientX: left + width * (0.3 + (i % 7) / 16),
                    clientY: top + 60,
                    cancelable: true,
                }),
            );
            await frame();
            await frame();
            all.scaled.push(performance.now() - begin);
            while (note.dataset.took === before && performance.now() - begin < 5000) await frame();
            all.own.push(performance.now() - begin);
        }
        return all;
    }, STEPS);
    const at = (values, share) =>
        [...values].sort((a, b) => a - b)[
            Math.min(values.length - 1, Math.floor(values.length * share))
        ];
    show('page.zoom.median.ms', at(steps.scaled, 0.5));
    show('page.zoom.95.ms', at(steps.scaled, 0.95));
    show('page.own.median.ms', at(steps.own, 0.5));
    show('page.own.95.ms', at(steps.own, 0.95));

    begin = performance.now();
    await page.locator('.picture').focus();
    await page.keyboard.press('n');
    await page.waitForFunction(() => /at=\d+\.\.\d+/.test(location.hash));
    show('page.search.ms', performance.now() - begin);
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    show('page.heap.mib', usedSize / 2 ** 20);
    assert.deepEqual(wrong, []);
} finally {
    await close();
    server.removeAllListeners('exit');
    server.kill('SIGINT');
}
