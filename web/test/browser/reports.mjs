// SPDX-License-Identifier: Apache-2.0
// Reports in a folder of their own, made of the built shell as the program makes them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fill } from '../../slots.mjs';

export class Reports {
    constructor(shellFile) {
        this.shell = readFileSync(shellFile, 'utf8');
        this.folder = mkdtempSync(join(tmpdir(), 'assay-report-'));
        this.n = 0;
    }
    write(html) {
        const path = join(this.folder, `report-${this.n++}.html`);
        writeFileSync(path, html);
        return `file://${path}`;
    }
    /** Address of a report of this document. */
    of(document) {
        const texts = { title: document.title ?? '', noscript: `Summary of ${document.title}\n` };
        return this.write(fill(this.shell, JSON.stringify(document), texts));
    }
    close() {
        rmSync(this.folder, { recursive: true, force: true });
    }
}
