// SPDX-License-Identifier: Apache-2.0
// How far loops and functions are from the roofs of the machine.

import { useMemo } from 'preact/hooks';
import { RooflineChart } from '../chart/RooflineChart';
import { useReport } from '../context';
import {
    type Roofline as Data,
    type RoofPoint,
    type Shown,
    isDrawn,
    markText,
    pointsOf,
    roofsOf,
} from '../data/roofline';
import { counted, percent } from '../format';
import { Grid } from '../grid/Grid';
import type { ViewRows } from '../grid/rows';
import { Choice, Empty, PageHead, Panel } from '../parts/parts';
import { go, route, setParams } from '../route';
import { resultLinks } from './links';
import { type MadeColumn, madeView, textColumn } from './table';

export function Roofline() {
    const { roofline } = useReport().doc;
    if (!roofline)
        return (
            <>
                <PageHead title="Roofline" />
                <Empty>
                    Flops and bytes of this run were not counted. Use “assay roofline”, or “assay
                    run --count”.
                </Empty>
            </>
        );
    return <Known data={roofline} />;
}

const number = (
    name: string,
    title: string,
    meaning: string,
    values: (number | null)[],
    more: Partial<MadeColumn> = {},
): MadeColumn => ({
    name,
    title,
    meaning,
    values,
    kind: 'number',
    shown: true,
    group: 'values',
    ...more,
});

const giga = (value: number | null): number | null => (value === null ? null : value / 1e9);
const times = (value: number | null): number | null => (value === null ? null : 100 * value);

export function pointRows(points: readonly RoofPoint[]): ViewRows {
    const of = <T,>(value: (point: RoofPoint) => T): T[] => points.map(value);
    return madeView('roofline', 'Points', [
        textColumn(
            'name',
            'Name',
            of(it => it.name),
            'code',
        ),
        textColumn(
            'kind',
            'Kind',
            of(it => (it.kind === 'run' ? 'program' : it.kind)),
        ),
        number(
            'share_pct',
            'Time',
            'Part of the running time.',
            of(it => 100 * it.share),
            {
                unit: '%',
                digits: 1,
                bar: true,
            },
        ),
        number(
            'flops',
            'Gflop',
            'Flops, counted.',
            of(it => it.flop_n / 1e9),
            { digits: 3 },
        ),
        number(
            'bytes',
            'GB',
            'Bytes between registers and L1, counted.',
            of(it => (it.load_b + it.store_b) / 1e9),
            { digits: 3 },
        ),
        number(
            'intensity',
            'flop/B',
            'Flops per byte.',
            of(it => it.intensity),
            { digits: 3 },
        ),
        number(
            'gflop_s',
            'GFLOP/s',
            'Flops in a second of all threads, by sampled time.',
            of(it => giga(it.flop_s)),
            { digits: 2, low: 'gflop_s_low', high: 'gflop_s_high', origin: 'derived' },
        ),
        number(
            'gflop_s_low',
            'GFLOP/s, lower bound',
            '95 %.',
            of(it => giga(it.flop_s_low)),
            {
                shown: false,
                digits: 2,
            },
        ),
        number(
            'gflop_s_high',
            'GFLOP/s, upper bound',
            '95 %.',
            of(it => giga(it.flop_s_high)),
            {
                shown: false,
                digits: 2,
            },
        ),
        textColumn(
            'roof',
            'Roof',
            of(it => it.roof || null),
        ),
        number(
            'roof_pct',
            '% of roof',
            'Part of this roof that is reached.',
            of(it => times(it.roof_share)),
            {
                unit: '%',
                digits: 1,
            },
        ),
        number(
            'headroom',
            'Headroom',
            'At most so many times faster at this intensity.',
            of(it => it.headroom_x),
            { unit: 'x', digits: 2 },
        ),
        number(
            'huge',
            'Huge pages',
            'So many times higher is the roof on huge pages.',
            of(it => it.huge_x),
            { unit: 'x', digits: 2, shown: points.some(it => (it.huge_x ?? 1) >= 1.05) },
        ),
        textColumn(
            'vector',
            'Vectorised',
            of(it => it.vector),
        ),
        number(
            'cores',
            'Cores',
            'Threads in it at once.',
            of(it => it.core_n),
            { digits: 2, shown: false },
        ),
        textColumn(
            'marks',
            'Marks',
            of(it => it.marks.map(markText).join('; ') || null),
        ),
    ]);
}

