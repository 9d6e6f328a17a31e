// SPDX-License-Identifier: Apache-2.0
// The time line that `assay open TRACE --serve` shows, of a trace made here: what is written into
// the trace is what the page shows. A page that logs an error or asks another server fails.
//
// usage: ASSAY=... node --test-reporter=tap timeline.test.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faults, unseenFocus } from './access.mjs';
import { PATIENCE_MS, openBrowser } from './browser.mjs';
import { until } from './use.mjs';

const RANKS = 8;
const LATE = 5; // computes for the whole step; the others wait for it
const STEPS = 80;
const STEP_NS = 100_000;
const WORK_NS = 60_000;
const CALL_NS = 40_000;
const END_NS = STEPS * STEP_NS;
const LEFT_PX = 128; // of labels, as the page has it
const TOP_PX = 20;
const LATE_MS = 1500; // of an answer: longer than the page waits before it asks for a table

const folder = mkdtempSync(join(tmpdir(), 'assay-timeline-'));
const trace = join(folder, 'ring.prv');
let server;
let address;
let browser;
let close;

/** Each step: work, a message to the next rank, an operation of all until the step ends. */
function lines() {
    const all = [];
    for (let step = 0; step < STEPS; step++)
        for (let rank = 0; rank < RANKS; rank++) {
            const begin = step * STEP_NS;
            const who = `0:1:${rank + 1}:1`;
            const to = ((rank + 1) % RANKS) + 1;
            const call = begin + (rank === LATE ? STEP_NS - 2000 : WORK_NS);
            all.push([begin, `1:${who}:${begin}:${call}:1`]);
            all.push([call, `1:${who}:${call}:${begin + STEP_NS}:13`]);
            all.push([call, `2:${who}:${call}:50000002:10:70000001:${(rank % 2) + 1}`]);
            all.push([begin + STEP_NS, `2:${who}:${begin + STEP_NS}:50000002:0`]);
            all.push([
                begin,
                `3:${who}:${begin}:${begin}:0:1:${to}:1:${begin + 1000}:${begin + 1000}:64:0`,
            ]);
        }
    return all.sort((a, b) => a[0] - b[0]).map(([, text]) => text);
}

function writeTrace() {
    const places = Array(RANKS).fill('1:1').join(',');
    const head = `#Paraver (01/01/2026 at 00:00):${END_NS}_ns:1(${RANKS}):1:${RANKS}(${places}),0`;
    writeFileSync(trace, [head, ...lines(), ''].join('\n'));
    writeFileSync(
        join(folder, 'ring.pcf'),
        [
            'STATES\n0    Idle\n1    Running\n13    Group Communication\n',
            'EVENT_TYPE\n9    50000002    MPI Collective Comm',
            'VALUES\n10    MPI_Allreduce\n0    End\n',
            'EVENT_TYPE\n0    70000001    Caller\nVALUES\n1    solve\n2    exchange\n',
        ].join('\n'),
    );
    const names = Array.from({ length: RANKS }, (_, rank) => `Rank ${rank}`);
    writeFileSync(join(folder, 'ring.row'), `LEVEL THREAD SIZE ${RANKS}\n${names.join('\n')}\n`);
}

before(async () => {
    writeTrace();
    server = spawn(process.env.ASSAY, ['open', trace, '--serve'], { stdio: 'pipe' });
    address = await new Promise((done, failed) => {
        let told = '';
        server.stdout.on('data', text => {
            told += text;
            if (told.includes('\n')) done(told.split('\n')[0]);
        });
        server.on('exit', status => failed(new Error(`assay open ended with ${status}`)));
    });
    ({ browser, close } = await openBrowser());
});
after(async () => {
    await close?.();
    server?.kill('SIGINT');
    rmSync(folder, { recursive: true, force: true });
});

