// SPDX-License-Identifier: Apache-2.0
// Ways to run the program that were tried against it as it is: what each gains, and what to type.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import type { Quantity, Try } from '../data/contract';
import { counted, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Amount, Empty, PageHead, Panel } from '../parts/parts';
import { madeView, type MadeColumn, quantityColumns, textColumn } from './table';

/** In per cent of the unchanged program; negative is faster. */
function change(one: Try): Quantity | null {
    if (one.ratio === null) return null;
    const pct = (ratio: number | null) => (ratio === null ? null : 100 * (ratio - 1));
    return {
        value: pct(one.ratio),
        low: pct(one.ratio_low),
        high: pct(one.ratio_high),
        n: one.n,
        origin: 'measured',
    };
}

const VERDICTS: Record<string, string> = {
    gain: 'faster for certain',
    harm: 'slower for certain',
    none: 'neither for certain',
    open: 'too few runs',
    same: 'the same code as another, not run',
    unbuilt: 'does not build',
    failed: 'does not run',
    hung: 'takes too long',
    differs: 'faster, with other results',
    unrun: 'not run',
};

export function Tried() {
    const { tries } = useReport().doc;
    const rows = useMemo(() => {
        const rank: MadeColumn = {
            name: 'rank',
            title: 'Rank',
            kind: 'integer',
            unit: null,
            values: tries.map(one => one.rank),
            meaning: '1 gives most',
            shown: false,
        };
        const runs: MadeColumn = {
            name: 'n',
            title: 'Runs',
            kind: 'integer',
            unit: null,
            values: tries.map(one => one.n),
            meaning: 'How many times it ran',
            shown: true,
        };
        const text = (name: string, title: string, pick: (one: Try) => string | null) =>
            textColumn(name, title, tries.map(pick));
        return madeView('tries', 'Tried', [
            rank,
            text('verdict', 'Verdict', one => VERDICTS[one.verdict] ?? one.verdict),
            text('name', 'Name', one => one.name),
            text('title', 'What', one => one.title),
            ...quantityColumns(
                'time',
                'Time',
                '%',
                'Against the unchanged program',
                tries.map(change),
            ),
            ...quantityColumns(
                'gain_s',
                'Gain',
                's',
                'Off the unchanged program',
                tries.map(one => one.gain_s),
            ),
            runs,
            text('result', 'Results', one => one.result ?? one.said),
        ]);
    }, [tries]);
    if (!tries.length)
        return (
            <>
                <PageHead title="Tried" />
                <Empty>Nothing was tried. “assay try -- CMD” measures what makes it faster.</Empty>
            </>
        );
    const gains = tries.filter(one => one.verdict === 'gain' || one.verdict === 'differs');
    return (
        <>
            <PageHead
                title="Tried"
                note={
                    `${counted(tries.length, 'way')} against the unchanged program, in turns; ` +
                    'intervals of all together hold in 95 of 100 campaigns'
                }
            />
            {gains.length > 0 && (
                <Panel title="Settings with a gain" class="wide">
                    <ol class="findings">
                        {gains.map(one => (
                            <GainItem key={one.name} one={one} />
                        ))}
                    </ol>
                </Panel>
            )}
            <Panel title="All that was tried" class="wide">
                <Grid rows={rows} name="tries" label="Tried" sort="rank" groupBy={['verdict']} />
            </Panel>
        </>
    );
}

function GainItem({ one }: { one: Try }) {
    return (
        <li class="finding">
            <div class="finding-gain">
                <b>
                    <Amount quantity={one.gain_s} unit="s" />
                </b>
                <span class="muted small">
                    {one.base_s === null ? '' : `of ${seconds(one.base_s)}`}
                </span>
            </div>
            <div>
                <p class="finding-head">
                    <b>{one.title}</b> · {one.result ?? 'results not compared'}
                </p>
                {one.why && <p>{one.why}</p>}
                {one.command && (
                    <p>
                        <code>{one.command}</code>
                    </p>
                )}
            </div>
        </li>
    );
}
