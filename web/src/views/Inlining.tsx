// SPDX-License-Identifier: Apache-2.0
// Inlined functions: the choice to see them. The page of a function shows its inlined copies, and
// the functions inlined into it.

import { useMemo } from 'preact/hooks';
import { binaryRows } from '../calltree/shape';
import { useReport } from '../context';
import type { CallTree } from '../data/contract';
import type { Report } from '../data/report';
import { percent, seconds } from '../format';
import { ObjectLink, Panel } from '../parts/parts';
import { route, setParams } from '../route';

export function showsInlined(): boolean {
    return route.value.params['inlined'] !== 'folded';
}

/** Nothing where no function is inlined. */
export function InlinedChoice() {
    const report = useReport();
    if (!report.hasInlined()) return null;
    return (
        <label class="tool-label">
            <input
                type="checkbox"
                checked={showsInlined()}
                onChange={event =>
                    setParams({
                        inlined: event.currentTarget.checked ? undefined : 'folded',
                        open: undefined,
                        row: undefined,
                        zoom: undefined,
                    })
                }
            />{' '}
            Show inlined functions
        </label>
    );
}

export interface Part {
    id: number;
    seconds: number;
}

/** Own time of an inlined function by function of the binary, or of one of the binary by inlined
 * function; most first. */
export function inliningParts(tree: CallTree, id: number, into: boolean): Part[] {
    const holder = binaryRows(tree);
    const sums = new Map<number, number>();
    for (let row = 0; row < tree.row_n; row++) {
        if (tree.inlined?.[row] !== 1) continue;
        const inner = tree.function_id[row] ?? null;
        const outer = tree.function_id[holder[row]!] ?? null;
        const [here, other] = into ? [inner, outer] : [outer, inner];
        if (here !== id || other === null) continue;
        sums.set(other, (sums.get(other) ?? 0) + (tree.self_s[row] ?? 0));
    }
    return [...sums]
        .map(([other, time]) => ({ id: other, seconds: time }))
        .filter(part => part.seconds > 0)
        .sort((a, b) => b.seconds - a.seconds || a.id - b.id);
}

const MOST = 12;

function Parts({ title, parts, all }: { title: string; parts: Part[]; all: number }) {
    if (!parts.length) return null;
    return (
        <Panel title={title}>
            <table class="plain hottest" aria-label={title}>
                <tbody>
                    {parts.slice(0, MOST).map(part => (
                        <tr key={part.id}>
                            <td class="number">
                                {percent(all > 0 ? (100 * part.seconds) / all : 0)}
                            </td>
                            <td class="number">{seconds(part.seconds)}</td>
                            <td class="mono">
                                <ObjectLink object={{ kind: 'function', id: part.id }} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
            {parts.length > MOST && <p class="muted">and {parts.length - MOST} more</p>}
        </Panel>
    );
}

export function InliningPanel({ report, id }: { report: Report; id: number }) {
    const tree = report.doc.calltree;
    const into = useMemo(() => (tree ? inliningParts(tree, id, true) : []), [tree, id]);
    const here = useMemo(() => (tree ? inliningParts(tree, id, false) : []), [tree, id]);
    const all = report.callTree()?.all ?? 0;
    return (
        <>
            <Parts title="Inlined into" parts={into} all={all} />
            <Parts title="Inlined here" parts={here} all={all} />
        </>
    );
}
