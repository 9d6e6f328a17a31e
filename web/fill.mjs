// SPDX-License-Identifier: Apache-2.0
// Fills the shell from a document of doc/reference/report-data.md, as the program does: for
// development.
//
// usage: node fill.mjs DATA.json OUTPUT.html [SHELL.html]

import { readFileSync, writeFileSync } from 'node:fs';
import { buildShell } from './build.mjs';
import { fill } from './slots.mjs';

const [data, output, shellFile] = process.argv.slice(2);
if (!data || !output) {
    console.error('usage: node fill.mjs DATA.json OUTPUT.html [SHELL.html]');
    process.exit(2);
}
const shell = shellFile ? readFileSync(shellFile, 'utf8') : (await buildShell()).shell;
const json = readFileSync(data, 'utf8');
const { title = 'report' } = JSON.parse(json);
writeFileSync(output, fill(shell, json, { title, noscript: `${title}\n` }));
