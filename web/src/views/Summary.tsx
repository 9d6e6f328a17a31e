// SPDX-License-Identifier: Apache-2.0
// The first page: what ran, what to do first, what the time is made of, and how far to trust it.

import { useMemo, useState } from 'preact/hooks';
import { useReport } from '../context';
import type { Check, Document, Finding } from '../data/contract';
import type { Report } from '../data/report';
import { integer, moment, percent, seconds } from '../format';
import { CategoryBar, categoryShares, type Share, StateBar } from '../parts/CategoryBar';
import { Facts, PageHead, Panel } from '../parts/parts';
import { href } from '../route';
import { alikeFindings } from './alike';
import { FindingItem } from './Finding';
import { HottestPanels } from './Hottest';
import { MetricCards } from './MetricCards';
import { isRefusal, onceEach } from './refusals';

/** As many as the terminal shows. */
const FIRST = 3;

function text(value: string | number | null | undefined): string | null {
    return value === null || value === undefined || value === '' ? null : String(value);
}

function num(run: Document['run'], name: string): number | null {
    const value = run[name];
    return typeof value === 'number' ? value : null;
}

export function runFacts(doc: Document): [string, string | null][] {
    const { run } = doc;
    const wall = num(run, 'wall_s');
    const sampled = num(run, 'sampled_time_s');
    const overhead = num(run, 'overhead_pct');
    const samples = num(run, 'sample_n');
    const lost = num(run, 'lost_sample_n');
    const ranks = num(run, 'rank_n');
    const processes = num(run, 'process_n');
    const rate = num(run, 'rate_hz');
    return [
        ['Wall time', wall === null ? null : seconds(wall)],
        ['Time in threads', sampled === null ? null : seconds(sampled)],
        [
            'Processes',
            processes === null
                ? null
                : `${integer(processes)}${ranks ? `, ${integer(ranks)} ranks of MPI` : ''}`,
        ],
        ['Host', text(run['host'])],
        ['Started', run['start_utc'] ? moment(String(run['start_utc'])) : null],
        [
            'Sampled',
            run['event'] ? `${run['event']}${rate ? ` at ${integer(rate)} Hz` : ''}` : null,
        ],
        [
            'Samples',
            samples === null ? null : `${integer(samples)}${lost ? `, ${integer(lost)} lost` : ''}`,
        ],
        ['Overhead', overhead === null ? null : percent(overhead)],
    ];
}

/** Shares of the lives of working threads. Empty if waiting was not recorded. */
export function stateShares({ run }: Document): Share[] {
    const states: [string, string, number][] = [
        ['running', 'Running', num(run, 'sampled_time_s') ?? 0],
        ['waiting', 'Waiting', num(run, 'blocked_time_s') ?? 0],
        ['ready', 'Ready without a CPU', num(run, 'runnable_time_s') ?? 0],
    ];
    const all = states.reduce((sum, [, , time]) => sum + time, 0);
    if (!(states[1]![2] + states[2]![2] > 0)) return [];
    return states
        .filter(([, , time]) => time > 0)
        .map(([name, title, time]) => ({
            name,
            title,
            pct: (100 * time) / all,
            time,
            meaning: null,
        }));
}

/** Returns facts about loops: how far they are vectorised, and the possible gain. */
export function codeFacts(report: Report): [string, string | null][] {
    const rows = report.flatRows('loops');
    if (!rows) return [];
    const numbers = (name: string): number[] => {
        const at = rows.columnAt(name);
        if (at < 0) return [];
        const all = Array.from({ length: rows.count() }, (_, row) => rows.num(row, at));
        return all.filter(one => !Number.isNaN(one));
    };
    const gains = numbers('cqa_best_x');
    const ratios = numbers('cqa_vec_ratio_all_pct');
    const count = (holds: (one: number) => boolean, of: number[]) =>
        `${integer(of.filter(holds).length)} of ${integer(of.length)}`;
    return [
        ['Loops analysed', integer(gains.length)],
        ['Fully vectorised', count(one => one > 99.5, ratios)],
        ['Not vectorised', count(one => one < 0.5, ratios)],
        ['May be twice as fast or more', count(one => one >= 2, gains)],
    ];
}

function CodeSummary() {
    const report = useReport();
    return (
        <>
            <PageHead title="Code quality" note={<code>{text(report.doc.run['command'])}</code>} />
            <Facts facts={codeFacts(report)} />
            <p class="section-text">
                Nothing was run: cycles are those of a model of the core, data in the first level of
                the cache, and gains are upper bounds. First come loops that would save most cycles
                each time their function runs, if each loop, and up to two around it, goes round 10
                times where the code does not tell. Which of them take time tells{' '}
                <code>assay run</code>.
            </p>
            <FindingsPanel />
            <FlagsPanel />
        </>
    );
}

export function Summary() {
    return useReport().isCode ? <CodeSummary /> : <RunSummary />;
}

