// SPDX-License-Identifier: Apache-2.0
// Efficiency of each object at each point; colour and number say the same.

import { useState } from 'preact/hooks';
import type { Scalability } from '../data/contract';
import { fixed, provenance } from '../format';
import { RATING_MARKS } from '../parts/parts';

const FIRST = 40;

/** As doc/manual/compare.md has it: good from 80 %, fair from 50 %. */
export function efficiencyRating(fraction: number): 'good' | 'fair' | 'poor' {
    if (fraction >= 0.8) return 'good';
    return fraction >= 0.5 ? 'fair' : 'poor';
}

export function EfficiencyMatrix({ data }: { data: Scalability }) {
    const [all, setAll] = useState(false);
    const rows = all ? data.rows : data.rows.slice(0, FIRST);
    return (
        <>
            <div class="scroll-x">
                <table class="plain matrix">
                    <thead>
                        <tr>
                            <th scope="col">Object</th>
                            {data.points.map(point => (
                                <th scope="col" class="number" key={point.run_id}>
                                    {point.label}
                                </th>
                            ))}
                        </tr>
                    </thead>
                    <tbody>
                        {rows.map(row => (
                            <tr key={`${row.object} ${row.name} ${row.where}`}>
                                <th scope="row">
                                    <span class="muted">{row.object}</span>{' '}
                                    <span class="mono">{row.name}</span>{' '}
                                    <span class="muted">{row.where}</span>
                                </th>
                                {data.points.map((point, i) => {
                                    const quantity = row.efficiency[i];
                                    if (!quantity || quantity.value === null)
                                        return (
                                            <td key={point.run_id} class="number muted">
                                                –
                                            </td>
                                        );
                                    const rating = efficiencyRating(quantity.value);
                                    return (
                                        <td
                                            key={point.run_id}
                                            class={`number ${rating}`}
                                            data-tip={`${rating}; ${provenance(
                                                quantity.origin,
                                                quantity.n,
                                                quantity.low,
                                                quantity.high,
                                            )}`}
                                        >
                                            {fixed(100 * quantity.value, 0)} %{' '}
                                            <span aria-hidden="true">{RATING_MARKS[rating]}</span>
                                        </td>
                                    );
                                })}
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            {data.rows.length > FIRST && (
                <button type="button" class="button" onClick={() => setAll(!all)}>
                    {all ? 'Show the first only' : `Show all ${data.rows.length}`}
                </button>
            )}
        </>
    );
}
