// SPDX-License-Identifier: Apache-2.0
// The built page in a real browser, from a file, as a reader uses it. A test fails if its page logs
// an error, breaks its policy or loads anything else.
//
// usage: node --test-reporter=tap page.test.mjs SHELL.html

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { largeDocument } from '../fixture/large.mjs';
import { smallDocument } from '../fixture/small.mjs';
import { faults, unseenFocus } from './access.mjs';
import { openBrowser } from './browser.mjs';
import { Reports } from './reports.mjs';
import { onReport as useReport, rowTexts, until } from './use.mjs';

const reports = new Reports(process.argv[2]);
const small = reports.of(smallDocument());
let browser;
let close;

before(async () => {
    ({ browser, close } = await openBrowser());
});
after(async () => {
    await close();
    reports.close();
});

const onReport = (...given) => useReport(browser, ...given);

const header = (page, title) =>
    page.getByRole('columnheader', { name: title }).first().getByRole('button');
const hash = page => page.evaluate(() => decodeURIComponent(location.hash));

const PAGES = [
    ...['summary', 'metrics', 'application', 'functions', 'loops', 'lines', 'calltree'],
    ...[
        'tried',
        'scalability',
        'stability',
        'comparison',
        'why',
        'trust',
        'expert',
        'parallel',
        'parallel?time=2.9..3.2',
        'over-time',
        'over-time?time=0.4..0.6',
        'simulation',
        'simulation?over=bandwidth_bps&simulated=5&time=1..3',
        'scaling',
        'roofline',
        'roofline?points=functions&cores=8',
        'machine',
        'experiment',
        'loop/12',
        'function/1',
    ],
    ...['bottom-up', 'flat', 'around', 'flame'].map(mode => `calltree?mode=${mode}`),
];

for (const path of PAGES)
    test(`page ${path} shows itself, to all, and breaks nothing`, () =>
        onReport(small, path, async page => {
            assert.ok((await page.locator('h1').innerText()).length > 2);
            assert.equal(await page.locator('main [role=alert]').count(), 0);
            assert.equal(await page.title(), 'heat 4000 800');
            assert.deepEqual(await faults(page), []);
            await page.getByLabel('Colours').selectOption('dark');
            assert.deepEqual(await faults(page, ['color-contrast', 'link-in-text-block']), []);
        }));

test('the keyboard reaches what there is, and where it is shows', () =>
    onReport(small, 'parallel', async page => {
        for (const path of ['parallel', 'loops', 'function/1', 'calltree?mode=flame']) {
            await page.goto(`${small}#/${path}`);
            await page.waitForSelector('main h1');
            assert.deepEqual(await unseenFocus(page, 40), []);
        }
    }));

