// SPDX-License-Identifier: Apache-2.0
// Bundles the unit tests and runs them with the test runner of Node.js, which prints TAP.
//
// usage: node test/unit.mjs

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const out = mkdtempSync(join(tmpdir(), 'assay-unit-'));
// Modules that read the page when they are loaded find one that says nothing.
const PAGE = `
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
globalThis.location = { hash: '' };
`;

try {
    const tests = readdirSync(join(here, 'unit')).filter(name => name.endsWith('.test.ts'));
    const entry = tests.map(name => `import ${JSON.stringify(`./unit/${name}`)};`).join('\n');
    await esbuild.build({
        stdin: { contents: entry, resolveDir: here },
        outfile: join(out, 'all.test.mjs'),
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'node18',
        jsx: 'automatic',
        jsxImportSource: 'preact',
        banner: { js: PAGE },
        loader: { '.css': 'text', '.md': 'text' },
        logLevel: 'warning',
    });
    const { status } = spawnSync(
        process.execPath,
        ['--test-reporter=tap', join(out, 'all.test.mjs')],
        { stdio: 'inherit' },
    );
    process.exitCode = status ?? 1;
} finally {
    rmSync(out, { recursive: true, force: true });
}
