// SPDX-License-Identifier: Apache-2.0
// From the data slot of the page to the document: base64, zlib, JSON. Each way in which the slot
// can be wrong ends in one sentence that says what to do.

import type { Document } from './contract';

export const SCHEMA = 1;

export class SlotError extends Error {}

const CHUNK = 1 << 20; // characters of base64 decoded at a time; a multiple of 4

type FromBase64 = (text: string) => Uint8Array<ArrayBuffer>;

function decodeByTable(text: string): Uint8Array<ArrayBuffer> {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

const native = (Uint8Array as unknown as { fromBase64?: FromBase64 }).fromBase64;
const decodeChunk: FromBase64 = native ? text => native.call(Uint8Array, text) : decodeByTable;

/** Bytes of the base64 text in chunks, so that no copy of the whole is made. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer>[] {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    const clean = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
    try {
        for (let at = 0; at < clean.length; at += CHUNK)
            chunks.push(decodeChunk(clean.slice(at, at + CHUNK)));
    } catch {
        throw new SlotError('The data of this report is damaged: it is not valid base64.');
    }
    return chunks;
}

export async function inflate(chunks: Uint8Array<ArrayBuffer>[]): Promise<string> {
    if (typeof DecompressionStream === 'undefined')
        throw new SlotError(
            'This browser is too old to unpack the report (no DecompressionStream). ' +
                'Chrome 80, Firefox 113, Safari 16.4 and all later ones can.',
        );
    try {
        const stream = new Blob(chunks).stream().pipeThrough(new DecompressionStream('deflate'));
        return await new Response(stream).text();
    } catch {
        throw new SlotError(
            'The data of this report is damaged: it cannot be decompressed. The file was ' +
                'probably cut short or changed on its way; copy it again, or make it anew from ' +
                'the experiment.',
        );
    }
}

/** A document of a schema that this page reads, with every list there even if it was left out. */
export function parseDocument(json: string): Document {
    let raw: unknown;
    try {
        raw = JSON.parse(json);
    } catch {
        throw new SlotError('The data of this report is damaged: it is not valid JSON.');
    }
    if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
        throw new SlotError('The data of this report is damaged: it is not a JSON object.');
    const given = raw as Partial<Document>;
    if (typeof given.schema === 'number' && given.schema > SCHEMA)
        throw new SlotError(
            `This report has data of schema ${given.schema}, and this page reads up to ${SCHEMA}.`,
        );
    const list = <T>(value: T[] | undefined | null): T[] => (Array.isArray(value) ? value : []);
    return {
        schema: given.schema ?? SCHEMA,
        assay: given.assay ?? '',
        made_utc: given.made_utc ?? '',
        experiment: given.experiment ?? '',
        title: given.title ?? given.experiment ?? 'Report',
        run_id: given.run_id ?? 0,
        run: given.run ?? {},
        environment: list(given.environment),
        overheads: list(given.overheads),
        metrics: list(given.metrics),
        balance: list(given.balance),
        what_ifs: list(given.what_ifs),
        checks: list(given.checks),
        findings: list(given.findings),
        tries: list(given.tries),
        flags: list(given.flags),
        views: list(given.views).filter(view => view && view.columns && view.data),
        calltree: given.calltree ?? null,
        sources: list(given.sources),
        code: list(given.code),
        sections: list(given.sections),
        variants: list(given.variants),
        verdicts: list(given.verdicts),
        scalability: given.scalability ?? null,
        stability: given.stability ?? null,
        comparison: given.comparison ?? null,
        parallel: given.parallel
            ? {
                  ...given.parallel,
                  counters: given.parallel.counters ?? [],
                  offs: given.parallel.offs ?? [],
              }
            : null,
        simulated: given.simulated ?? null,
        scaling: given.scaling ?? null,
        over_time: given.over_time ?? null,
        roofline: given.roofline ?? null,
    };
}

export async function readSlot(text: string): Promise<Document> {
    const packed = text.trim();
    if (packed === '' || packed.startsWith('%'))
        throw new SlotError(
            'This page has no data. Make a report with: assay report EXPERIMENT --format html',
        );
    return parseDocument(await inflate(decodeBase64(packed)));
}