test('points of a roofline are reached by keys, told, and lead to their pages', () =>
    onReport(small, 'roofline', async page => {
        const point = page.locator('.roof-point[tabindex="0"]').first();
        await point.focus();
        const told = () => page.evaluate(() => document.activeElement.getAttribute('aria-label'));
        assert.match(await told(), /^whole program: /);
        await page.keyboard.press('ArrowRight');
        assert.match(await told(), /^relax solver\.c:40: 60\.0 % of the time, 7\.20 \[/);
        await page.keyboard.press('End');
        assert.match(await told(), /above a measured ceiling/);
        await page.getByRole('radio', { name: 'Roofs of 1 core' }).click();
        assert.equal(await hash(page), '#/roofline?cores=1');
        await page.locator('.roof-point[tabindex="0"]').first().focus();
        await page.keyboard.press('Home');
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        assert.equal(await hash(page), '#/loop/12');
    }));

const timeline = page => ({
    told: () => page.locator('.flame-told').innerText(),
    picture: page.getByRole('application', { name: /What 4 threads did/ }),
    button: name => page.getByRole('button', { name, exact: true }),
});

test('a time line is zoomed by buttons, and the address has what it shows', () =>
    onReport(small, 'parallel', async page => {
        const { told, button } = timeline(page);
        assert.match(await told(), /^A column is 50\.0 ms/);
        for (const name of ['Zoom out', 'Earlier', 'Later', 'Whole run'])
            assert.ok(await button(name).isDisabled(), name);
        await button('Zoom in').click();
        assert.match(await told(), /^1\.500 s to 4\.500 s of 6\.00 s\. A column is 25\.0 ms/);
        assert.equal(await hash(page), '#/parallel?time=1.5..4.5');
        await button('Zoom in').click();
        assert.match(await told(), /^2\.250 s to 3\.750 s of 6\.00 s\. A column is 12\.5 ms/);
        const panel = page.locator('.panel', { has: page.locator('.trace-timeline') });
        assert.match(await panel.innerText(), /columns of 6\.25 ms: assay open --serve/);
        await button('Later').click();
        assert.equal(await hash(page), '#/parallel?time=3..4.5');
        await button('Earlier').click();
        await button('Zoom out').click();
        assert.equal(await hash(page), '#/parallel?time=1.5..4.5');
        await page.goBack();
        await until(async () => assert.equal(await hash(page), '#/parallel?time=2.25..3.75'));
        assert.match(await told(), /A column is 12\.5 ms/);
        await button('Whole run').click();
        assert.equal(await hash(page), '#/parallel');
        assert.match(await told(), /^A column is 50\.0 ms/);
    }));

test('a time line is zoomed by the keyboard alone', () =>
    onReport(small, 'parallel?time=1.5..4.5', async page => {
        const { told, picture } = timeline(page);
        await picture.focus();
        await page.keyboard.press('ArrowRight');
        assert.match(await told(), /^rank 0, 1\.525 s to 1\.550 s: waiting 100 %/);
        await page.keyboard.press('ArrowDown');
        for (let i = 0; i < 11; i++) await page.keyboard.press('Shift+ArrowRight');
        assert.match(await told(), /^1\.525 s to 1\.825 s chosen: Enter shows it closer/);
        await page.keyboard.press('Enter');
        assert.equal(await hash(page), '#/parallel?time=1.525..1.825');
        assert.match(await told(), /^1\.525 s to 1\.825 s of 6\.00 s\. A column is 12\.5 ms/);
        await page.keyboard.press('ArrowLeft'); // beyond the edge: the picture moves
        assert.equal(await hash(page), '#/parallel?time=1.375..1.675');
        assert.match(await told(), /^rank 0, 1\.513 s to 1\.525 s/);
        await page.keyboard.press('Escape');
        await page.keyboard.press('-');
        assert.equal(await hash(page), '#/parallel?time=1.225..1.825');
        await page.keyboard.press('+');
        assert.equal(await hash(page), '#/parallel?time=1.375..1.675');
        await page.keyboard.press('0');
        assert.equal(await hash(page), '#/parallel');
        await page.keyboard.press('Escape'); // there is nothing wider
        assert.equal(await hash(page), '#/parallel');
    }));

test('a span of a time line is drawn by the mouse', () =>
    onReport(small, 'parallel', async page => {
        const { told } = timeline(page);
        const canvas = page.locator('.trace-timeline canvas');
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();
        const at = share => box.x + 118 + share * (box.width - 118);
        await page.mouse.move(at(0.252), box.y + 30);
        assert.match(await told(), /^rank 0, 1\.50 s to 1\.55 s: /);
        await page.mouse.down();
        await page.mouse.move(at(0.498), box.y + 70, { steps: 4 });
        assert.match(await told(), /^1\.50 s to 3\.00 s chosen: let go/);
        await page.mouse.move(at(1.2), box.y + 500); // and back, from beyond the picture
        await page.mouse.move(at(0.498), box.y + 70);
        await page.mouse.up();
        assert.equal(await hash(page), '#/parallel?time=1.5..3');
        await page.mouse.move(at(0.5), box.y + 30);
        await page.mouse.down();
        await page.mouse.up(); // a click chooses nothing
        assert.equal(await hash(page), '#/parallel?time=1.5..3');
        assert.match(await told(), /^rank 0, 2\.25/);
    }));

/** Texts of the cells of a table in a panel, by rows. */
const tableTexts = (page, panel) =>
    page.$$eval(
        'main .panel',
        (panels, name) =>
            [...panels.find(one => one.ariaLabel === name).querySelectorAll('table tr')].map(row =>
                [...row.children].map(cell => cell.innerText.replace(/\s+/g, ' ').trim()),
            ),
        panel,
    );

test('factors of a scaling model stand by size, rated by shape, colour and tooltip', () =>
    onReport(small, 'scaling', async page => {
        const [head, ...rows] = await tableTexts(page, 'Factors by size');
        assert.deepEqual(head.slice(0, 2), ['Threads', '1 1 trace']);
        assert.deepEqual(head.slice(4, 6), ['8 3 traces', '16 projected']);
        // Amdahl's law with f = 0.97: 1 / 1.21 at 8, 1 / 1.45 at 16, 1 / 1.93 at 32.
        const balance = rows.find(([title]) => title === 'Load balance');
        assert.equal(balance[4], '82.6 % ● 79.3 to 86.0 %');
        assert.equal(balance[5], '69.0 % ▲ 59.3 to 78.6 %');
        assert.equal(balance[6], '51.8 % ■ 43.0 to 60.6 %');
        const ratings = await page.$$eval('.matrix tbody tr', trs =>
            [...trs[2].querySelectorAll('td')].map(td => [td.className, td.dataset.tip]),
        );
        assert.deepEqual(ratings[4], ['number fair', 'fair']);
        const titles = await page.locator('.factor-plot h3').allInnerTexts();
        assert.deepEqual(
            titles,
            rows.map(([title]) => title),
        );
        // Each plot has been drawn: some of its pixels are of the fit.
        const drawn = await page.$$eval(
            '.factor-plot canvas',
            all =>
                all.filter(canvas => {
                    const { width, height } = canvas;
                    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
                    for (let i = 0; i < pixels.length; i += 4)
                        if (pixels[i] === 0xb3 && pixels[i + 1] === 0x47 && pixels[i + 2] === 0)
                            return true;
                    return false;
                }).length,
        );
        assert.equal(drawn, titles.length);
    }));

test('a sweep is drawn over one setting or the other, and the address has which', () =>
    onReport(small, 'simulation', async page => {
        const legend = () =>
            page.$$eval('.u-legend .u-label', labels => labels.map(one => one.innerText));
        assert.deepEqual(await legend(), [
            'latency, logarithmic',
            ...['bandwidth 1.00 GB/s', 'bandwidth 10.0 GB/s', 'bandwidth no limit', 'recorded'],
        ]);
        await page
            .getByRole('region', { name: 'Sweep' })
            .getByRole('combobox')
            .selectOption('bandwidth_bps');
        await until(async () =>
            assert.deepEqual(await legend(), [
                'bandwidth, logarithmic',
                ...['latency 1.00 µs', 'latency 10.0 µs', 'latency 100 µs', 'recorded'],
            ]),
        );
        assert.equal(await hash(page), '#/simulation?over=bandwidth_bps');
        const rows = await tableTexts(page, 'Simulations');
        assert.deepEqual(rows[1].slice(0, 2), ['1: recorded', '6.000 s']);
        // 4 s of computing, 10,000 latencies of 100 µs, 1 GB at 10 GB/s.
        const row = rows.find(([run]) => run.startsWith('10:'));
        assert.deepEqual(row.slice(1, 4), ['5.100 s', '0.850×', '63.7 %']);
    }));

test('a simulated time line stands below the recorded one on the same axis', () =>
    onReport(small, 'simulation', async page => {
        const panel = page.locator('.panel', { has: page.locator('.before-after') });
        const told = () => panel.locator('.flame-told').innerText();
        const titles = () =>
            page.$$eval('.before-after figcaption', all => all.map(one => one.innerText));
        assert.deepEqual(await titles(), ['Recorded: run 1, 6.00 s', 'Simulated: run 3, 5.01 s']);
        assert.equal(await told(), 'Both from 0 s to 6.00 s.');
        await panel.getByRole('combobox').selectOption('5');
        await until(async () =>
            assert.deepEqual(await titles(), [
                'Recorded: run 1, 6.00 s',
                'Simulated: run 5, 4.01 s',
            ]),
        );
        assert.equal(await hash(page), '#/simulation?simulated=5');
        const button = name => panel.getByRole('button', { name, exact: true });
        assert.ok(await button('Zoom out').isDisabled());
        await button('Zoom in').click();
        await until(async () =>
            assert.equal(await told(), 'Both from 1.50 s to 4.50 s of 6.00 s.'),
        );
        // Rank 0 computes until 4 s in both: five sixths of the picture now.
        const ends = await page.$$eval('.before-after canvas', all =>
            all.map(canvas => {
                const { width } = canvas;
                const y = Math.round((18 + 4) * devicePixelRatio);
                const line = canvas.getContext('2d').getImageData(0, y, width, 1).data;
                const left = Math.round(118 * devicePixelRatio);
                const at = i => [0, 1, 2].map(k => line[4 * i + k]).join();
                let x = left + 1;
                while (x < width && at(x) === at(left + 1)) x++;
                return (x - left) / (width - left);
            }),
        );
        assert.equal(ends.length, 2);
        for (const end of ends) assert.ok(Math.abs(end - 5 / 6) < 0.01, ends.join());
        await page.getByRole('application', { name: /recorded and the simulated/ }).focus();
        await page.keyboard.press('0');
        await until(async () => assert.equal(await told(), 'Both from 0 s to 6.00 s.'));
        await page.keyboard.press('+');
        await page.keyboard.press('ArrowLeft');
        await until(async () =>
            assert.equal(await hash(page), '#/simulation?simulated=5&time=0.75..3.75'),
        );
    }));

test('instances of a loop are drawn, many rows stay folded, and estimates are marked', () =>
    onReport(small, 'loop/12', async page => {
        const panel = title =>
            page.locator('.panel', {
                has: page.getByRole('heading', { name: title, exact: true }),
            });
        const bars = panel('Instances by iterations');
        const line = panel('Instances over time');
        assert.equal(await bars.locator('.chart canvas').count(), 1);
        assert.equal(await line.locator('.chart canvas').count(), 1);
        assert.match(await line.locator('.u-legend').innerText(), /thread 4711[^]*thread 4712/);
        assert.match(await bars.innerText(), /40.000/);
        assert.equal(await line.locator('.grid').isVisible(), false);
        await line.getByText('All 100 of them').click();
        assert.equal(await line.locator('.grid').isVisible(), true);
        const facts = await page.locator('dl.facts').first().innerText();
        assert.match(facts, /Instances\s+~3.200.000/);
        await page.goto(`${small}#/loop/14`);
        await until(async () =>
            assert.match(await page.locator('dl.facts').first().innerText(), /Instances\s+800/),
        );
    }));

test('the page of trust holds the model, estimates and refusals to what was measured', () =>
    onReport(small, 'trust', async page => {
        const text = await page.locator('main').innerText();
        assert.match(text, /Model against measured\s+11\.9/);
        assert.match(text, /loop not timed\s+2\s/);
        assert.match(text, /loop not varied\s+1\s/);
        assert.match(text, /function not counted\s+1\s/);
        const models = page.locator('.grid').first().locator('.grid-body .grid-row');
        assert.equal(await models.count(), 2);
        const cells = await models.first().innerText();
        assert.match(cells, /heat\.c:\d+.*sweep/);
        assert.match(cells, /2\.50*\s+3\.750*\s+1\.5/);
        await page.goto(`${small}#/summary`);
        await page.getByText('4 of the loops and functions that were chosen').waitFor();
        assert.doesNotMatch(await page.locator('main').innerText(), /the jump over its header/);
        await page.getByRole('link', { name: 'why', exact: true }).click();
        await page.waitForFunction(() => location.hash.startsWith('#/trust'));
    }));

test('loops stand with what their variants took, their buckets below, and doubts marked', () =>
    onReport(small, 'why', async page => {
        const cell = async (row, title) => {
            const titles = await page.getByRole('columnheader').allInnerTexts();
            const at = titles.findIndex(text => text.startsWith(title));
            return (await rowTexts(page, at))[row].replace(/\s+/g, ' ');
        };
        assert.equal(await page.locator('.grid-body .grid-row').count(), 2);
        assert.equal(await cell(0, 'Analysis'), 'RAM bound, high');
        assert.equal(await cell(0, 'ORIG / DL1'), '3.20');
        assert.equal(await cell(0, 'LS'), '7.50');
        assert.match(await cell(1, 'ORIG'), /^1\.02|^2\.00 !?$/);
        assert.match(await cell(1, 'FP'), /^0\.500 !$/);
        assert.equal((await page.locator('.cell-number.poor').count()) > 0, true);
        await page.getByRole('button', { name: 'Expand', exact: true }).click();
        assert.match((await rowTexts(page, 0))[2], /512 to 1023 iterations/);
        assert.equal(await cell(2, 'Analysis'), 'latency bound, medium');
        assert.equal(await cell(2, 'LS'), '15.0');
    }));

test('the page of a loop has its verdict with the numbers of each bucket', () =>
    onReport(small, 'loop/12', async page => {
        const panel = page.locator('.panel', {
            has: page.getByRole('heading', { name: 'Why it takes its time' }),
        });
        const text = await panel.innerText();
        assert.match(text, /RAM bound · confidence high/i);
        assert.match(text, /with its data in L1 an iteration takes 2\.50 cycles/);
        assert.match(text, /LS\s+loads and stores without arithmetic\s+7\.50\s/);
        assert.match(text, /ORIG \/ DL1\s+3\.20/);
        await panel.getByRole('combobox').selectOption('512 to 1023 iterations');
        await until(async () => assert.match(await panel.innerText(), /latency bound/i));
        assert.match(await panel.innerText(), /LS\s+loads and stores without arithmetic\s+15\.0\s/);
        assert.equal(await page.getByText('Cycles without').count(), 0);
        const line = page.locator('svg.timeline');
        assert.match(await line.getAttribute('aria-label'), /2 executions in 10 cycles/);
        assert.equal(await line.locator('rect.run').count(), 2);
    }));

test('a table sorts by its headers, and back goes back', () =>
    onReport(small, 'functions', async page => {
        assert.equal((await rowTexts(page, 0))[0].includes('sweep'), true);
        await header(page, 'Function').click();
        assert.match((await rowTexts(page, 0))[0], /__memset/);
        const sorted = page.getByRole('columnheader', { name: 'Function' }).first();
        assert.equal(await sorted.getAttribute('aria-sort'), 'ascending');
        await header(page, 'Function').click();
        assert.match((await rowTexts(page, 0))[0], /vfprintf/);
        await page.goBack();
        await until(async () => assert.match((await rowTexts(page, 0))[0], /__memset/));
        await page.goForward();
        await until(async () => assert.match((await rowTexts(page, 0))[0], /vfprintf/));
    }));

test('inlined functions stand apart, and count to what they are inlined into when asked', () =>
    onReport(small, 'functions', async page => {
        const all = async () => (await rowTexts(page, 0)).map(text => text.replace(/^\W+/, ''));
        const own = async name => {
            const row = page.locator('.grid-body .grid-row', { hasText: name });
            return (await row.first().innerText()).match(/([\d.]+)\s*%?/g);
        };
        assert.equal((await all()).filter(name => name.endsWith(' (inlined)')).length, 1);
        const before = await own('sweep');
        const box = page.getByLabel('Show inlined functions');
        assert.equal(await box.isChecked(), true);
        await box.uncheck();
        await until(async () =>
            assert.equal((await all()).filter(name => name.endsWith(' (inlined)')).length, 0),
        );
        assert.notDeepEqual(await own('sweep'), before);
        assert.match(await hash(page), /inlined=folded/);
        for (const mode of ['top-down', 'bottom-up', 'flat', 'around', 'flame']) {
            await page.goto(`${small}#/calltree?mode=${mode}`);
            await page.getByLabel('Show inlined functions').uncheck();
            await page.waitForFunction(() => location.hash.includes('inlined=folded'));
        }
        await page.goto(`${small}#/calltree?mode=flat`);
        await until(async () => assert.match((await all()).join('\n'), / \(inlined\)/));
        await page.getByLabel('Show inlined functions').uncheck();
        await until(async () => assert.doesNotMatch((await all()).join('\n'), /inlined/));
        await page.getByLabel('Show inlined functions').check();
        await until(async () => assert.match((await all()).join('\n'), / \(inlined\)/));
    }));

test('the page of a function says where it is inlined and what is inlined into it', () =>
    onReport(small, 'function/10', async page => {
        assert.match(await page.locator('h1').innerText(), /\(inlined\)$/);
        const into = page.getByRole('table', { name: 'Inlined into' });
        assert.match(await into.innerText(), /0\.1\d? %.*sweep\._omp_fn\.0/s);
        await into.getByRole('link').click();
        const here = page.getByRole('table', { name: 'Inlined here' });
        await here.waitFor();
        assert.match(await here.innerText(), /\(inlined\)/);
        assert.equal(await page.getByRole('table', { name: 'Inlined into' }).count(), 0);
    }));

test('a filter by words and conditions, and what is wrong with one is said', () =>
    onReport(small, 'functions', async page => {
        const field = page.getByLabel('Filter Functions');
        await field.fill('module=heat own>1');
        assert.deepEqual(
            (await rowTexts(page, 0)).map(text => text.replace(/^\W+/, '')),
            ['sweep._omp_fn.0', 'total_heat'],
        );
        await page.waitForFunction(() => location.hash.includes('q='));
        assert.match(await hash(page), /q=module=heat\+own>1/);
        await field.fill('speed>1');
        assert.match(await page.getByRole('status').first().innerText(), /no column “speed”/);
        await field.fill('nothing has this');
        assert.match(await page.locator('.grid').innerText(), /No row matches/);
    }));

test('rows open and close, by click and all at once', () =>
    onReport(small, 'functions', async page => {
        assert.equal(await page.locator('[aria-level="2"]').count(), 0);
        await page.getByRole('row', { name: /sweep/ }).getByLabel('Expand').click();
        assert.equal(await page.locator('[aria-level="2"]').count(), 1);
        await page.getByRole('button', { name: 'Expand all' }).click();
        assert.equal(await page.locator('[aria-level="3"]').count(), 2);
        await page.getByRole('button', { name: 'Collapse' }).first().click();
        assert.equal(await page.locator('[aria-level="2"]').count(), 0);
    }));

test('the hot path leads to the hottest loop', () =>
    onReport(small, 'functions', async page => {
        await page.getByRole('button', { name: 'Hot path' }).click();
        const active = page.locator('.grid-row.active');
        await active.waitFor();
        assert.match(await active.innerText(), /loop 12/);
    }));

test('columns are chosen, and the choice is in the address', () =>
    onReport(small, 'functions', async page => {
        assert.equal(await page.getByRole('columnheader', { name: 'Compiler' }).count(), 0);
        await page.getByRole('button', { name: 'Columns' }).click();
        await page.getByRole('checkbox', { name: 'Compiler' }).check();
        assert.equal(await page.getByRole('columnheader', { name: 'Compiler' }).count(), 1);
        assert.match(await hash(page), /cols=.*compiler/);
        await page.keyboard.press('Escape');
        assert.equal(await page.locator('.menu-panel').count(), 0);
    }));

test('rows are gathered under the values of a column', () =>
    onReport(small, 'functions', async page => {
        await page.getByLabel('Group by').selectOption({ label: 'Module' });
        assert.match((await rowTexts(page, 0))[0], /heat \(5\)/);
        await page.getByLabel('Expand').first().click();
        assert.match((await rowTexts(page, 0))[1], /sweep/);
    }));

test('what is shown is saved as CSV', () =>
    onReport(small, 'functions?q=module%3Dheat&cols=module', async page => {
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: 'CSV' }).click();
        const file = await download;
        const lines = readFileSync(await file.path(), 'utf8')
            .trim()
            .split('\r\n');
        assert.equal(lines[0], 'level,name,module');
        assert.equal(lines[1], '1,sweep._omp_fn.0,heat');
        assert.equal(lines.length, 6);
    }));

