// SPDX-License-Identifier: Apache-2.0
// One thing to do: what, where, what it brings, and how.

import { useReport } from '../context';
import type { Finding } from '../data/contract';
import { integer, percent, shellWord, words } from '../format';
import { meaningOf } from '../glossary';
import { Gain, ObjectLink } from '../parts/parts';
import { meaningOfRule } from '../rules';

const LEVELS: Record<string, string> = {
    gain: 'usually pays off',
    potential: 'may pay off',
    hint: 'worth a look',
    expert: 'for experts',
};

/** Returns the promise of a level and its meaning. */
function levelTip(level: string): string | undefined {
    const [promise, meaning] = [LEVELS[level], meaningOf(level)];
    return promise && meaning ? `${promise}: ${meaning}` : promise;
}

const OTHERS = 6; // objects that a finding names; it counts the rest

/** Other objects of the finding. */
function Others({ others }: { others: readonly Finding[] }) {
    return (
        <p class="small">
            The same of{' '}
            {others.slice(0, OTHERS).map((one, i) => (
                <span key={one.rank}>
                    {i > 0 && ', '}
                    <ObjectLink object={{ kind: one.object!, id: one.id! }} />
                </span>
            ))}
            {others.length > OTHERS && ` and ${integer(others.length - OTHERS)} more`}
        </p>
    );
}

/** How it is known, and other causes at the same place. */
function More({ finding }: { finding: Finding }) {
    const meaning = meaningOfRule(finding.rule);
    const others = finding.more?.split('\n') ?? [];
    if (!meaning && others.length === 0) return null;
    return (
        <details>
            <summary>{others.length > 0 ? 'More about it' : 'How it is known'}</summary>
            {others.map(line => (
                <p key={line}>{line}</p>
            ))}
            {meaning && (
                <p class="muted">
                    {others.length > 0 && 'How it is known: '}
                    {meaning}
                </p>
            )}
        </details>
    );
}

interface Props {
    finding: Finding;
    place?: boolean;
    others?: readonly Finding[];
}

export function FindingItem({ finding, place, others }: Props) {
    const { gain_s: gain, time_s: time, object, id, command } = finding;
    const { experiment, run } = useReport().doc;
    const all = run['sampled_time_s'];
    // Seconds are gains alone; a loop without one has its share.
    const share =
        object === 'loop' && typeof time === 'number' && typeof all === 'number' && all > 0
            ? Math.min(100, (100 * time) / all)
            : null;
    return (
        <li class="finding">
            <div class="finding-gain">
                {gain && gain.value !== null ? (
                    <>
                        <b>
                            <Gain quantity={gain} unit="s" none={0} />
                        </b>
                        <span class="muted small">to gain</span>
                    </>
                ) : (
                    <span class="muted small">
                        {share === null ? '' : `${percent(share)} of the time`}
                    </span>
                )}
            </div>
            <div>
                <p class="finding-head">
                    <span class={`level ${finding.level}`} data-tip={levelTip(finding.level)}>
                        {finding.level}
                    </span>{' '}
                    <b>{words(finding.topic)}</b>
                    {place !== false && object && id !== null && object !== 'run' && (
                        <>
                            {' · '}
                            <ObjectLink object={{ kind: object, id }} />
                        </>
                    )}
                </p>
                {finding.measured && (
                    <p>
                        <b>{finding.measured}</b>
                    </p>
                )}
                <p>{finding.text}</p>
                {others && others.length > 0 && <Others others={others} />}
                {finding.workaround && <p class="workaround">{finding.workaround}</p>}
                <More finding={finding} />
                {command && (
                    <p>
                        <code>{command.replaceAll('{experiment}', shellWord(experiment))}</code>
                    </p>
                )}
            </div>
        </li>
    );
}
