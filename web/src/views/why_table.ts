// SPDX-License-Identifier: Apache-2.0
// Loops and their buckets with what variants took: the table of differential analysis.

import type { ViewColumn } from '../data/contract';
import type { Report } from '../data/report';
import { type Varied, doubtNumber, takeOf } from '../data/variants';
import type { ViewRows } from '../grid/rows';
import { type MadeColumn, madeView, textColumn } from './table';

interface Line {
    loop: number;
    of: Varied;
    isBucket: boolean;
}

export interface WhyTable {
    rows: ViewRows;
    loops: number[]; // of each row
}

/** Shown at first; of the others there are columns to choose. */
const SHOWN = new Set(['orig', 'fp', 'ls', 'dl1', 'fes']);
const SHOWN_METRICS = new Set(['decan_orig_dl1_x']);

/** Metrics of loops from the table of loops, beside the results of variants. */
const OF_LOOPS: Record<string, string | null> = {
    cqa_path_n: 'Paths',
    cqa_cycles: 'CQA cycles',
    cqa_clean_x: 'CQA: if clean',
    cqa_fp_vector_x: 'CQA: if arithmetic vectorised',
    cqa_vector_x: 'CQA: if fully vectorised',
};

interface Named {
    variant: string;
    title: string | null;
}

function variantsOf(lines: readonly Line[]): Named[] {
    const places = new Map<string, { place: number; title: string | null }>();
    for (const { of } of lines)
        for (const { variant, place, title, cycles } of of.takes)
            if (cycles !== null) places.set(variant, { place, title });
    return [...places]
        .sort((a, b) => a[1].place - b[1].place)
        .map(([variant, { title }]) => ({ variant, title }));
}

const upper = (variant: string): string => variant.toUpperCase();

function takeColumns({ variant, title }: Named, lines: readonly Line[]): MadeColumn[] {
    const takes = lines.map(({ of }) => takeOf(of, variant));
    const what = title ?? 'a variant that this program does not know';
    const one = (
        end: string,
        name: string,
        meaning: string,
        value: (at: number) => number | null | undefined,
        more: Partial<ViewColumn> = {},
    ): MadeColumn => ({
        name: end ? `${variant}_${end}` : variant,
        title: name,
        kind: 'number',
        unit: '1',
        group: upper(variant),
        meaning,
        shown: false,
        origin: 'measured',
        values: takes.map((_, at) => value(at) ?? null),
        ...more,
    });
    const name = upper(variant);
    return [
        one(
            '',
            name,
            `Cycles of an iteration, median over instances: ${what}.`,
            at => takes[at]?.cycles,
            {
                unit: 'cy',
                mixed: true,
                shown: SHOWN.has(variant),
                doubt: `${variant}_doubt`,
            },
        ),
        one('doubt', `${name}, doubt`, 'How reliable.', at => doubtNumber(takes[at] ?? null)),
        one(
            'stability',
            `STA ${name}`,
            '(median - least) / least: how much instances alike differ; 0 is perfectly stable.',
            at => takes[at]?.stability,
            { digits: 2, better: 'lower', doubt: `${variant}_doubt` },
        ),
        one('n', `${name} instances`, 'Instances that count.', at => takes[at]?.n, {
            kind: 'integer',
        }),
        one(
            'instance',
            `${name} cycles/instance`,
            'Cycles of an instance, median: below 250 nothing is relied on, below 500 little.',
            at => takes[at]?.instance,
            { unit: 'cy', digits: 0 },
        ),
    ];
}

function metricColumns(report: Report, lines: readonly Line[]): MadeColumn[] {
    const known = report.rows('loops')?.columns ?? [];
    return known.flatMap(({ name, title, unit, digits, meaning, better }): MadeColumn[] => {
        if (!/^decan_/.test(name) || /_(low|high|origin)$/.test(name) || isWord(name)) return [];
        const values = lines.map(({ of }) => {
            const value = of.verdict?.[name];
            return typeof value === 'number' ? value : null;
        });
        if (values.every(value => value === null)) return [];
        const shown = SHOWN_METRICS.has(name);
        const kind = unit === '%' ? ('share' as const) : ('number' as const);
        const mixed = kind !== 'share';
        return [
            {
                ...{ name, title, unit, digits, mixed, meaning, better, kind, shown },
                ...{ group: 'ratios', values },
            },
        ];
    });
}