test('few samples are marked, and the mark tells why', () =>
    onReport(small, 'functions', async page => {
        const row = page.getByRole('row', { name: /set_edges/ });
        const mark = row.locator('abbr').first();
        assert.equal(await mark.innerText(), '?');
        await mark.hover();
        await page.locator('#tip:not([hidden])').waitFor();
        assert.match(await page.locator('#tip').innerText(), /few samples: measured, n = 21/);
        assert.equal(await page.getByRole('row', { name: /sweep/ }).locator('abbr').count(), 0);
    }));

test('a header tells what its column means', () =>
    onReport(small, 'functions', async page => {
        await header(page, 'Own time').hover();
        await page.locator('#tip:not([hidden])').waitFor();
        assert.match(await page.locator('#tip').innerText(), /without|itself/);
    }));

test('from a finding to the loop to the source line and its instructions', () =>
    onReport(small, 'summary', async page => {
        await page.locator('.finding').first().getByRole('link').click();
        await page.locator('h1', { hasText: 'loop 12' }).waitFor();
        const source = page.getByRole('listbox', { name: 'Source' });
        await source.locator('.pane-line', { hasText: 'double change = fabs' }).click();
        const pinned = page.getByRole('listbox', { name: 'Assembly' }).locator('.pinned');
        assert.equal(await pinned.count(), 2);
        assert.match(await pinned.first().innerText(), /vsubpd/);
        assert.match(await hash(page), /at=0:24/);
        await page.goBack();
        await page.locator('.finding').nth(2).waitFor();
    }));