async function onTimeline(hash, use, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1400, height: 900 },
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
        const isOurs = request.url().startsWith(address) || request.url().startsWith('blob:');
        if (!isOurs) wrong.push(`asked for ${request.url()}`);
    });
    try {
        await page.goto(`${address}${hash}`);
        await page.waitForSelector('html[data-drawn=true]');
        await use(page);
        assert.deepEqual(wrong, []);
    } finally {
        await context.close();
    }
}

/** Shares of the colours of Running and Group Communication in the row of a rank. */
const coloursOf = async (page, rank) => {
    const [running, group] = await sharesOf(page, rank, ['--category-4', '--category-2']);
    return { running, group };
};

/** Shares of colours in the row of a rank. */
const sharesOf = (page, rank, names) =>
    page.evaluate(
        ([row, rows, left, top, names]) => {
            const canvas = document.querySelector('.picture canvas');
            const rowPx = Math.min(24, Math.floor((canvas.clientHeight - top) / rows));
            const y = top + row * rowPx;
            const scale = canvas.width / canvas.clientWidth;
            const copy = document.createElement('canvas');
            copy.width = canvas.width;
            copy.height = canvas.height;
            const context = copy.getContext('2d', { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            const { data } = context.getImageData(
                left * scale,
                y * scale,
                canvas.width - left * scale,
                (rowPx - 1) * scale,
            );
            const pixel = name => {
                const one = document.createElement('canvas').getContext('2d');
                one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
                one.fillRect(0, 0, 1, 1);
                return one.getImageData(0, 0, 1, 1).data;
            };
            const shareOf = name => {
                const colour = pixel(name);
                let n = 0;
                for (let i = 0; i < data.length; i += 4)
                    n += data[i] === colour[0] && data[i + 1] === colour[1];
                return (4 * n) / data.length;
            };
            return names.map(shareOf);
        },
        [rank, RANKS, LEFT_PX, TOP_PX, names],
    );

const spanOf = async page => {
    const params = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    return [Number(params.get('from')), Number(params.get('to'))];
};
const boxOf = page => page.locator('.picture canvas').boundingBox();

for (const colorScheme of ['light', 'dark'])
    test(`the first picture shows the late rank, ${colorScheme}`, () =>
        onTimeline(
            '#messages=0',
            async page => {
                const late = await coloursOf(page, LATE);
                assert.ok(late.running > 0.9, JSON.stringify(late));
                for (const rank of [0, 3, LATE + 1]) {
                    const { running, group } = await coloursOf(page, rank);
                    assert.ok(Math.abs(running - 0.6) < 0.06, `rank ${rank}: ${running}`);
                    assert.ok(Math.abs(group - 0.4) < 0.06, `rank ${rank}: ${group}`);
                }
            },
            { colorScheme },
        ));

// A rank runs for 60 % of the time and waits for 40 %. A pixel is about a third of a step. One with
// both states becomes one of them, which adds about a third to the share of that state.
test('a draw mode chooses one state for each pixel', () =>
    onTimeline(
        `#messages=0&from=0&to=${END_NS}`,
        async page => {
            const menu = page.getByLabel('Pixel');
            assert.equal(await menu.inputValue(), 'mean');
            const sharesIn = async (mode, isRight) => {
                await menu.selectOption(mode);
                await until(async () => {
                    const shares = await coloursOf(page, 0);
                    assert.ok(isRight(shares), `${mode}: ${JSON.stringify(shares)}`);
                });
                await until(async () => {
                    const hash = await page.evaluate(() => location.hash);
                    assert.match(hash, new RegExp(`mode=${mode}(&|$)`));
                });
            };
            // Group Communication is 13, Running 1
            await sharesIn('draw_maximum', shares => shares.group > 0.65);
            await sharesIn('draw_minnotzero', shares => shares.running > 0.85);
            await sharesIn('draw_random', ({ running, group }) => running > 0.4 && group > 0.1);
        },
        { viewport: { width: 400, height: 900 } },
    ));

test('the table has the times of the trace, and a cell leads to where they are', () =>
    onTimeline('', async page => {
        const row = rank => page.locator('.times tbody tr').nth(rank + 1);
        assert.match(await row(0).innerText(), /^Rank 0\s+60\.0 %\s+40\.0 %$/);
        assert.match(await row(LATE).innerText(), /^Rank 5\s+98\.0 %\s+2\.0 %$/);
        await row(2).locator('button').nth(1).click();
        await until(async () =>
            assert.match(
                await page.evaluate(() => location.hash),
                new RegExp(`at=2\\.\\.${WORK_NS}(&|$)`),
            ),
        );
        const marked = await page.locator('section[aria-label="Marked place"]').innerText();
        assert.match(marked, /Rank 2/);
    }));

test('the cursor says who, what, when, for how long, and the caller', () =>
    onTimeline('', async page => {
        const box = await boxOf(page);
        const at = 3 * STEP_NS + WORK_NS + CALL_NS / 2;
        const x = box.x + LEFT_PX + (at / END_NS) * (box.width - LEFT_PX);
        await page.mouse.move(x, box.y + TOP_PX + 24 * 3 + 8);
        await until(async () => {
            const told = await page.locator('.told').innerText();
            assert.match(told, /^Rank 3 at 3(79|80|81)/);
            assert.match(told, /Group Communication: 360\.0 µs to 400\.0 µs \(40\.00 µs\)/);
            assert.match(told, /MPI Collective Comm: MPI_Allreduce/);
            assert.match(told, /Caller: exchange/);
        });
    }));

test('the wheel zooms at the pointer, undo shows what was before, a drag moves', () =>
    onTimeline('', async page => {
        const box = await boxOf(page);
        const middle = box.x + LEFT_PX + (box.width - LEFT_PX) / 2;
        await page.mouse.move(middle, box.y + 60);
        await page.mouse.wheel(0, -600);
        await until(async () => {
            const [from, to] = await spanOf(page);
            assert.ok(to - from < END_NS / 2, `${from} ${to}`);
            assert.ok(Math.abs((from + to) / 2 - END_NS / 2) < END_NS / 100, `${from} ${to}`);
        });
        const zoomed = await spanOf(page);
        await page.mouse.down();
        await page.mouse.move(middle - 200, box.y + 60, { steps: 4 });
        await page.mouse.up();
        await until(async () => assert.ok((await spanOf(page))[0] > zoomed[0]));
        const panned = await spanOf(page);
        assert.equal(panned[1] - panned[0], zoomed[1] - zoomed[0]);
        await page.locator('.picture').focus();
        await page.keyboard.press('u');
        await until(async () => assert.deepEqual(await spanOf(page), zoomed));
        await page.keyboard.press('u');
        await until(async () => assert.deepEqual(await spanOf(page), [0, END_NS]));
    }));

test('events are drawn when they arrive', () =>
    onTimeline('#messages=0', async page => {
        assert.deepEqual(await sharesOf(page, 0, ['--text']), [0]);
        await page.route('**/events?*', async route => {
            await new Promise(done => setTimeout(done, LATE_MS));
            await route.continue();
        });
        await page.getByLabel('Events').selectOption('50000002');
        await until(async () => assert.ok((await sharesOf(page, 0, ['--text']))[0] > 0.01));
    }));

test('a link shows its part; the keys zoom and go to the next event', () =>
    onTimeline(`#from=${2 * STEP_NS}&to=${4 * STEP_NS}&event=50000002`, async page => {
        await page.locator('.picture').focus();
        await page.keyboard.press('n');
        const at = /at=(\d+)\.\.(\d+)/;
        const found = async () => at.exec(await page.evaluate(() => location.hash)) ?? [];
        await until(async () => assert.equal((await found())[2], String(2 * STEP_NS)));
        await page.keyboard.press('n');
        await until(async () => assert.equal((await found())[2], String(2 * STEP_NS + WORK_NS)));
        await page.keyboard.press('p');
        await until(async () => assert.equal((await found())[2], String(2 * STEP_NS)));
        await page.keyboard.press('+');
        await until(async () => {
            const [from, to] = await spanOf(page);
            assert.equal(to - from, STEP_NS);
        });
        await page.keyboard.press('0');
        await until(async () => assert.deepEqual(await spanOf(page), [0, END_NS]));
    }));

test('a region is that of the tables', () =>
    onTimeline(`#region=0..${WORK_NS}`, async page => {
        const row = page.locator('.times tbody tr').nth(1);
        assert.match(await row.innerText(), /^Rank 0\s+100 %/);
        const messages = page.locator('section[aria-label="Messages"]');
        await until(async () => assert.match(await messages.innerText(), /8 messages, 512 B/));
        await page.getByRole('button', { name: 'Zoom to region' }).click();
        await until(async () => assert.deepEqual(await spanOf(page), [0, WORK_NS]));
    }));

test('a metric of numbers is computed by the engine when it is chosen', () =>
    onTimeline('', async page => {
        await page.getByLabel('Metric').selectOption('parallelism');
        const row = page.locator('.times tbody tr').first();
        await until(async () => {
            // 7 ranks run for 60 of 100, one for 98: on average 5.18; 8 at most, 0 at least
            assert.match(await row.innerText(), /5\.180\s+8\.000\s+0/);
        });
        await page.waitForSelector('html[data-drawn=true]');
    }));

// Ranks run for 60 of 100 us, one for 98. 20 columns from 60 to 99.9: the first and the last.
const histogram = page => page.locator('section[aria-label="Histogram"]');
const rowOf = (page, rank) =>
    histogram(page)
        .locator('tbody tr')
        .nth(rank + 1);
const hashHas = async (page, pattern) =>
    until(async () => assert.match(await page.evaluate(() => location.hash), pattern));

test('a histogram has the time by value, and its cells lead to their places', () =>
    onTimeline('#m=useful-duration&messages=0', async page => {
        await until(async () => {
            assert.match(await rowOf(page, 0).innerText(), /^Rank 0\s+60\.0 %\s*$/);
            assert.match(await rowOf(page, LATE).innerText(), /^Rank 5\s+98\.0 %\s*$/);
        });
        assert.equal(await histogram(page).locator('thead th').count(), 21);
        assert.match(await histogram(page).innerText(), /35\.[23] % of the time has other values/);
        await rowOf(page, 2).locator('button').click();
        await hashHas(page, /at=2\.\.0(&|$)/);
        await rowOf(page, 2).locator('button').click();
        await hashHas(page, new RegExp(`at=2\\.\\.${STEP_NS}(&|$)`));
        const framed = histogram(page).locator('td[aria-current="true"]');
        await until(async () => assert.equal(await framed.innerText(), '60.0 %'));
        await histogram(page).getByLabel('Cells').selectOption('intervals');
        await until(async () => assert.match(await rowOf(page, 0).innerText(), /^Rank 0\s+80\s*$/));
    }));

test('a range of values is marked in the picture, and a place in the histogram', () =>
    onTimeline('#m=useful-duration&messages=0', async page => {
        const last = histogram(page).locator('thead button').nth(19);
        await last.click();
        await hashHas(page, /values=97\.\d+\.\.99\.\d+/);
        await until(async () => {
            const [late] = await sharesOf(page, LATE, ['--match']);
            const [other] = await sharesOf(page, 0, ['--match']);
            assert.ok(late > 0.2 && other === 0, `${late} ${other}`);
        });
        const canvas = page.locator('.picture canvas');
        const { width } = await boxOf(page);
        const x = LEFT_PX + ((10.5 * STEP_NS) / END_NS) * (width - LEFT_PX);
        await canvas.click({ position: { x, y: TOP_PX + 24 * LATE + 8 } });
        const framed = rowOf(page, LATE).locator('td[aria-current="true"]');
        await until(async () => assert.equal(await framed.innerText(), '98.0 %'));
        await histogram(page).getByRole('button', { name: 'Zoom to range' }).click();
        await until(async () => assert.match(await rowOf(page, 0).innerText(), /^Rank 0\s*$/));
        await histogram(page).getByRole('button', { name: 'All values' }).click();
        await until(async () => assert.match(await rowOf(page, 0).innerText(), /60\.0 %/));
        await last.click();
        await until(async () =>
            assert.ok(!(await page.evaluate(() => location.hash)).includes('values=')),
        );
    }));

test('a histogram that is late is not that of another metric', () =>
    onTimeline('#m=useful-duration&messages=0', async page => {
        await until(async () => assert.match(await rowOf(page, 0).innerText(), /60\.0 %/));
        await page.route('**/histogram?m=parallelism*', async route => {
            await new Promise(done => setTimeout(done, LATE_MS));
            await route.continue();
        });
        await page.getByLabel('Metric').selectOption('parallelism');
        await until(async () => assert.match(await histogram(page).innerText(), /Adding up/));
        await until(async () => {
            // one row: 1 and 8 running, for 38 and 60 of 100; 2 for none
            assert.match(await rowOf(page, 0).innerText(), /38\.0 %\s+60\.0 %\s*$/);
        });
    }));

test('a metric that is late is not asked for numbers', () =>
    onTimeline('', async page => {
        const box = await boxOf(page);
        const asked = [];
        let isAnswered = false;
        page.on('request', request => {
            const { pathname, searchParams } = new URL(request.url());
            if (searchParams.get('m') === 'parallelism' && !isAnswered)
                asked.push(pathname.replace(/.*\//, ''));
        });
        await page.route('**/metric?m=parallelism', async route => {
            await new Promise(done => setTimeout(done, LATE_MS));
            isAnswered = true;
            await route.continue();
        });
        await page.getByLabel('Metric').selectOption('parallelism');
        await page.mouse.move(box.x + box.width / 2, box.y + 60);
        const table = page.locator('section[aria-label="Time by row"]');
        await until(async () => assert.match(await table.innerText(), /Adding up/));
        await until(async () => assert.match(await table.innerText(), /5\.180\s+8\.000\s+0/));
        assert.deepEqual(asked, ['metric']);
    }));

test('the picture and its configuration can be saved', () =>
    onTimeline('', async page => {
        // The picture may change its size while tables arrive: its size is that at the click.
        const saved = async title => {
            const button = page.getByRole('button', { name: title, disabled: false });
            await button.waitFor();
            const [download, size] = await Promise.all([
                page.waitForEvent('download'),
                button.evaluate(one => {
                    const { width, height } = document.querySelector('.picture canvas');
                    one.click();
                    return [width, height];
                }),
            ]);
            return [download.suggestedFilename(), readFileSync(await download.path()), size];
        };
        const [pictureName, picture, size] = await saved('Save PNG');
        assert.equal(pictureName, 'ring-states.png');
        assert.equal(picture.subarray(1, 4).toString(), 'PNG');
        assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], size);
        const [name, text] = await saved('Save .cfg');
        assert.equal(name, 'ring-states.cfg');
        assert.match(text.toString(), /^window_selected_functions .*State As Is/m);
    }));

test('messages that are left out are counted', () =>
    onTimeline('', async page => {
        const note = page.locator('p.note[data-took]');
        await until(async () =>
            assert.match(await note.innerText(), /320 of 640 messages are drawn\./),
        );
    }));

for (const [colorScheme, metric] of [
    ['light', 'states'],
    ['dark', 'states'],
    ['light', 'useful-duration'],
    ['dark', 'useful-duration'],
])
    test(`the page keeps the rules of access, ${colorScheme}, ${metric}`, () =>
        onTimeline(
            `#m=${metric}&values=97..99`,
            async page => {
                await page.waitForSelector('section[aria-label="Time by row"] .times');
                if (metric !== 'states') await rowOf(page, 0).waitFor();
                assert.deepEqual(await faults(page), []);
                assert.deepEqual(await unseenFocus(page, 20), []);
            },
            { colorScheme },
        ));
