// SPDX-License-Identifier: Apache-2.0
// Efficiency of the regions of a traced run, rated as the POP methodology does. Savings by changes
// of the run.

import { useMemo } from 'preact/hooks';
import { popRating } from '../data/models';
import type { TraceGain, TracePhase } from '../data/parallel';
import { percent, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Panel, RATING_MARKS } from '../parts/parts';
import { phaseRows } from './trace_tables';

interface Factor {
    title: string;
    meaning: string;
    of: (phase: TracePhase) => number | null | undefined;
}

/** Each is the product of those to its right, down to the next product. */
const FACTORS: Factor[] = [
    {
        title: 'Parallel',
        meaning: 'Mean useful time of threads over the time.',
        of: phase => phase.parallel_pct,
    },
    {
        title: 'Load balance',
        meaning:
            'Mean over longest time of a rank outside MPI; without ranks useful time of threads.',
        of: phase => phase.mpi_balance_pct ?? phase.balance_pct,
    },
    {
        title: 'Communication',
        meaning: 'Longest time outside MPI over the time; without ranks useful time of a thread.',
        of: phase => phase.mpi_communication_pct ?? phase.communication_pct,
    },
    {
        title: 'Serialisation',
        meaning: 'Longest time of a rank outside MPI over the time on an ideal network.',
        of: phase => phase.mpi_serialisation_pct,
    },
    {
        title: 'Transfer',
        meaning: 'Time on an ideal network over the time.',
        of: phase => phase.mpi_transfer_pct,
    },
];

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
    const shown = FACTORS.filter(({ of }) => phases.some(phase => typeof of(phase) === 'number'));
    return (
        <div class="scroll-x">
            <table class="plain matrix">
                <thead>
                    <tr>
                        <th scope="col">Region</th>
                        <th scope="col" class="number">
                            Time
                        </th>
                        {shown.map(({ title, meaning }) => (
                            <th scope="col" class="number" key={title} data-tip={meaning}>
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
                            {shown.map(({ title, of }) => (
                                <Share key={title} value={of(phase)} />
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
                'transfer. ● good from 80 %, ▲ fair from 60 %, ■ poor below.'
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