/** Numbers that stand for words, which are shown instead. */
const isWord = (name: string): boolean =>
    name === 'decan_verdict_n' || name === 'decan_confidence_n';

function loopColumns(report: Report, lines: readonly Line[]): MadeColumn[] {
    const loops = report.rows('loops');
    if (!loops) return [];
    return Object.entries(OF_LOOPS).flatMap(([name, title]): MadeColumn[] => {
        const at = loops.columnAt(name);
        if (at < 0) return [];
        const column = loops.columns[at]!;
        const values = lines.map(({ loop, isBucket }) => {
            const value = isBucket ? NaN : loops.num(loops.rowOf(loop), at);
            return Number.isNaN(value) ? null : value;
        });
        const shown = name === 'cqa_path_n';
        const { unit, kind, digits, meaning, origin } = column;
        return [
            {
                ...{ name, title: title ?? column.title, unit, kind, digits, meaning, origin },
                ...{ shown, group: 'CQA', values },
            },
        ];
    });
}

function shareColumn(report: Report, lines: readonly Line[]): MadeColumn {
    const loops = report.rows('loops');
    const at = loops?.columnAt('exclusive_pct') ?? -1;
    return {
        name: 'exclusive_pct',
        title: 'Coverage',
        unit: '%',
        kind: 'number',
        digits: 1,
        group: 'time',
        meaning: "Share of the run's time in the loop itself, by samples.",
        origin: 'measured',
        shown: true,
        values: lines.map(({ loop, isBucket }) => {
            const value = !loops || isBucket ? NaN : loops.num(loops.rowOf(loop), at);
            return Number.isNaN(value) ? null : value;
        }),
    };
}

function number(
    name: string,
    title: string,
    meaning: string,
    values: (number | null)[],
    more: Partial<ViewColumn> = {},
): MadeColumn {
    return { name, title, meaning, kind: 'number', unit: '1', group: 'time', values, ...more };
}

const lead = (column: MadeColumn, meaning: string): MadeColumn => ({
    ...column,
    lead: true,
    meaning,
});

export function whyTable(report: Report): WhyTable {
    const lines = report.varied().flatMap(({ loop, buckets, ...whole }): Line[] => [
        { loop, of: whole, isBucket: false },
        // One bucket is the loop itself.
        ...(buckets.length > 1 ? buckets.map(of => ({ loop, of, isBucket: true })) : []),
    ]);
    const ids = lines.map((_, at) => at);
    let above = -1;
    const parents = lines.map(({ isBucket }, at) => {
        if (!isBucket) above = at;
        return isBucket ? above : null;
    });
    const loops = report.rows('loops');
    const source = loops?.columnAt('function') ?? -1;
    const columns: MadeColumn[] = [
        textColumn(
            'name',
            'Loop',
            lines.map(({ loop, of, isBucket }) =>
                isBucket ? of.bucket : (loops?.text(loops.rowOf(loop), loops.treeColumn) ?? null),
            ),
            'code',
        ),
        lead(
            textColumn(
                'analysis',
                'Analysis',
                lines.map(({ of: { verdict } }) =>
                    verdict?.title ? `${verdict.title}, ${verdict.confidence ?? '?'}` : null,
                ),
            ),
            'Bottleneck of the loop, and the confidence of that verdict.',
        ),
        shareColumn(report, lines),
        ...metricColumns(report, lines),
        ...variantsOf(lines).flatMap(one => takeColumns(one, lines)),
        ...loopColumns(report, lines),
        number(
            'iterations',
            'Iterations',
            'Iterations of an instance, mean.',
            lines.map(({ of }) => of.takes.find(take => take.n)?.iterations ?? null),
            { digits: 0, shown: true, origin: 'measured' },
        ),
        {
            ...textColumn(
                'function',
                'Function',
                lines.map(({ loop }) =>
                    loops && source >= 0 ? loops.text(loops.rowOf(loop), source) : null,
                ),
            ),
            shown: false,
        },
        { ...number('row_id', 'Row', '', ids), kind: 'id', shown: false },
        { ...number('parent_id', 'Above', '', parents), kind: 'id', shown: false },
    ];
    const nest = { key: 'row_id', parent: 'parent_id' };
    const rows = madeView('why', 'Why loops take their time', columns, 'exclusive_pct', nest);
    return { rows, loops: lines.map(line => line.loop) };
}
