// SPDX-License-Identifier: Apache-2.0
// Call paths: top-down, bottom-up, flat, around one function, and as a flame graph.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import { BottomUpRows, FlatRows, TopDownRows, hotKeys } from '../calltree/rows';
import type { Folded } from '../calltree/fold';
import { Flame } from '../flame/Flame';
import { counted, percent, seconds } from '../format';
import { Grid } from '../grid/Grid';
import { Choice, Empty, PageHead, Panel } from '../parts/parts';
import { shortName } from '../parts/short_name';
import { href, route, setParams } from '../route';
import { InlinedChoice, showsInlined } from './Inlining';
import { objectLinks } from './links';

const MODES = [
    { value: 'top-down', text: 'Top-down' },
    { value: 'bottom-up', text: 'Bottom-up' },
    { value: 'flat', text: 'Flat' },
    { value: 'around', text: 'Callers and callees' },
    { value: 'flame', text: 'Flame graph' },
] as const;
type Mode = (typeof MODES)[number]['value'];

export function CallTree() {
    const report = useReport();
    const asked = route.value.params['mode'];
    const mode: Mode = MODES.find(one => one.value === asked)?.value ?? 'top-down';
    // Bottom-up, flat and around a function, each function stands for itself: nothing is folded.
    const shaped = mode === 'top-down' || mode === 'flame';
    const entries = route.value.params['entries'] === 'shown';
    const sites = route.value.params['sites'] === 'apart';
    const inlined = showsInlined();
    const folded = shaped
        ? report.shapedTree({ entries, sites, inlined })
        : report.callTree(inlined);
    const change = (changes: Record<string, string | undefined>): void =>
        setParams({ ...changes, open: undefined, row: undefined, zoom: undefined });
    return (
        <div class="tall-page">
            <PageHead title="Call tree" note="Running time of call paths, summed over threads.">
                {folded && (
                    <Choice
                        label="Kind of call tree"
                        options={MODES}
                        value={mode}
                        onChange={next =>
                            change({
                                mode: next === 'top-down' ? undefined : next,
                                sort: undefined,
                            })
                        }
                    />
                )}
            </PageHead>
            {folded && !shaped && report.hasInlined() && (
                <div class="toolbar tree-shape">
                    <InlinedChoice />
                </div>
            )}
            {folded && shaped && (
                <ShapeChoice
                    folded={folded}
                    entries={entries}
                    sites={sites}
                    hasEntries={(report.doc.calltree?.entry?.i ?? []).some(at => at >= 0)}
                    onChange={change}
                />
            )}
            {folded ? (
                <ModeView
                    key={`${mode} ${entries} ${sites} ${inlined}`}
                    mode={mode}
                    folded={folded}
                />
            ) : (
                <Empty>
                    The report has no call paths: the profile was made without call stacks.
                </Empty>
            )}
        </div>
    );
}

interface ShapeProps {
    folded: Folded;
    entries: boolean;
    sites: boolean;
    hasEntries: boolean;
    onChange: (changes: Record<string, string | undefined>) => void;
}

/** Shows the amount of folded and merged time, and the choice to unfold it. */
function ShapeChoice({ folded, entries, sites, hasEntries, onChange }: ShapeProps) {
    const { seconds: time, n } = folded.interrupted;
    const share = folded.all > 0 ? percent((100 * time) / folded.all) : '';
    return (
        <div class="toolbar tree-shape">
            {hasEntries && (
                <label class="tool-label">
                    <input
                        type="checkbox"
                        checked={entries}
                        onChange={event =>
                            onChange({ entries: event.currentTarget.checked ? 'shown' : undefined })
                        }
                    />{' '}
                    Show interrupts and page faults
                    {!entries && (
                        <span class="muted">
                            {' '}
                            ({seconds(time)}, {share}, {counted(n, 'sample')} in what they
                            interrupted)
                        </span>
                    )}
                </label>
            )}
            <label class="tool-label">
                <input
                    type="checkbox"
                    checked={sites}
                    onChange={event =>
                        onChange({ sites: event.currentTarget.checked ? 'apart' : undefined })
                    }
                />{' '}
                Show each call site apart
            </label>
            <InlinedChoice />
        </div>
    );
}

