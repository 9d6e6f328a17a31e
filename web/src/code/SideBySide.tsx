// SPDX-License-Identifier: Apache-2.0
// Source and assembly beside each other. Lines that belong together light up on hover. A click or
// the cursor keys pin them and scroll the other side to them.

import { useMemo, useState } from 'preact/hooks';
import { useReport } from '../context';
import type { Code, Source } from '../data/contract';
import { fixed, seconds, shortPath } from '../format';
import { route, setParams } from '../route';
import { instructionHtml } from './asm';
import { highlightLines, languageOf } from './highlight';
import { type Linked, hottestLine, lineKey } from './link';
import { Pane } from './Pane';

interface Props {
    code: Code | null;
    linked: Linked;
    sources: readonly Source[];
    runSeconds: number;
    /** The line to begin at, as a key; without one the hottest. */
    begin?: string | null;
}

const highlighted = new WeakMap<Source, string[]>();

function linesOf(source: Source): string[] {
    let lines = highlighted.get(source);
    if (!lines) {
        lines = highlightLines(source.lines, languageOf(source.language, source.path));
        highlighted.set(source, lines);
    }
    return lines;
}

function share(time: number, all: number): string {
    if (!(time > 0)) return '';
    const pct = all > 0 ? (100 * time) / all : 0;
    return pct < 0.05 ? '<0.1' : fixed(pct, 1);
}

/** Ten steps of heat; classes, because the page allows no style attributes in markup. */
function heat(time: number, most: number): string {
    if (!(time > 0) || !(most > 0)) return 'heat-0';
    return `heat-${Math.max(1, Math.round((10 * time) / most))}`;
}

function Gutter({ time, n, all, most }: { time: number; n: number; all: number; most: number }) {
    return (
        <span
            class={`gutter ${heat(time, most)}`}
            data-tip={
                time > 0
                    ? `${seconds(time)}, ${share(time, all)} % of the run, n = ${n}`
                    : undefined
            }
        >
            {share(time, all)}
        </span>
    );
}