test('a comparison says what else differs beside the times', () =>
    onReport(small, 'comparison', async page => {
        const around = page.locator('.panel', { hasText: 'Differences of the environment' });
        const variable = around.locator('tr', { hasText: 'OMP_NUM_THREADS' });
        assert.deepEqual(await variable.locator('td').allInnerTexts(), [
            'environment',
            '2',
            'not set',
        ]);
        assert.match(
            await around.innerText(),
            /libm\.so\.6 1f2e3d4c5b6a\s+libm\.so\.6 0a1b2c3d4e5f/,
        );
        const row = page.locator('.grid-row', { hasText: 'sweep' });
        assert.match(
            await row.innerText(),
            /-O2 -> -O3; packed arithmetic 0 -> 96 %; 120 -> 96 instructions/,
        );
        assert.doesNotMatch(
            await page.locator('.grid-row', { hasText: 'total_heat' }).innerText(),
            /->/,
        );
    }));

test('findings stand in the order of the data, three first', () =>
    onReport(small, 'summary', async page => {
        const texts = () => page.locator('.finding p:nth-of-type(2)').allInnerTexts();
        assert.equal((await texts()).length, 3);
        assert.match((await texts())[0], /bound by memory/);
        await page.getByRole('button', { name: 'Show all 8' }).click();
        assert.match((await texts())[6], /Hint of rank 7/);
        assert.match((await texts())[7], /Hint of rank 8/);
        assert.match(
            await page.locator('.finding').nth(1).innerText(),
            /assay show \S+ --view threads/,
        );
    }));