function RunSummary() {
    const report = useReport();
    const { doc } = report;
    const categories = report.rows('categories');
    const state = text(doc.run['state']);
    return (
        <>
            <PageHead
                title={doc.title}
                note={
                    text(doc.run['command']) !== doc.title ? (
                        <code>{text(doc.run['command'])}</code>
                    ) : null
                }
            />
            {state && state !== 'complete' && (
                <p class="warning" role="note">
                    This run is {state}: what was recorded until then is shown.
                </p>
            )}
            <Facts facts={runFacts(doc)} />
            {categories && (
                <Panel title="Time by category">
                    <StateBar shares={stateShares(doc)} />
                    <CategoryBar shares={categoryShares(categories)} />
                </Panel>
            )}
            <div class="columns">
                <FindingsPanel />
                <ChecksPanel checks={doc.checks} />
            </div>
            <HottestPanels />
            {doc.metrics.length > 0 && (
                <Panel
                    title="Global metrics"
                    note={<a href={href('metrics')}>Definitions and gain curves</a>}
                >
                    <MetricCards metrics={doc.metrics.filter(metric => metric.group !== 'trust')} />
                </Panel>
            )}
            <FlagsPanel />
        </>
    );
}

function functionOf(report: Report, { object, id }: Finding): string | null {
    const rows = object === 'loop' ? report.rows('loops') : null;
    return rows && id !== null ? rows.text(rows.rowOf(id), rows.columnAt('function')) : null;
}

/** All findings, in the order of the data. */
export function FindingsPanel() {
    const report = useReport();
    const [all, setAll] = useState(false);
    const findings = useMemo(() => {
        const given = report.doc.findings;
        // In a run each has a time of its own.
        return report.isCode
            ? alikeFindings(given, one => functionOf(report, one))
            : given.map(first => ({ first, others: [] }));
    }, [report]);
    const timed = report.doc.findings.some(one => one.gain_s || typeof one.time_s === 'number');
    return (
        <Panel title="Recommendations" class="wide">
            {findings.length ? (
                <ol class={timed ? 'findings' : 'findings untimed'}>
                    {(all ? findings : findings.slice(0, FIRST)).map(({ first, others }) => (
                        <FindingItem key={first.rank} finding={first} others={others} />
                    ))}
                </ol>
            ) : (
                <p class="empty">Nothing was found that is worth doing first.</p>
            )}
            {findings.length > FIRST && (
                <button type="button" class="button" onClick={() => setAll(!all)}>
                    {all ? 'Show the first only' : `Show all ${findings.length}`}
                </button>
            )}
        </Panel>
    );
}

const STATES: Record<Check['state'], { mark: string; word: string; rating: string }> = {
    passed: { mark: '●', word: 'passed', rating: 'good' },
    partly: { mark: '▲', word: 'partly', rating: 'fair' },
    failed: { mark: '■', word: 'failed', rating: 'poor' },
    unknown: { mark: '○', word: 'not known', rating: 'none' },
};

/** Weighted mean of the scores that are known, in per cent; null if none is. */
export function totalScore(checks: readonly Check[]): number | null {
    let sum = 0;
    let weights = 0;
    for (const { score, weight, state } of checks) {
        if (score === null || state === 'unknown') continue;
        sum += score * weight;
        weights += weight;
    }
    return weights > 0 ? (100 * sum) / weights : null;
}

export function ChecksPanel({ checks }: { checks: Check[] }) {
    const score = totalScore(checks);
    const passed = checks.filter(check => check.state === 'passed').length;
    const order = ['failed', 'partly', 'unknown', 'passed'];
    const sorted = [...checks].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    return (
        <Panel
            title="Checks"
            note={
                score === null
                    ? null
                    : `${passed} of ${checks.length} passed, score ${Math.round(score)} of 100`
            }
        >
            {checks.length ? (
                <ul class="checks">
                    {sorted.map(check => {
                        const state = STATES[check.state] ?? STATES.unknown;
                        return (
                            <li key={check.name}>
                                <p>
                                    <span class={`rating ${state.rating}`}>
                                        <span aria-hidden="true">{state.mark}</span> {state.word}
                                    </span>{' '}
                                    <b>{check.title}</b>
                                </p>
                                <p>{check.text}</p>
                                {check.advice && check.state !== 'passed' && (
                                    <p class="workaround">{check.advice}</p>
                                )}
                            </li>
                        );
                    })}
                </ul>
            ) : (
                <p class="empty">The report has no checks.</p>
            )}
        </Panel>
    );
}

/** `refused`: with a word on what could not be timed or counted. */
export function FlagsPanel({ refused: isTold = true }: { refused?: boolean }) {
    const { flags } = useReport().doc;
    const refused = flags.filter(isRefusal).length;
    if (!flags.length || (!isTold && refused === flags.length)) return null;
    return (
        <Panel title="Caveats">
            <ul class="flags">
                {isTold && refused > 0 && (
                    <li>
                        {integer(refused)} of the loops and functions that were chosen could not be
                        timed, varied or counted: <a href={href('trust')}>why</a>
                    </li>
                )}
                {onceEach(flags.filter(flag => !isRefusal(flag))).map(([flag, such]) => (
                    <li key={`${flag.name} ${flag.object} ${flag.id}`}>
                        {flag.text}
                        {such > 1 && <span class="muted"> ({integer(such)} such)</span>}
                        {such === 1 && flag.n !== null && flag.n > 1 && (
                            <span class="muted"> ({integer(flag.n)})</span>
                        )}
                    </li>
                ))}
            </ul>
        </Panel>
    );
}
