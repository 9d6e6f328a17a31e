// SPDX-License-Identifier: Apache-2.0
// Simulations of the traced run on other machines: times over what was swept, and time lines.

import { useMemo } from 'preact/hooks';
import { Chart } from '../chart/Chart';
import { useReport } from '../context';
import { type Simulated, settingText, settingTitle, sweepOver, sweptNames } from '../data/models';
import { counted, fixed, percent, seconds, tickSeconds } from '../format';
import { Empty, PageHead, Panel } from '../parts/parts';
import { route, setParams } from '../route';
import { BeforeAfter } from './BeforeAfter';

const OVER = 'over';

export function Simulation() {
    const { simulated, run_id } = useReport().doc;
    if (!simulated)
        return (
            <>
                <PageHead title="Simulation" />
                <Empty>
                    No simulation is stored for this run: assay simulate --store adds some.
                </Empty>
            </>
        );
    return <Known data={simulated} runId={run_id} />;
}

function Sweep({ data, names }: { data: Simulated; names: string[] }) {
    const asked = route.value.params[OVER];
    const name = names.find(one => one === asked) ?? names[0]!;
    const sweep = useMemo(() => sweepOver(data, name), [data, name]);
    const title = settingTitle(name);
    return (
        <Panel
            title="Sweep"
            note={
                sweep.leftOut
                    ? `${counted(sweep.leftOut, 'simulation')} without a limit of ${title}, or ` +
                      'with 0: in the table alone.'
                    : undefined
            }
        >
            {names.length > 1 && (
                <label>
                    <span class="tool-label">Time over </span>
                    <select
                        value={name}
                        onChange={event => setParams({ [OVER]: event.currentTarget.value })}
                    >
                        {names.map(one => (
                            <option key={one} value={one}>
                                {settingTitle(one)}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <Chart
                label={`Simulated time over ${title}; the table below has the times`}
                xLabel={sweep.xLog ? `${title}, logarithmic` : title}
                yLabel="time"
                x={sweep.x}
                series={sweep.series}
                format={tickSeconds}
                xFormat={value => settingText(name, value)}
                xFractions
                xLog={sweep.xLog ? 10 : undefined}
            />
        </Panel>
    );
}

function Known({ data, runId }: { data: Simulated; runId: number }) {
    const names = useMemo(() => sweptNames(data), [data]);
    const hasLines = data.traces.length > 1;
    return (
        <>
            <PageHead
                title="Simulation"
                note="The traced run on other machines: networks and CPUs that were assumed."
            />
            {names.length > 0 && <Sweep data={data} names={names} />}
            {hasLines && (
                <Panel title="Before and after">
                    <BeforeAfter data={data} runId={runId} />
                </Panel>
            )}
            <Panel title="Simulations" note="Times are those between MPI_Init and MPI_Finalize.">
                <Simulations data={data} runId={runId} />
            </Panel>
        </>
    );
}

function Simulations({ data, runId }: { data: Simulated; runId: number }) {
    const { recorded_run_id: id, recorded_time_s: time, ideal_time_s: ideal } = data.recorded;
    return (
        <div class="scroll-x">
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">Run</th>
                        <th scope="col" class="number">
                            Time
                        </th>
                        <th scope="col" class="number">
                            To recorded
                        </th>
                        <th scope="col" class="number">
                            Parallel efficiency
                        </th>
                        <th scope="col">Settings</th>
                    </tr>
                </thead>
                <tbody>
                    <tr>
                        <th scope="row">{id}: recorded</th>
                        <td class="number">{time === null ? '–' : seconds(time, 4)}</td>
                        <td class="number" />
                        <td class="number" />
                        <td />
                    </tr>
                    <tr>
                        <th scope="row">ideal network</th>
                        <td class="number">{seconds(ideal, 4)}</td>
                        <td class="number">{time ? `${fixed(ideal / time, 3)}×` : '–'}</td>
                        <td class="number" />
                        <td />
                    </tr>
                    {data.simulations.map(one => (
                        <tr key={one.run_id}>
                            <th scope="row">
                                {`${one.run_id}: ${one.label ?? ''}`}
                                {one.run_id === runId && (
                                    <span class="muted"> (of this report)</span>
                                )}
                            </th>
                            <td class="number">{seconds(one.time_s, 4)}</td>
                            <td class="number">
                                {one.ratio === null ? '–' : `${fixed(one.ratio, 3)}×`}
                            </td>
                            <td class="number">
                                {one.parallel_pct === null ? '–' : percent(one.parallel_pct)}
                            </td>
                            <td class="mono">{one.settings}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}
