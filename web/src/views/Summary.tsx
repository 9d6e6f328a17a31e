// SPDX-License-Identifier: Apache-2.0
// The first page: what ran, what to do first, what the time is made of, and how far to trust it.

import { useState } from 'preact/hooks';
import { useReport } from '../context';
import type { Check, Document } from '../data/contract';
import { integer, moment, percent, seconds } from '../format';
import { CategoryBar, categoryShares } from '../parts/CategoryBar';
import { Facts, PageHead, Panel } from '../parts/parts';
import { href } from '../route';
import { FindingItem } from './Finding';
import { HottestPanels } from './Hottest';
import { MetricCards } from './MetricCards';

/** As many as the terminal shows. */
const FIRST = 7;

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

export function Summary() {
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
                <Panel title="What the time is made of">
                    <CategoryBar shares={categoryShares(categories)} />
                </Panel>
            )}
            <HottestPanels />
            <div class="columns">
                <FindingsPanel />
                <ChecksPanel checks={doc.checks} />
            </div>
            {doc.metrics.length > 0 && (
                <Panel
                    title="Global metrics"
                    note={<a href={href('metrics')}>Definitions and gain curves</a>}
                >
                    <MetricCards metrics={doc.metrics} />
                </Panel>
            )}
            <FlagsPanel />
        </>
    );
}

/** All findings, in the order of the data. */
export function FindingsPanel() {
    const { findings } = useReport().doc;
    const [all, setAll] = useState(false);
    return (
        <Panel title="Do this first" class="wide">
            {findings.length ? (
                <ol class="findings">
                    {(all ? findings : findings.slice(0, FIRST)).map(finding => (
                        <FindingItem key={finding.rank} finding={finding} />
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

export function FlagsPanel() {
    const { flags } = useReport().doc;
    if (!flags.length) return null;
    return (
        <Panel title="What lessens trust">
            <ul class="flags">
                {flags.map(flag => (
                    <li key={`${flag.name} ${flag.object} ${flag.id}`}>
                        {flag.text}
                        {flag.n !== null && flag.n > 1 && (
                            <span class="muted"> ({integer(flag.n)})</span>
                        )}
                    </li>
                ))}
            </ul>
        </Panel>
    );
}