test('source and assembly light up together on hover', () =>
    onReport(small, 'loop/12', async page => {
        const code = page.getByRole('listbox', { name: 'Assembly' });
        await code.locator('.pane-line', { hasText: 'vmaxpd' }).hover();
        const linked = page.getByRole('listbox', { name: 'Source' }).locator('.linked');
        assert.match(await linked.innerText(), /if \(change > largest\)/);
    }));

test('a link opens exactly what it was taken from', () =>
    onReport(small, 'functions?open=f1,l11&sort=name&row=l13', async page => {
        assert.match(await page.locator('.grid-row.active').innerText(), /loop 13/);
        assert.equal(await page.locator('[aria-level="3"]').count(), 2);
    }));

test('the table is used by keyboard alone', () =>
    onReport(small, 'functions', async page => {
        await page.locator('.grid').focus();
        const active = () => page.locator('.grid-row.active').innerText();
        await page.keyboard.press('ArrowDown');
        assert.match(await active(), /sweep/);
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        assert.match(await active(), /loop 11/);
        await page.keyboard.press('ArrowLeft');
        assert.match(await active(), /sweep/);
        await page.keyboard.press('End');
        assert.match(await active(), /vfprintf/);
        const id = await page.locator('.grid').getAttribute('aria-activedescendant');
        assert.match(await page.locator(`#${id}`).innerText(), /vfprintf/);
        await page.keyboard.press('Home');
        await page.keyboard.press('i');
        await page.getByRole('complementary').waitFor();
        assert.match(await page.getByRole('complementary').innerText(), /n = 14.900/);
        await page.keyboard.press('Enter');
        await page.locator('h1', { hasText: 'sweep' }).waitFor();
    }));

