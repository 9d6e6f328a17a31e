// SPDX-License-Identifier: Apache-2.0
// Two or more experiments beside each other, aligned by function, loop or source.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import type { Comparison as Data } from '../data/contract';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import { Amount, Empty, PageHead, Panel } from '../parts/parts';
import { type MadeColumn, madeView, quantityColumns, textColumn } from './table';

export function Comparison() {
    const { comparison } = useReport().doc;
    if (!comparison || !comparison.sides?.length)
        return (
            <>
                <PageHead title="Comparison" />
                <Empty>This report is about one experiment only.</Empty>
            </>
        );
    return <Known data={comparison} />;
}

function Known({ data }: { data: Data }) {
    const { sides } = data;
    const rows = useMemo(() => {
        const columns: MadeColumn[] = [
            textColumn(
                'name',
                'Name',
                data.rows.map(row => row.name),
                'code',
            ),
            textColumn(
                'object',
                'Kind',
                data.rows.map(row => row.object),
            ),
            textColumn(
                'where',
                'Where',
                data.rows.map(row => row.where),
                'code',
            ),
        ];
        sides.forEach((side, i) =>
            columns.push(
                ...quantityColumns(
                    `time_${side.name}`,
                    `Time ${side.name}`,
                    's',
                    `Time in ${side.experiment}`,
                    data.rows.map(row => row.time_s[i]),
                ),
            ),
        );
        columns.push(
            ...quantityColumns(
                'difference_pct',
                'Difference',
                '%',
                'Time of the last side over that of the first, minus 100 %',
                data.rows.map(row => row.difference_pct),
            ),
            {
                name: 'significant',
                title: 'Significant',
                kind: 'flag',
                shown: true,
                meaning: 'The difference is larger than what chance explains',
                values: data.rows.map(row => (row.significant ? 1 : 0)),
            },
        );
        if (data.rows.some(row => row.instructions))
            sides.forEach((side, i) =>
                columns.push({
                    name: `instructions_${side.name}`,
                    title: `Instr. ${side.name}`,
                    kind: 'integer',
                    shown: i < 2,
                    meaning: `Instructions of the code in ${side.experiment}`,
                    values: data.rows.map(row => row.instructions?.[i] ?? null),
                }),
            );
        columns.push({
            ...textColumn(
                'aligned_by',
                'Aligned by',
                data.rows.map(row => row.aligned_by),
            ),
            shown: false,
        });
        return madeView('comparison', 'Comparison', columns);
    }, [data]);
    return (
        <div class="tall-page">
            <PageHead title="Comparison" />
            <Panel title="Sides">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">Side</th>
                            <th scope="col">Experiment</th>
                            <th scope="col" class="number">
                                Repeats
                            </th>
                            <th scope="col" class="number">
                                Wall time
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {sides.map(side => (
                            <tr key={side.name}>
                                <th scope="row">{side.name}</th>
                                <td>{side.experiment}</td>
                                <td class="number">{integer(side.repeats)}</td>
                                <td class="number">
                                    <Amount quantity={side.wall_s} unit="s" />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Panel>
            <Grid
                rows={rows}
                name=""
                label="Comparison"
                sort={`time_${sides[0]!.name}`}
                groupBy={['object', 'aligned_by']}
                tall
            />
        </div>
    );
}
