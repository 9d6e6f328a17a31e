// SPDX-License-Identifier: Apache-2.0
// A report that the program wrote, from an experiment made for tests: the page shows what the data
// says.
//
// usage: ASSAY=... MAKE_EXPERIMENT=... CODE=LIBRARY node --test-reporter=tap program.test.mjs

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { openBrowser } from './browser.mjs';
import { onReport, rowTexts } from './use.mjs';

const folder = mkdtempSync(join(tmpdir(), 'assay-program-'));
const experiment = join(folder, 'x.assay');
const address = `file://${experiment}/report.html`;
const code = join(folder, 'code.html');
let data;
let browser;
let close;

before(async () => {
    execFileSync(process.env.MAKE_EXPERIMENT, [experiment]);
    execFileSync(process.env.ASSAY, ['report', experiment, '--format', 'html,json']);
    execFileSync(process.env.ASSAY, [
        ...['cqa', '--machine', 'zen5', '--format', 'html', '-o', code],
        process.env.CODE,
    ]);
    data = JSON.parse(readFileSync(join(experiment, 'report.json'), 'utf8'));
    ({ browser, close } = await openBrowser());
});
after(async () => {
    await close?.();
    rmSync(folder, { recursive: true, force: true });
});

const PAGES = ['summary', 'metrics', 'application', 'functions', 'loops', 'lines', 'calltree'];
for (const path of [
    ...PAGES,
    'calltree?mode=flame',
    'expert',
    'machine',
    'experiment',
    'loop/1',
    'function/1',
])
    test(`the program's report shows ${path}`, () =>
        onReport(browser, address, path, async page => {
            assert.equal(await page.title(), data.title);
            assert.equal(await page.locator('[role=alert]').count(), 0);
            assert.ok((await page.locator('h1').innerText()).length > 2);
        }));

for (const path of ['summary', 'loops', 'functions', 'expert', 'experiment'])
    test(`a page of code that was not run shows ${path}`, () =>
        onReport(browser, `file://${code}`, path, async page => {
            assert.equal(await page.locator('[role=alert]').count(), 0);
            const menu = await page.locator('.side-menu a').allInnerTexts();
            assert.ok(!menu.includes('Call tree') && menu.includes('Loops'), menu.join());
            assert.doesNotMatch(await page.locator('main').innerText(), /% of run|Own time/);
        }));

test('the page of a loop that was not run has advice, assembly, ports and a time line', () =>
    onReport(browser, `file://${code}`, 'loops', async page => {
        await page.locator('.grid-body a').first().click();
        await page.waitForSelector('.code-panel');
        const titles = await page.locator('h2').allInnerTexts();
        for (const title of ['Source and assembly', 'What if', 'Ports', 'Time line'])
            assert.ok(titles.includes(title), titles.join());
    }));

test('ports and cycles of the page are those that the program tells of the same loops', () => {
    const slot = [...readFileSync(code, 'utf8').matchAll(/>\s*([A-Za-z0-9+/=]{1000,})\s*</g)];
    const page = JSON.parse(inflateSync(Buffer.from(slot[0][1], 'base64')));
    const told = JSON.parse(
        execFileSync(
            process.env.ASSAY,
            ['cqa', '--machine', 'zen5', '--format', 'json', process.env.CODE],
            { maxBuffer: 2 ** 30 },
        ),
    );
    const byAddress = new Map(told.loops.map(loop => [loop.address, loop]));
    const view = page.views.find(one => one.name === 'loops');
    const { address, loop_id: ids, cqa_cycles: cycles, cqa_path_n: paths } = view.data;
    const sections = new Map(
        page.sections.filter(one => one.name === 'core_ports').map(one => [one.id, one]),
    );
    let held = 0;
    let several = 0;
    for (let row = 0; row < view.row_n; row++) {
        const loop = byAddress.get(address.dict[address.i[row]]);
        if (!loop || cycles.v[row] === null) continue;
        const where = `loop at ${loop.address}`;
        assert.ok(Math.abs(cycles.v[row] - loop.mean.metrics.cycles) < 0.01, where);
        for (const [port, busy] of sections.get(ids.v[row])?.table.rows ?? []) {
            const wanted = loop.mean.ports_cy[port];
            assert.ok(Math.abs(busy - wanted) < 0.01, `${where}: ${port} ${busy}, not ${wanted}`);
            held++;
            several += paths.v[row] > 1;
        }
    }
    assert.ok(held > 20 && several > 5, `${held} ports, ${several} of loops with several paths`);
});

test('the functions of the page are those of the data, by their own time', () =>
    onReport(browser, address, 'functions', async page => {
        const view = data.views.find(one => one.name === 'functions');
        const column = name => view.data[name];
        const order = Array.from({ length: view.row_n }, (_, i) => i).sort(
            (a, b) => column('exclusive_time_s').v[b] - column('exclusive_time_s').v[a],
        );
        const name = row => column('name').dict[column('name').i[row]];
        const shown = (await rowTexts(page, 0)).map(text => text.replace(/^[▸▾]\s*/, ''));
        assert.deepEqual(shown[0], name(order[0]));
        assert.deepEqual([...shown].sort(), order.map(name).sort());
        const times = (await rowTexts(page, 1)).map(text => Number.parseFloat(text));
        times.forEach((time, i) => {
            const wanted = column('exclusive_time_s').v[order[i]];
            assert.ok(Math.abs(time - wanted) <= 0.0006, `${time} is shown for ${wanted}`);
        });
    }));

test('without scripts the summary of the program is there', () =>
    onReport(
        browser,
        address,
        '',
        async page => assert.match(await page.locator('#plain').innerText(), /^Profile of /),
        { javaScriptEnabled: false },
    ));
