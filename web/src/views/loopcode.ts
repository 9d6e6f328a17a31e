// SPDX-License-Identifier: Apache-2.0
// The code of loops in a comparison: a column for each value and side, hidden until asked for.

import type { Comparison, ComparisonFact } from '../data/contract';
import { type MadeColumn, textColumn } from './table';

/** The values that any row has, in the order of the data. */
function told(data: Comparison): ComparisonFact[] {
    const all = new Map<string, ComparisonFact>();
    for (const row of data.rows)
        for (const fact of row.cqa ?? []) if (!all.has(fact.name)) all.set(fact.name, fact);
    return [...all.values()];
}

export function loopCode(data: Comparison): MadeColumn[] {
    return told(data).flatMap(fact =>
        data.sides.map((side, i): MadeColumn => {
            const name = `${fact.name}_${side.name}`;
            const title = `${fact.title} ${side.name}`;
            const each = data.rows.map(row => row.cqa?.find(one => one.name === fact.name));
            if (!fact.unit)
                return {
                    ...textColumn(
                        name,
                        title,
                        each.map(one => one?.texts[i] ?? null),
                    ),
                    shown: false,
                };
            return {
                name,
                title,
                kind: 'number',
                unit: fact.unit,
                digits: fact.unit === '%' ? 1 : 3,
                shown: false,
                meaning: `Value of the loop code in ${side.experiment}, by a model of the core`,
                values: each.map(one => one?.values?.[i]?.value ?? null),
            };
        }),
    );
}
