// SPDX-License-Identifier: Apache-2.0
// Builds a page: one HTML file with style and script inside, allowed by their hashes and by nothing
// else. That of the report has slots that the program fills (slots.mjs); that of the time line asks
// the server that it came from.
//
// usage: node build.mjs OUTPUT [--depfile FILE] [--page timeline]

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { MARKERS } from './slots.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const BUNDLED = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];
const NOSCRIPT_STYLE =
    'body{overflow:auto}#report{display:none}#plain{margin:1em;white-space:pre-wrap}';

function hash(text) {
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Returns `text`, which becomes the content of `<script>` or `<style>`. Throws if the text has a
 * sequence that ends such an element. */
function inline(text, tag) {
    if (new RegExp(`</${tag}|<!--`, 'i').test(text))
        throw new Error(`the built ${tag} holds what would end it in HTML`);
    return text;
}

const PAGES = {
    report: {
        entries: { page: 'src/main.tsx', style: 'src/style/index.css' },
        template: 'shell.html',
        policy: [],
        markers: Object.values(MARKERS),
    },
    timeline: {
        entries: { page: 'src/timeline/main.tsx', style: 'src/timeline/style.css' },
        template: 'timeline.html',
        policy: ["connect-src 'self'"],
        markers: [],
    },
};

async function bundle(entryPoints) {
    const result = await esbuild.build({
        absWorkingDir: here,
        entryPoints,
        outdir: 'out',
        bundle: true,
        minify: true,
        write: false,
        metafile: true,
        format: 'iife',
        target: ['chrome90', 'firefox113', 'safari16.4'],
        jsx: 'automatic',
        jsxImportSource: 'preact',
        define: { 'process.env.NODE_ENV': '"production"' },
        legalComments: 'none',
        charset: 'utf8',
        loader: { '.md': 'text' },
        logLevel: 'warning',
    });
    const text = end => result.outputFiles.find(file => file.path.endsWith(end)).text.trim();
    // The parser of HTML must not take a string of the script for the end of it.
    const script = text('.js')
        .replace(/<\/(script)/gi, '<\\/$1')
        .replace(/<!--/g, '<\\!--');
    return { script, style: text('.css'), inputs: Object.keys(result.metafile.inputs) };
}

function licences() {
    const read = name => {
        for (const file of ['LICENSE', 'LICENSE.md', 'license'])
            try {
                return readFileSync(join(here, 'node_modules', name, file), 'utf8');
            } catch {
                // the next name
            }
        throw new Error(`${name} has no licence text`);
    };
    return BUNDLED.map(name => `${name}\n\n${read(name).trim()}`)
        .join('\n\n----\n\n')
        .replace(/--+>/g, '->')
        .replace(/--/g, '- -');
}

export async function buildShell(name = 'report') {
    const { entries, template: file, policy: more, markers } = PAGES[name];
    const { script, style, inputs } = await bundle(entries);
    const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)} ${hash(NOSCRIPT_STYLE)}`,
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
        ...more,
    ].join('; ');
    const parts = {
        POLICY: policy,
        STYLE: inline(style, 'style'),
        NOSCRIPT_STYLE,
        SCRIPT: inline(script, 'script'),
        LICENCES: licences(),
    };
    const template = readFileSync(join(here, file), 'utf8');
    const shell = template.replace(/@([A-Z_]+)@/g, (_, name) => parts[name]);
    for (const marker of markers)
        if (shell.split(marker).length !== 2)
            throw new Error(`${marker} must stand in the shell once`);
    return { shell, inputs, template: file };
}

async function main() {
    const [output, ...options] = process.argv.slice(2);
    const option = name => {
        const at = options.indexOf(name);
        return at < 0 ? undefined : options[at + 1];
    };
    const depfile = option('--depfile');
    if (!output) {
        console.error('usage: node build.mjs OUTPUT [--depfile FILE] [--page timeline]');
        process.exit(2);
    }
    const { shell, inputs, template } = await buildShell(option('--page'));
    mkdirSync(dirname(resolve(output)), { recursive: true });
    writeFileSync(output, shell);
    if (depfile) {
        const files = [...inputs, template, 'slots.mjs', 'build.mjs', 'package-lock.json'];
        const listed = files.map(file =>
            relative(process.cwd(), join(here, file)).replace(/ /g, '\\ '),
        );
        writeFileSync(depfile, `${output}: ${listed.join(' ')}\n`);
    }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
