// SPDX-License-Identifier: Apache-2.0
// Screenshots of a report, to look at.
//
// usage: node test/shot.mjs REPORT.html OUTPUT-FOLDER [PAGE...]; SHOT_WIDTH, SHOT_HEIGHT,
// SHOT_DARK=1, SHOT_PRINT=1

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openBrowser } from './browser/browser.mjs';

const [report, folder, ...pages] = process.argv.slice(2);
const width = Number(process.env.SHOT_WIDTH ?? 1280);
const dark = Boolean(process.env.SHOT_DARK);
mkdirSync(folder, { recursive: true });
const { browser, close } = await openBrowser();
const page = await browser.newPage({
    viewport: { width, height: Number(process.env.SHOT_HEIGHT ?? 800) },
    colorScheme: dark ? 'dark' : 'light',
});
page.on('console', message => console.log(message.type(), message.text()));
page.on('pageerror', error => console.log('error', error.message));
for (const hash of pages.length ? pages : ['summary']) {
    await page.goto(`about:blank`);
    await page.goto(`file://${resolve(report)}#/${hash}`);
    await page.waitForSelector('html[data-ready]');
    if (process.env.SHOT_PRINT) await page.emulateMedia({ media: 'print' });
    await page.waitForTimeout(300);
    const marks = (dark ? '-dark' : '') + (process.env.SHOT_PRINT ? '-print' : '');
    const name = `${hash.replace(/[^\w-]+/g, '_')}-${width}${marks}.png`;
    await page.screenshot({ path: join(folder, name), fullPage: Boolean(process.env.SHOT_PRINT) });
}
await close();
