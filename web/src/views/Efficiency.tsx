// SPDX-License-Identifier: Apache-2.0
// Shares of the POP methodology as the trees that they are: what is below multiplies (or, in the
// additive model, what is lost adds up) to what is above.

import type { Metric } from '../data/contract';
import { percent } from '../format';
import { RatingMark } from '../parts/parts';

/** Depth, and the name of the metric between `trace_` and `_efficiency_pct` or so. */
const MULTIPLIED: [number, string][] = [
    [0, 'trace_parallel_efficiency_pct'],
    [1, 'trace_mpi_parallel_efficiency_pct'],
    [2, 'trace_mpi_load_balance_pct'],
    [2, 'trace_mpi_communication_efficiency_pct'],
    [3, 'trace_mpi_startup_efficiency_pct'],
    [3, 'trace_mpi_serialisation_efficiency_pct'],
    [3, 'trace_mpi_transfer_efficiency_pct'],
    [1, 'trace_openmp_parallel_efficiency_pct'],
    [2, 'trace_openmp_load_balance_pct'],
    [2, 'trace_openmp_communication_efficiency_pct'],
];
const OF_THREADS: [number, string][] = [
    [0, 'trace_parallel_efficiency_pct'],
    [1, 'trace_load_balance_pct'],
    [1, 'trace_communication_efficiency_pct'],
];
const ADDED: [number, string][] = [
    [0, 'trace_parallel_efficiency_pct'],
    [1, 'trace_mpi_parallel_efficiency_pct'],
    [2, 'trace_process_load_balance_pct'],
    [2, 'trace_mpi_communication_efficiency_pct'],
    [3, 'trace_mpi_startup_efficiency_pct'],
    [3, 'trace_process_serialisation_pct'],
    [3, 'trace_process_transfer_pct'],
    [1, 'trace_thread_efficiency_pct'],
    [2, 'trace_openmp_region_efficiency_pct'],
    [2, 'trace_serial_region_efficiency_pct'],
];

function Tree({
    title,
    lines,
    metrics,
}: {
    title: string;
    lines: [number, string][];
    metrics: ReadonlyMap<string, Metric>;
}) {
    const known = lines.filter(([, name]) => typeof metrics.get(name)?.quantity.value === 'number');
    return (
        <table class="plain matrix efficiency">
            <caption>{title}</caption>
            <tbody>
                {known.map(([depth, name]) => {
                    const metric = metrics.get(name)!;
                    return (
                        <tr key={name}>
                            <th scope="row" class={`depth-${depth}`} data-tip={metric.meaning}>
                                {metric.title}
                            </th>
                            <td class={`number ${metric.rating}`}>
                                {percent(metric.quantity.value!)}
                            </td>
                            <td class={metric.rating}>
                                <RatingMark rating={metric.rating} />
                            </td>
                        </tr>
                    );
                })}
            </tbody>
        </table>
    );
}

export function Efficiency({ metrics }: { metrics: readonly Metric[] }) {
    const byName = new Map(metrics.map(metric => [metric.name, metric]));
    return (
        <div class="efficiencies">
            {byName.has('trace_mpi_parallel_efficiency_pct') && (
                <Tree
                    title="Multiplied: each is the product of those below it"
                    lines={MULTIPLIED}
                    metrics={byName}
                />
            )}
            <Tree
                title="Over all threads: the product of balance and communication"
                lines={OF_THREADS}
                metrics={byName}
            />
            {byName.has('trace_process_load_balance_pct') && (
                <Tree
                    title="Added: what is lost adds up to what is lost above"
                    lines={ADDED}
                    metrics={byName}
                />
            )}
        </div>
    );
}