test('slash leads to any function or loop', () =>
    onReport(small, 'summary', async page => {
        await page.keyboard.press('/');
        await page.keyboard.type('total_h');
        await page.getByRole('option').first().waitFor();
        await page.keyboard.press('Enter');
        await page.locator('h1', { hasText: 'total_heat' }).waitFor();
    }));

test('the flame graph zooms, searches and walks by keys', () =>
    onReport(small, 'calltree?mode=flame', async page => {
        const box = page.getByRole('application');
        await box.focus();
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
        assert.match(await page.locator('.flame-told').innerText(), /sweep\._omp_fn\.0: 26\.1 s/);
        await page.keyboard.press('Enter');
        assert.match(await hash(page), /zoom=7/);
        await page.keyboard.press('Escape');
        assert.match(await hash(page), /zoom=6/);
        await page.goBack();
        await until(async () => assert.match(await hash(page), /zoom=7/));
        await page.getByLabel('Search in the flame graph').fill('barrier');
        assert.match(await page.getByRole('status').innerText(), /Matched: 6\.80 s, 17\.0 %/);
    }));

test('the call tree opens along the hot path, and stays closed when it is closed', () =>
    onReport(small, 'calltree', async page => {
        const names = async () => (await rowTexts(page, 0)).map(text => text.replace(/^\W+/, ''));
        // The start of threads has most of all, and what it calls is open.
        assert.deepEqual((await names()).slice(0, 2), ['gomp_thread_start', 'sweep._omp_fn.0']);
        assert.ok((await page.locator('[aria-level="2"]').count()) >= 2);
        await page.getByRole('button', { name: 'Collapse', exact: true }).first().click();
        assert.equal(await page.locator('[aria-level="2"]').count(), 0);
        assert.match(await hash(page), /open=-/);
        await page.reload();
        await page.waitForSelector('html[data-ready]');
        assert.equal(await page.locator('[aria-level="2"]').count(), 0);
    }));

