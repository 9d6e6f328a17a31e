// SPDX-License-Identifier: Apache-2.0
// The hottest functions and loops by their own time.

import { useReport } from '../context';
import { cellTip } from '../grid/Cell';
import { sortNodes } from '../grid/order';
import type { ViewRows } from '../grid/rows';
import { percent, seconds } from '../format';
import { ObjectLink, Panel } from '../parts/parts';
import { href } from '../route';

const MOST = 6;
const NAME_MOST = 32; // characters

/** Rows of a view by their own time, those that took some. */
export function hottest(rows: ViewRows, most: number): number[] {
    const column = rows.columnAt('exclusive_time_s');
    if (column < 0) return [];
    const all = Array.from({ length: rows.count() }, (_, row) => row);
    return Array.from(sortNodes(rows, all, { column, descending: true }))
        .filter(row => rows.num(row, column) > 0)
        .slice(0, most);
}

function HotTable({ rows, label }: { rows: ViewRows; label: string }) {
    const pct = rows.columnAt('exclusive_pct');
    const time = rows.columnAt('exclusive_time_s');
    return (
        <table class="plain hottest" aria-label={label}>
            <tbody>
                {hottest(rows, MOST).map(row => (
                    <tr key={row}>
                        <td class="number" data-tip={cellTip(rows, row, pct) || undefined}>
                            {percent(rows.num(row, pct))}
                        </td>
                        <td class="number">{seconds(rows.num(row, time))}</td>
                        <td class="mono">
                            <ObjectLink object={rows.object(row)!} most={NAME_MOST} />
                        </td>
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

export function HottestPanels() {
    const report = useReport();
    const functions = report.rows('functions');
    const loops = report.flatRows('loops');
    return (
        <div class="columns even">
            {functions && hottest(functions, 1).length > 0 && (
                <Panel
                    title="Hottest functions"
                    note={<a href={href('functions')}>All functions</a>}
                >
                    <HotTable rows={functions} label="Hottest functions" />
                </Panel>
            )}
            {loops && hottest(loops, 1).length > 0 && (
                <Panel title="Hottest loops" note={<a href={href('loops')}>All loops</a>}>
                    <HotTable rows={loops} label="Hottest loops" />
                </Panel>
            )}
        </div>
    );
}