export function SideBySide({ code, linked, sources, runSeconds, begin }: Props) {
    const [hover, setHover] = useState<string | null>(null);
    const [cursor, setCursor] = useState<{ side: 'source' | 'code'; index: number } | null>(null);
    const inAddress = route.value.params['at'];
    const pinned = inAddress ?? null;
    const first = useMemo(
        () => pinned ?? begin ?? hottestLine(linked, code),
        [linked, code, begin],
    );
    const target = pinned ?? first;

    const sourceIndex = useMemo(() => {
        const at = new Map<string, number>();
        linked.sourceRows.forEach((row, i) => {
            if (row.kind === 'line') at.set(lineKey(row.source, row.line), i);
        });
        return at;
    }, [linked]);
    const codeIndex = useMemo(
        () => new Map(linked.instructions.map((instruction, i) => [instruction, i])),
        [linked],
    );
    const keyOfCode = (index: number): string | null => {
        const i = linked.instructions[index];
        const source = i === undefined ? -1 : (code?.source[i] ?? -1);
        const line = i === undefined ? null : (code?.line[i] ?? null);
        return source < 0 || line === null ? null : lineKey(source, line);
    };
    const keyOfSource = (index: number): string | null => {
        const row = linked.sourceRows[index];
        return row?.kind === 'line' ? lineKey(row.source, row.line) : null;
    };
    const pin = (key: string | null): void => setParams({ at: key ?? undefined }, true);
    const state = (key: string | null): string =>
        key === null ? '' : key === pinned ? ' pinned' : key === hover ? ' linked' : '';
    const report = useReport();
    const most = Math.max(linked.sourceRows.length, linked.instructions.length);
    const firstCode = target ? linked.byLine.get(target)?.[0] : undefined;

    return (
        <div class="side-by-side">
            <div class="side">
                <div class="side-head">
                    <h3>Source</h3>
                    {!report.isCode && <span class="muted">% of run</span>}
                </div>
                {linked.sourceRows.length ? (
                    <Pane
                        label="Source"
                        id="source"
                        count={linked.sourceRows.length}
                        most={most}
                        cursor={cursor?.side === 'source' ? cursor.index : -1}
                        show={target ? (sourceIndex.get(target) ?? -1) : 0}
                        shownAt={target ?? ''}
                        onCursor={index => {
                            setCursor({ side: 'source', index });
                            const key = keyOfSource(index);
                            if (key) pin(key);
                        }}
                        onHover={index => setHover(index < 0 ? null : keyOfSource(index))}
                        row={index => {
                            const row = linked.sourceRows[index]!;
                            const source = sources[row.source]!;
                            if (row.kind === 'file')
                                return {
                                    class: 'file',
                                    content: (
                                        <span data-full={source.path}>
                                            {shortPath(source.path)}
                                        </span>
                                    ),
                                };
                            const key = lineKey(row.source, row.line);
                            const at = row.line - source.first;
                            const instructions = linked.byLine.get(key)?.length ?? 0;
                            return {
                                class: (instructions ? 'has-code' : 'no-code') + state(key),
                                content: (
                                    <>
                                        {!report.isCode && (
                                            <Gutter
                                                time={source.time_s[at] ?? 0}
                                                n={source.n[at] ?? 0}
                                                all={runSeconds}
                                                most={linked.lineMax}
                                            />
                                        )}
                                        <span class="line-number">{row.line}</span>
                                        <code
                                            dangerouslySetInnerHTML={{
                                                __html: linesOf(source)[at] ?? '',
                                            }}
                                        />
                                    </>
                                ),
                            };
                        }}
                    />
                ) : (
                    <p class="empty">
                        No source is in the report: compile with -g, and make the report where the
                        source can be read.
                    </p>
                )}
            </div>
            <div class="side">
                <div class="side-head">
                    <h3>Assembly</h3>
                    <span class="muted">{linked.instructions.length} instructions</span>
                </div>
                {code && linked.instructions.length ? (
                    <Pane
                        label="Assembly"
                        id="code"
                        count={linked.instructions.length}
                        most={most}
                        cursor={cursor?.side === 'code' ? cursor.index : -1}
                        show={firstCode === undefined ? -1 : (codeIndex.get(firstCode) ?? -1)}
                        shownAt={target ?? ''}
                        onCursor={index => {
                            setCursor({ side: 'code', index });
                            const key = keyOfCode(index);
                            if (key) pin(key);
                        }}
                        onHover={index => setHover(index < 0 ? null : keyOfCode(index))}
                        row={index => {
                            const i = linked.instructions[index]!;
                            const before = linked.instructions[index - 1];
                            const newBlock =
                                before !== undefined && code.block_id[before] !== code.block_id[i];
                            const loop = code.loop_id[i] ?? null;
                            return {
                                class:
                                    (newBlock ? 'new-block' : '') +
                                    (loop === null ? '' : ' in-loop') +
                                    state(keyOfCode(index)),
                                content: (
                                    <>
                                        {!report.isCode && (
                                            <Gutter
                                                time={code.time_s[i] ?? 0}
                                                n={code.n[i] ?? 0}
                                                all={runSeconds}
                                                most={linked.instructionMax}
                                            />
                                        )}
                                        <span
                                            class="loop-mark"
                                            data-tip={loop === null ? undefined : `loop ${loop}`}
                                            aria-hidden="true"
                                        />
                                        <span class="address">{code.address[i]}</span>
                                        <code
                                            dangerouslySetInnerHTML={{
                                                __html: instructionHtml(code.text[i] ?? ''),
                                            }}
                                        />
                                        {code.line[i] ? (
                                            <span class="from-line">{code.line[i]}</span>
                                        ) : null}
                                    </>
                                ),
                            };
                        }}
                    />
                ) : (
                    <p class="empty">
                        No disassembly of this code is in the report:{' '}
                        {report.isCode ? 'other loops may gain more' : 'it took too little time'}.
                    </p>
                )}
            </div>
        </div>
    );
}