test('page faults are in what they interrupted until they are asked for', () =>
    onReport(small, 'calltree?open=*', async page => {
        const count = name => page.locator('.grid-row', { hasText: name }).count();
        assert.equal(await count('asm_exc_page_fault'), 0);
        assert.equal(await count('clear_page_erms'), 0); // below one
        assert.equal(await count('sweep'), 2); // of main, from two places, and of a thread
        const memset = page.getByRole('row', { name: /__memset/ });
        assert.match(await memset.innerText(), /1\.62/); // 420 of its own and 390 below the fault
        const choice = page.getByLabel(/Show interrupts and page faults/);
        const label = page.locator('label', { hasText: 'Show interrupts' });
        assert.match(await label.innerText(), /810 ms, .* 405 samples in what they interrupted/);
        await choice.check();
        assert.match(await hash(page), /entries=shown/);
        await page.getByRole('button', { name: 'Expand all' }).click();
        assert.equal(await count('asm_exc_page_fault'), 2); // one of memset, one of sweep
        assert.equal(await count('clear_page_erms'), 1);
        await page.getByLabel('Show each call site apart').check();
        await page.getByRole('button', { name: 'Expand all' }).click();
        assert.equal(await count('asm_exc_page_fault'), 3);
        assert.equal(await count('sweep'), 3);
        await page.getByRole('radio', { name: 'Flat' }).click();
        assert.equal(await page.getByLabel('Show each call site apart').count(), 0);
        assert.equal(await count('clear_page_erms'), 1); // each function for itself
    }));

test('a bar of shares is as long as each share', () =>
    onReport(small, 'summary', async page => {
        const parts = await page.$$eval('.category-part', all =>
            all.map(one => [one.getBoundingClientRect().width, one.dataset.tip]),
        );
        const all = parts.reduce((sum, [width]) => sum + width, 0);
        const shares = parts.map(([, tip]) => Number(/: ([\d.]+)/.exec(tip)[1]));
        const known = shares.reduce((sum, share) => sum + share, 0);
        assert.ok(Math.min(...shares) < 2); // which a padding would make longer
        parts.forEach(([width, tip], i) =>
            assert.ok(Math.abs((100 * width) / all - (100 * shares[i]) / known) < 0.3, tip),
        );
    }));

test('the summary leads to the hottest functions and loops', () =>
    onReport(small, 'summary', async page => {
        const first = title =>
            page.getByRole('table', { name: title }).getByRole('row').first().innerText();
        assert.match(await first('Hottest functions'), /74\.5 %\s+29\.8 s\s+sweep\._omp_fn\.0/);
        assert.match(await first('Hottest loops'), /loop 12/);
        await page.getByRole('table', { name: 'Hottest loops' }).getByRole('link').first().click();
        assert.match(await hash(page), /loop\/12/);
    }));

test('a name that does not fit keeps its function, and is whole when pointed at', async () => {
    const long = smallDocument();
    const names = long.views.find(view => view.name === 'functions').data.name;
    const whole =
        'double solver::detail::Sparse<double, std::allocator<double>, 7>::apply<std::negate<' +
        'double> >(std::vector<double> const&, std::vector<double>&) const';
    names.dict[names.i[0]] = whole;
    await onReport(reports.of(long), 'functions', async page => {
        const cell = page.locator('.grid-row .cell-text.mono', { hasText: 'apply' });
        const text = await cell.innerText();
        assert.match(text, /Sparse.*::apply/);
        assert.ok(text.length < 60, text);
        const [wide, room] = await cell.evaluate(one => [one.scrollWidth, one.clientWidth]);
        assert.ok(wide <= room, 'the short name is cut');
        await cell.hover();
        await until(async () => assert.equal(await page.locator('#tip').innerText(), whole));
    });
});

