// SPDX-License-Identifier: Apache-2.0
// Global metrics as cards, by group in the order in which the groups first occur.

import type { Metric } from '../data/contract';
import { words } from '../format';
import { Amount, RatingMark } from '../parts/parts';

export function metricGroups(metrics: readonly Metric[]): [string, Metric[]][] {
    const groups = new Map<string, Metric[]>();
    for (const metric of metrics) {
        const list = groups.get(metric.group);
        if (list) list.push(metric);
        else groups.set(metric.group, [metric]);
    }
    return [...groups];
}

export function MetricCards({ metrics }: { metrics: readonly Metric[] }) {
    return (
        <>
            {metricGroups(metrics).map(([group, members], _, all) => (
                <div class="metric-group" key={group}>
                    {all.length > 1 && <h3>{words(group)}</h3>}
                    <ul class="cards">
                        {members.map(metric => (
                            <li key={metric.name} class={`card ${metric.rating}`}>
                                <span class="card-title" data-tip={metric.meaning}>
                                    {metric.title}
                                </span>
                                <span class="card-value">
                                    <Amount quantity={metric.quantity} unit={metric.unit} />
                                </span>
                                <RatingMark rating={metric.rating} />
                            </li>
                        ))}
                    </ul>
                </div>
            ))}
        </>
    );
}
