// SPDX-License-Identifier: Apache-2.0
// Efficiency of the regions of a traced run, rated as the POP methodology does. Savings by changes
// of the run.

import { useMemo } from 'preact/hooks';
import { popRating } from '../data/models';
import type { TraceGain, TracePhase } from '../data/parallel';
import { percent, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Panel, POP_LEGEND, RATING_MARKS } from '../parts/parts';
import { PHASE_FACTORS, phaseRows } from './trace_tables';

function Share({ value }: { value: number | null | undefined }) {
    if (value === null || value === undefined) return <td class="number muted">–</td>;
    const rating = popRating(value / 100);
    return (
        <td class={`number ${rating}`} data-tip={rating}>
            {percent(value)} <span aria-hidden="true">{RATING_MARKS[rating]}</span>
        </td>
    );
}

function PhaseMatrix({ phases }: { phases: TracePhase[] }) {
    const shown = PHASE_FACTORS.filter(({ of }) =>
        phases.some(phase => typeof of(phase) === 'number'),
    );
    return (
        <div class="scroll-x">
            <table class="plain matrix">
                <thead>
                    <tr>
                        <th scope="col">Region</th>
                        <th scope="col" class="number">
                            Time
                        </th>
                        {shown.map(({ name, title, meaning }) => (
                            <th scope="col" class="number" key={name} data-tip={meaning}>
                                {title}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {phases.map((phase, i) => (
                        <tr key={i}>
                            <th scope="row" class="mono">
                                {phase.name}
                            </th>
                            <td class="number">{seconds(phase.time_s)}</td>
                            {shown.map(({ name, of }) => (
                                <Share key={name} value={of(phase)} />
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

/** Regions over all calls with rated factors; then their iterations, if they have any. */
export function Phases({ phases }: { phases: TracePhase[] }) {
    const all = useMemo(() => phases.filter(one => one.iteration === null), [phases]);
    const rows = useMemo(() => phaseRows(phases.filter(one => one.iteration !== null)), [phases]);
    return (
        <Panel
            title="Phases"
            note={
                'Regions of the program over all calls. Communication is serialisation times ' +
                `transfer. ${POP_LEGEND}`
            }
        >
            <PhaseMatrix phases={all} />
            {phases.length > all.length && (
                <>
                    <h3>Iterations</h3>
                    <Grid rows={rows} name="phases" label="Efficiency of phases" sort={null} />
                </>
            )}
        </Panel>
    );
}

/** "210 ms to 250 ms"; null if both ends are the same as shown. */
export function gainRange({ low_s, high_s }: TraceGain): string | null {
    const [low, high] = [seconds(low_s), seconds(high_s)];
    return low === high ? null : `${low} to ${high}`;
}

export function TraceGains({ gains }: { gains: TraceGain[] }) {
    return (
        <Panel
            title="Savings by a change"
            note="By simulations of the trace: other causes of waiting stay."
        >
            <div class="scroll-x">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">If</th>
                            <th scope="col" class="number">
                                Saves
                            </th>
                            <th scope="col" class="number">
                                Interval
                            </th>
                            <th scope="col" class="number">
                                Of the run
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {gains.map(gain => (
                            <tr key={gain.name}>
                                <th scope="row">{gain.title}</th>
                                <td class="number">{seconds(gain.saved_s)}</td>
                                <td class="number muted">{gainRange(gain) ?? '–'}</td>
                                <td class="number">
                                    {gain.share_pct === null ? '–' : percent(gain.share_pct)}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </Panel>
    );
}