test('what objects could give is drawn where it is something', async () => {
    const nothing = smallDocument();
    nothing.what_ifs = nothing.what_ifs.map(one => ({
        ...one,
        cumulative: one.cumulative.map(() => 1),
    }));
    await onReport(reports.of(nothing), 'metrics', async page => {
        assert.equal(await page.getByLabel('Cumulative gain curves').count(), 0);
        assert.match(await page.locator('main').innerText(), /None of what objects could give/);
    });
});

test('dark and light follow the system and the switch', async () => {
    const ground = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await onReport(
        small,
        'metrics',
        async page => {
            const dark = await ground(page);
            await page.getByLabel('Colours').selectOption('light');
            const light = await ground(page);
            assert.notEqual(dark, light);
            await page.reload();
            await page.waitForSelector('html[data-ready]');
            assert.equal(await ground(page), light);
        },
        { colorScheme: 'dark' },
    );
});

test('on paper there are the summary and the first rows', () =>
    onReport(small, 'calltree', async page => {
        await page.emulateMedia({ media: 'print' });
        const paper = page.locator('#paper');
        await paper.getByText('Recommendations').waitFor();
        assert.equal(await page.locator('#report').isVisible(), false);
        assert.equal(await paper.getByText('loop 11').first().isVisible(), true);
        const pdf = await page.pdf();
        assert.equal(pdf.subarray(0, 4).toString(), '%PDF');
        assert.ok(pdf.length > 20_000);
    }));

const damaged = {
    'cut short': html => html.replace(/(id="assay-data"[^>]*>[^<]{2000})[^<]*/, '$1'),
    'not base64': html => html.replace(/(id="assay-data"[^>]*>)[^<]*/, '$1***'),
    empty: html => html.replace(/(id="assay-data"[^>]*>)[^<]*/, '$1'),
};
for (const [how, damage] of Object.entries(damaged))
    test(`a data slot that is ${how} is said in a sentence`, async () => {
        const html = readFileSync(new URL(small), 'utf8');
        await onReport(reports.write(damage(html)), '', async page => {
            const text = await page.getByRole('alert').innerText();
            assert.match(text, /damaged|has no data/);
        });
    });

test('a report with nothing in it says so on every page', async () => {
    const empty = reports.of({ schema: 1, title: 'nothing' });
    for (const path of [
        'summary',
        'metrics',
        'application',
        'functions',
        'calltree',
        'loop/1',
        'x',
    ])
        await onReport(empty, path, async page => {
            assert.ok((await page.locator('main').innerText()).length > 20);
            assert.equal(await page.locator('main [role=alert]').count(), 0);
        });
});

test('data that is not as expected costs one page, not the report', async () => {
    const broken = reports.of({ ...smallDocument(), metrics: [null] });
    await onReport(broken, 'metrics', async page => {
        assert.match(await page.getByRole('alert').innerText(), /cannot be shown/);
        await page.getByRole('link', { name: 'Functions' }).click();
        await until(async () => assert.equal(await page.locator('.grid').count(), 1));
    });
});

test('without scripts there is the summary as text', () =>
    onReport(
        small,
        '',
        async page => {
            assert.match(await page.locator('#plain').innerText(), /Summary of heat/);
        },
        { javaScriptEnabled: false },
    ));

test('names that look like markup stay text', async () => {
    const document = smallDocument();
    const name = '<img src=x onerror=alert(1)></script>';
    document.views[0].data.name.dict[0] = name;
    document.sources[0].lines[21] = name;
    document.code[0].text[8] = name;
    document.title = name;
    await onReport(reports.of(document), 'loop/12', async page => {
        assert.equal(await page.locator('img[src=x]').count(), 0);
        assert.ok((await page.locator('.pane').first().innerText()).includes('onerror'));
        assert.equal(await page.title(), name);
    });
});

test('20,000 loops: few rows are in the page, and the last is reached', async () => {
    const large = reports.of(largeDocument({ codeCount: 20, pathCount: 2_000 }));
    await onReport(large, 'loops?shape=nested', async page => {
        await page.getByRole('button', { name: 'Expand all' }).click();
        const grid = page.locator('.grid');
        assert.equal(await grid.getAttribute('aria-rowcount'), '20001');
        assert.ok((await page.locator('.grid-row').count()) < 120);
        await grid.focus();
        await page.keyboard.press('End');
        await page.locator('[aria-rowindex="20001"]').waitFor();
        assert.equal(await page.locator('.grid-row.active').getAttribute('aria-rowindex'), '20001');
        await header(page, 'Own time').click();
        assert.match(await page.getByRole('status').innerText(), /20.000 rows/);
    });
});