function Key() {
    return (
        <div class="roof-key roofline">
            {[
                ['full', 'fully vectorised'],
                ['part', 'partly vectorised'],
                ['scalar', 'scalar'],
            ].map(([name, text]) => (
                <span key={name}>
                    <svg width="14" height="14" aria-hidden="true">
                        <circle class={`roof-point ${name}`} cx="7" cy="7" r="5" />
                    </svg>
                    {text}
                </span>
            ))}
            <span>size: time; line: 95 % interval; square: program or function</span>
        </div>
    );
}

/** Roofs of caches and memory are those on the pages of the program. */
function pagesOf(data: Data): string {
    if (!data.roofs.length) return '';
    if (data.huge_share === null)
        return 'Pages of the program are not known: roofs are those of huge pages.';
    const part = `${percent(100 * data.huge_share)} of the memory is in huge pages`;
    return data.roofs.some(roof => roof.is_huge)
        ? `${part}; dotted roofs are those of huge pages.`
        : `${part}.`;
}

function noteOf(data: Data, points: readonly RoofPoint[]): string {
    const left = points.filter(point => !isDrawn(point)).length;
    return [
        `Flops and bytes are counted; ${percent(100 * data.counted_share)} of the time is in ` +
            'counted functions.',
        data.has_levels
            ? 'Small dots stand at the flops per byte of each level.'
            : 'Bytes are between registers and L1: a point above the roof of a level has its ' +
              'data in a cache before it.',
        left ? `In the table alone: ${counted(left, 'point')} without flops or samples.` : '',
        data.waiting_share >= 0.005
            ? `${percent(100 * data.waiting_share)} of the time waits for other ranks or threads.`
            : '',
        pagesOf(data),
        data.external_load ? 'Other processes used the CPUs: rates are lower bounds.' : '',
        data.roofs.length ? '' : 'No ceilings of the machine were measured.',
    ]
        .filter(Boolean)
        .join(' ');
}

function usedCores(points: readonly RoofPoint[]): number {
    const time = points.reduce((sum, it) => sum + it.time_s, 0);
    return time ? points.reduce((sum, it) => sum + it.core_n * it.time_s, 0) / time : 1;
}

function Known({ data }: { data: Data }) {
    const { params } = route.value;
    const shown: Shown = params.points === 'functions' ? 'functions' : 'loops';
    const points = useMemo(() => pointsOf(data, shown), [data, shown]);
    const sizes = [...new Set(data.roofs.map(roof => roof.core_n))].sort((a, b) => a - b);
    const usual = usedCores(points) > 1.5 ? sizes.at(-1) : sizes[0];
    const coreN = sizes.find(n => String(n) === params.cores) ?? usual ?? 1;
    const roofs = useMemo(() => roofsOf(data, coreN, points), [data, coreN, points]);
    const rows = useMemo(() => pointRows(points), [points]);
    const links = useMemo(
        () => resultLinks(points.map(point => ({ object: point.kind, id: point.id }))),
        [points],
    );
    return (
        <>
            <PageHead
                title="Roofline"
                note="How far loops and functions are from what the machine can do."
            />
            <Panel title="Points and roofs" note={noteOf(data, points)}>
                <div class="roof-controls">
                    <Choice
                        label="Points"
                        options={[
                            { value: 'loops', text: 'Loops' },
                            { value: 'functions', text: 'Functions' },
                        ]}
                        value={shown}
                        onChange={value => setParams({ points: value })}
                    />
                    {sizes.length > 1 && (
                        <Choice
                            label="Roofs"
                            options={sizes.map(n => ({
                                value: String(n),
                                text: `Roofs of ${counted(n, 'core')}`,
                            }))}
                            value={String(coreN)}
                            onChange={value => setParams({ cores: value })}
                        />
                    )}
                </div>
                <RooflineChart
                    points={points}
                    roofs={roofs}
                    onPick={point => {
                        if (point.kind !== 'run') go(`${point.kind}/${point.id}`);
                    }}
                />
                <Key />
            </Panel>
            <Panel title="Values">
                <Grid
                    rows={rows}
                    name="roofline"
                    label="Values of the points"
                    sort={null}
                    linkOf={links}
                />
            </Panel>
        </>
    );
}
