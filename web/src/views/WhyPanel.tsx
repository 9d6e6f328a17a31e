// SPDX-License-Identifier: Apache-2.0
// The verdict on a loop in a sentence, and the numbers behind it: what its variants took.

import { useState } from 'preact/hooks';
import type { Take } from '../data/contract';
import type { Report } from '../data/report';
import { type Varied, type VariedLoop, reliability } from '../data/variants';
import { counted, fixed, integer, spreadOf } from '../format';
import { Facts, Panel } from '../parts/parts';

/** The deciding ratios, in the order of doc/reference/decan-verdicts.md. */
const RATIOS = [
    'decan_orig_dl1_x',
    'decan_fp_ls_x',
    'decan_saturation_x',
    'decan_ref_fes_x',
    'decan_ref_nodiv_x',
    'decan_ref_nored_x',
    'decan_fp_model_x',
    'decan_dl1_model_x',
    'decan_orig_ref_x',
    'decan_in_flight_n',
    'decan_drift_pct',
];

const MARKS = {
    unreliable: { mark: '!', rating: 'poor' },
    weak: { mark: '~', rating: 'fair' },
    reliable: { mark: '', rating: '' },
} as const;

const cycles = (value: number): string => fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);

function margin(take: Take): string {
    const spread = take.cycles === null ? null : spreadOf(take.cycles, take.low, take.high, null);
    if (!spread) return '';
    if (spread.kind === 'half') return `±${cycles(spread.half)}`;
    if (spread.kind === 'range') return `${cycles(spread.low)} to ${cycles(spread.high)}`;
    return `${spread.kind === 'most' ? '≤' : '≥'} ${cycles(spread.bound)}`;
}

function TakeRow({ take, most }: { take: Take; most: number }) {
    const is = reliability(take);
    const { mark, rating } = MARKS[is ?? 'reliable'];
    return (
        <tr>
            <th scope="row">
                {take.variant.toUpperCase()}
                <div class="muted small">{take.title}</div>
            </th>
            <td class="number">{cycles(take.cycles!)}</td>
            <td class="muted small">{margin(take)}</td>
            <td class="why-bar">
                <span class="cell-track" aria-hidden="true">
                    <span class="cell-bar" style={{ width: `${(100 * take.cycles!) / most}%` }} />
                </span>
            </td>
            <td class="number">{take.speedup === null ? '' : `${fixed(take.speedup, 2)}×`}</td>
            <td class="number">{take.n === null ? '' : integer(take.n)}</td>
            <td class="number">{take.stability === null ? '' : fixed(take.stability, 2)}</td>
            <td>
                {is && <span class={rating && `rating ${rating}`}>{`${mark} ${is}`.trim()}</span>}
            </td>
        </tr>
    );
}

function Takes({ of }: { of: Varied }) {
    const takes = of.takes.filter(take => take.cycles !== null);
    const most = Math.max(...takes.map(take => take.cycles!), 0);
    if (!takes.length) return <p class="empty">No variant of it was measured.</p>;
    return (
        <table class="plain takes">
            <thead>
                <tr>
                    <th scope="col">Variant</th>
                    <th scope="col" class="number">
                        Cycles/iteration
                    </th>
                    <th scope="col">95 %</th>
                    <th scope="col" class="why-bar">
                        <span class="off-screen">As a bar</span>
                    </th>
                    <th scope="col" class="number">
                        As fast
                    </th>
                    <th scope="col" class="number">
                        Instances
                    </th>
                    <th scope="col" class="number">
                        Stability
                    </th>
                    <th scope="col">Reliability</th>
                </tr>
            </thead>
            <tbody>
                {takes.map(take => (
                    <TakeRow key={take.variant} take={take} most={most} />
                ))}
            </tbody>
        </table>
    );
}

function Ratios({ report, of }: { report: Report; of: Varied }) {
    const columns = report.rows('loops')?.columns ?? [];
    const facts = RATIOS.flatMap((name): [string, preact.ComponentChildren][] => {
        const value = of.verdict?.[name];
        const column = columns.find(one => one.name === name);
        if (typeof value !== 'number' || !column) return [];
        const text = `${fixed(value, 2)}${column.unit === '%' ? ' %' : ''}`;
        return [[column.title, <span data-tip={column.meaning ?? undefined}>{text}</span>]];
    });
    return <Facts facts={facts} />;
}

export function WhyPanel({ report, varied }: { report: Report; varied: VariedLoop }) {
    const [bucket, setBucket] = useState<string | null>(null);
    const sentence = report
        .sections({ kind: 'loop', id: varied.loop })
        .find(one => one.name === 'variants')?.text;
    const of = varied.buckets.find(one => one.bucket === bucket) ?? varied;
    const { title, confidence } = of.verdict ?? { title: null, confidence: null };
    return (
        <Panel title="Why it takes its time">
            <p class="verdict">
                <b>{title ?? 'not decided'}</b>
                {confidence && <span class="muted"> · confidence {confidence}</span>}
            </p>
            {bucket === null && sentence && <p class="section-text">{sentence}</p>}
            {varied.buckets.length > 1 && (
                <label class="tool-label">
                    Instances of{' '}
                    <select
                        value={bucket ?? ''}
                        onChange={event => setBucket(event.currentTarget.value || null)}
                    >
                        <option value="">
                            the main bucket, of {counted(varied.buckets.length, 'bucket')}
                        </option>
                        {varied.buckets.map(one => (
                            <option key={one.bucket} value={one.bucket!}>
                                {one.bucket}
                                {one.verdict?.title ? `: ${one.verdict.title}` : ''}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <Takes of={of} />
            <Ratios report={report} of={of} />
        </Panel>
    );
}
