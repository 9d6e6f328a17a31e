// SPDX-License-Identifier: Apache-2.0
// The machines of the runs: their parts, measurements on them, and caveats.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import { Empty, PageHead, Panel } from '../parts/parts';
import { ViewGrid } from './ViewGrid';
import { type Part, machinesOf } from './topology';

function Box({ part }: { part: Part }) {
    return (
        <li class={`place ${part.kind}`}>
            <span class="place-label">{part.labels.join(' · ')}</span>
            {part.memories.map(memory => (
                <span class="place-memory" key={memory}>
                    {memory}
                </span>
            ))}
            {part.processors.length > 0 && (
                <span class="place-processors">
                    {part.processors.map(one => (
                        <span
                            class={one.usable ? 'processor' : 'processor unusable'}
                            key={one.number}
                            data-tip={
                                one.usable
                                    ? `CPU ${one.number}`
                                    : `CPU ${one.number}, not available to the program`
                            }
                        >
                            {one.usable ? one.number : `(${one.number})`}
                        </span>
                    ))}
                </span>
            )}
            {part.parts.length > 0 && (
                <ul class="places">
                    {part.parts.map((one, i) => (
                        <Box part={one} key={i} />
                    ))}
                </ul>
            )}
        </li>
    );
}

export function Machine() {
    const report = useReport();
    const places = report.rows('machine_places');
    const machines = useMemo(() => (places ? machinesOf(places) : []), [places]);
    return (
        <>
            <PageHead title="Machine" />
            {machines.map(({ host, part }) => (
                <Panel title={`Topology of ${host}`} key={host}>
                    <ul class="places topology">
                        <Box part={part} />
                    </ul>
                </Panel>
            ))}
            <Panel title="Ceilings">
                {report.rows('machine') ? (
                    <ViewGrid view="machine" name="machine" />
                ) : (
                    <Empty>
                        Nothing was measured on this machine: 'assay machine --measure all' does it.
                    </Empty>
                )}
            </Panel>
            {report.rows('machine_findings') && (
                <Panel title="Doubts">
                    <ViewGrid view="machine_findings" name="machine_findings" />
                </Panel>
            )}
            <Panel title="Hosts">
                <ViewGrid view="hosts" name="machines" />
            </Panel>
        </>
    );
}