function ModeView({ mode, folded }: { mode: Mode; folded: Folded }) {
    const rows = useMemo(() => {
        if (mode === 'top-down') return new TopDownRows(folded);
        if (mode === 'bottom-up') return new BottomUpRows(folded);
        return new FlatRows(folded);
    }, [mode, folded]);
    const openAtFirst = useMemo(
        () => (mode === 'top-down' ? hotKeys(rows) : undefined),
        [rows, mode],
    );
    if (mode === 'flame') return <Flame folded={folded} />;
    if (mode === 'around') return <Around folded={folded} />;
    const hidden = mode === 'flat' ? ['blocked_s', 'site'] : ['blocked_s'];
    const also = folded.interrupted.n > 0 ? ['interrupted_s'] : [];
    const shown = rows.columns
        .filter(({ name, shown }) => (shown && !hidden.includes(name)) || also.includes(name))
        .map(column => column.name);
    return (
        <Grid
            rows={rows}
            name=""
            label={`Call tree, ${mode}`}
            sort={mode === 'flat' ? 'self_s' : 'total_s'}
            columns={shown}
            linkOf={objectLinks(rows)}
            openAtFirst={openAtFirst}
            tall
        />
    );
}

const AROUND_MOST = 40; // characters of a name

export function aroundHref(folded: Folded, name: number): string {
    return href('calltree', { mode: 'around', of: folded.names[name] ?? '' });
}

function Around({ folded }: { folded: Folded }) {
    const of = route.value.params['of'];
    const flat = folded.flat();
    const asked =
        of === undefined ? undefined : flat.find(entry => folded.names[entry.name] === of);
    const hottest = flat.reduce((best, entry) => (entry.self > best.self ? entry : best), flat[0]!);
    const chosen = asked ?? hottest;
    const relatives = useMemo(() => folded.relatives(chosen.name), [folded, chosen.name]);
    const share = (time: number): string => percent(folded.all > 0 ? (100 * time) / folded.all : 0);
    const list = (entries: typeof relatives.callers): preact.JSX.Element => (
        <table class="plain narrow">
            <tbody>
                {entries.slice(0, 200).map(entry => (
                    <tr key={entry.name}>
                        <td class="number">{share(entry.time)}</td>
                        <td class="number">{seconds(entry.time)}</td>
                        <td class="mono">
                            {entry.name < 0 ? (
                                <span class="muted">(outermost)</span>
                            ) : (
                                <a
                                    href={aroundHref(folded, entry.name)}
                                    data-tip={folded.names[entry.name]}
                                >
                                    {shortName(folded.names[entry.name] ?? '', AROUND_MOST)}
                                </a>
                            )}
                        </td>
                    </tr>
                ))}
                {!entries.length && (
                    <tr>
                        <td class="muted">none</td>
                    </tr>
                )}
            </tbody>
        </table>
    );
    return (
        <div class="around">
            <label class="tool-label">
                Function{' '}
                <input
                    list="all-functions"
                    value={folded.names[chosen.name]}
                    onChange={event => setParams({ of: event.currentTarget.value })}
                />
                <datalist id="all-functions">
                    {flat.slice(0, 500).map(entry => (
                        <option key={entry.name} value={folded.names[entry.name]} />
                    ))}
                </datalist>
            </label>
            {of !== undefined && !asked && (
                <p class="warning" role="note">
                    No call path has a function “{of}”: the hottest one is shown.
                </p>
            )}
            <div class="around-columns">
                <Panel title="Callers">{list(relatives.callers)}</Panel>
                <Panel
                    title={shortName(folded.names[chosen.name] ?? '', AROUND_MOST)}
                    class="around-middle"
                >
                    <p>
                        Total <b>{seconds(relatives.total)}</b> ({share(relatives.total)})
                    </p>
                    <p>
                        Self <b>{seconds(relatives.self)}</b> ({share(relatives.self)})
                    </p>
                    {chosen.functionId !== null && (
                        <p>
                            <a href={href(`function/${chosen.functionId}`)}>Source and assembly</a>
                        </p>
                    )}
                </Panel>
                <Panel title="Callees">{list(relatives.callees)}</Panel>
            </div>
        </div>
    );
}
