// SPDX-License-Identifier: Apache-2.0
// Starts the system's Chromium with a profile of its own, and nothing that reaches for a network.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Time limit of a step of the browser: a busy host may leave it without a CPU for many seconds. */
export const PATIENCE_MS = 300_000;

export function findChromium() {
    const asked = process.env.CHROMIUM;
    return (asked ? [asked] : CANDIDATES).find(path => existsSync(path)) ?? null;
}

export async function openBrowser() {
    const executablePath = findChromium();
    if (!executablePath) throw new Error('Chromium is not installed (Debian: chromium)');
    const profile = mkdtempSync(join(tmpdir(), 'assay-web-'));
    const browser = await chromium.launch({
        executablePath,
        timeout: PATIENCE_MS,
        args: [
            '--headless',
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            '--disable-component-update',
            '--disable-sync',
            `--disk-cache-dir=${profile}`,
        ],
    });
    const close = async () => {
        await browser.close();
        rmSync(profile, { recursive: true, force: true });
    };
    return { browser, close };
}
