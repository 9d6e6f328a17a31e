// SPDX-License-Identifier: Apache-2.0
// Two or more experiments beside each other, aligned by function, loop or source.

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import type { Comparison as Data, ComparisonFact } from '../data/contract';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import { Amount, Empty, PageHead, Panel } from '../parts/parts';
import { loopCode } from './loopcode';
import { Notes } from './Notes';
import { type MadeColumn, madeView, objectColumns, quantityColumns, textColumn } from './table';

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

/** Columns of what differs: one side against the first, or every other side against it. */
function differences(data: Data): MadeColumn[] {
    const others = data.sides.slice(1);
    const first = data.sides[0]!.name;
    return others.flatMap((side, i) => {
        const last = i === others.length - 1;
        const each = data.rows.map(row => row.each?.[i] ?? null);
        const suffix = others.length > 1 ? `_${side.name}` : '';
        const named = others.length > 1 ? ` ${side.name}` : '';
        return [
            ...quantityColumns(
                `difference_pct${suffix}`,
                `Difference${named}`,
                '%',
                `Time of ${side.name} over that of ${first}, minus 100 %`,
                data.rows.map(
                    (row, at) => each[at]?.difference_pct ?? (last ? row.difference_pct : null),
                ),
            ),
            {
                name: `significant${suffix}`,
                title: `Significant${named}`,
                kind: 'flag',
                shown: true,
                meaning: 'The difference is larger than what chance explains',
                values: data.rows.map((row, at) =>
                    (each[at]?.significant ?? (last && row.significant)) ? 1 : 0,
                ),
            },
            {
                name: `p${suffix}`,
                title: `p${named}`,
                kind: 'number',
                digits: 3,
                shown: false,
                meaning:
                    'Probability of such a difference by chance, adjusted for many comparisons',
                values: each.map(one => one?.p ?? null),
            },
        ];
    });
}

/** Returns other differences of a row, one column for every side but the first. */
function whatDiffers(data: Data): MadeColumn[] {
    const others = data.sides.slice(1);
    return others.map((side, i) => {
        const several = others.length > 1;
        return {
            ...textColumn(
                several ? `differs_${side.name}` : 'differs',
                several ? `Other differences ${side.name}` : 'Other differences',
                data.rows.map(row => row.each?.[i]?.differs?.join('; ') || null),
            ),
            meaning:
                `Differences of flags, code and calls between ${data.sides[0]!.name} and ` +
                `${side.name}. They need not be the cause of the time difference`,
        };
    });
}

/** Returns the text of a fact for a side. */
function said(fact: ComparisonFact, side: number): string {
    const text = fact.texts[side];
    if (text != null) return text;
    return fact.topic === 'environment'
        ? 'not set'
        : fact.topic === 'library'
          ? 'none'
          : 'not known';
}

function Around({ data }: { data: Data }) {
    if (!data.facts?.length) return null;
    return (
        <Panel title="Differences of the environment">
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">Of</th>
                        <th scope="col">What</th>
                        {data.sides.map(side => (
                            <th key={side.name} scope="col">
                                {side.name}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {data.facts.map(fact => (
                        <tr key={`${fact.topic} ${fact.name}`}>
                            <td>{fact.topic}</td>
                            <th scope="row">{fact.title}</th>
                            {data.sides.map((side, i) => (
                                <td
                                    key={side.name}
                                    class={fact.texts[i] == null ? 'muted' : 'mono'}
                                >
                                    {said(fact, i)}
                                </td>
                            ))}
                        </tr>
                    ))}
                </tbody>
            </table>
        </Panel>
    );
}

function Known({ data }: { data: Data }) {
    const { sides } = data;
    const rows = useMemo(() => {
        const columns: MadeColumn[] = objectColumns(data.rows);
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
        columns.push(...differences(data), ...whatDiffers(data));
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
        columns.push(...loopCode(data));
        columns.push(
            textColumn(
                'code',
                'Code',
                data.rows.map(row => row.code ?? null),
            ),
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
            <PageHead
                title="Comparison"
                note={
                    typeof data.tested === 'number'
                        ? `${data.significant ?? 0} of ${integer(data.tested)} tested differ`
                        : null
                }
            />
            <Panel title="Sides">
                <table class="plain">
                    <thead>
                        <tr>
                            <th scope="col">Side</th>
                            <th scope="col">Experiment</th>
                            <th scope="col">Command</th>
                            <th scope="col" class="number">
                                Repeats
                            </th>
                            <th scope="col" class="number">
                                Wall time
                            </th>
                            <th scope="col" class="number">
                                Difference
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {sides.map(side => (
                            <tr key={side.name}>
                                <th scope="row">{side.name}</th>
                                <td>{side.given ?? side.experiment}</td>
                                <td class="mono">{side.command}</td>
                                <td class="number">{integer(side.repeats)}</td>
                                <td class="number">
                                    <Amount quantity={side.wall_s} unit="s" />
                                </td>
                                <td class="number">
                                    <Amount quantity={side.difference_pct} unit="%" />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </Panel>
            <Around data={data} />
            <Notes method={data.method} notes={data.notes} />
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
