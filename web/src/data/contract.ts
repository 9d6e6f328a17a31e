// SPDX-License-Identifier: Apache-2.0
// The document that the page gets, as doc/reference/report-data.md describes it. Everything is
// optional where an older or newer program may leave it out: the page says what is missing.

import type { Scaling, Simulated } from './models';
import type { OverTime } from './over_time';
import type { Roofline } from './roofline';
import type { Parallel } from './parallel';

export type Origin = 'measured' | 'exact' | 'derived' | 'modelled' | 'simulated';

export interface Quantity {
    value: number | null;
    low: number | null;
    high: number | null;
    n: number | null;
    origin: string;
}

export type Rating = 'good' | 'fair' | 'poor' | 'none';
export type Better = 'higher' | 'lower' | 'neither' | null;

export interface Metric {
    name: string;
    title: string;
    group: string;
    unit: string | null;
    quantity: Quantity;
    better: Better;
    rating: Rating;
    good: number | null;
    fair: number | null;
    meaning: string;
    formula: string | null;
}

/** How evenly ranks or threads compute, doc/reference/metrics.md; the main one is the run's load
 * balance. */
export interface Balance {
    over: string;
    is_main: number;
    n: number;
    mean_s: number | null;
    max_s: number | null;
    balance_pct: number | null;
}

export interface WhatIf {
    name: string;
    title: string;
    meaning: string;
    object: string;
    speedup: Quantity | null;
    gain_s: Quantity | null;
    id: number[];
    each_s: number[];
    cumulative: number[];
    to_80_n: number | null;
}

export interface Check {
    name: string;
    title: string;
    score: number | null;
    weight: number;
    state: 'passed' | 'partly' | 'failed' | 'unknown';
    text: string;
    advice: string | null;
}

export interface Finding {
    rank: number;
    level: 'gain' | 'potential' | 'hint' | 'expert';
    topic: string;
    /** The rule of doc/reference/rules.md that found it. */
    rule?: string | null;
    object: string | null;
    id: number | null;
    text: string;
    workaround: string | null;
    /** Other causes at the same object, a line each. */
    more?: string | null;
    /** The next command to type; `{experiment}` in it stands for the experiment. */
    command?: string | null;
    gain_s: Quantity | null;
    time_s?: number | null;
    /** The measurement of `assay try`: "measured: -1.92 s ± 0.06 of 5.40 s (NAME)". */
    measured?: string | null;
}

/** A way to run the program that was tried against it as it is. */
export interface Try {
    rank: number;
    name: string;
    title: string;
    what: string;
    verdict: string;
    said: string | null;
    n: number;
    base_s: number | null;
    ratio: number | null;
    ratio_low: number | null;
    ratio_high: number | null;
    gain_s: Quantity | null;
    result: string | null;
    differs_by: number | null;
    /** The command to type. */
    command: string | null;
    /** Functions and loops that changed. */
    why: string | null;
}

export interface Flag {
    object: string;
    id: number | null;
    name: string;
    n: number | null;
    text: string;
}

export type ColumnKind =
    'number' | 'integer' | 'share' | 'text' | 'code' | 'flag' | 'address' | 'id';

export interface ViewColumn {
    name: string;
    title: string;
    group?: string | null;
    unit?: string | null;
    kind: ColumnKind;
    digits?: number | null;
    meaning?: string | null;
    shown?: boolean;
    better?: Better;
    low?: string | null;
    high?: string | null;
    doubt?: string | null;
    bar?: boolean;
    origin?: string | null;
    /** Its values have units of their own: nothing is alike in their decimals. */
    mixed?: boolean;
    /** Stands with the names, before numbers. */
    lead?: boolean;
    /** The column that this one only bounds, counts or explains. */
    of?: string | null;
}

export type Numbers = { v: (number | null)[] };
export type Texts = { dict: string[]; i: number[] };
export type ColumnData = Numbers | Texts;

export interface View {
    name: string;
    title: string;
    meaning?: string | null;
    object: string | null;
    key: string | null;
    parent: string | null;
    group_by?: string[];
    sort: string | null;
    row_n: number;
    columns: ViewColumn[];
    data: Record<string, ColumnData>;
}

export interface CallTree {
    row_n: number;
    parent: number[];
    function: Texts;
    function_id: (number | null)[];
    module: Texts;
    category: Texts;
    site: Texts;
    /** How the kernel was entered uncalled: `page_fault`, `interrupt` or `exception`. */
    entry?: Texts;
    /** 1: a function that is inlined into the one above it. */
    inlined?: number[];
    self_n: number[];
    self_s: number[];
    blocked_s: number[];
}

export interface Source {
    id: number;
    path: string;
    language: string | null;
    first: number;
    lines: string[];
    time_s: number[];
    n: number[];
}

export interface Code {
    function_id: number;
    name: string;
    module: string;
    address: string[];
    text: string[];
    loop_id: (number | null)[];
    block_id: (number | null)[];
    source: number[];
    line: (number | null)[];
    n: number[];
    time_s: number[];
}

export interface SectionTable {
    columns: (ViewColumn | string)[];
    rows: (number | string | null)[][];
}

/** How a table is drawn, columns by their numbers; `cells`: bars behind the numbers of `y`. */
export interface SectionChart {
    kind: 'bars' | 'points' | 'cells';
    x: number;
    y: number;
    group: number | null;
}

export interface Section {
    object: string;
    id: number | null;
    name: string;
    title: string;
    order: number;
    text: string | null;
    table: SectionTable | null;
    chart?: SectionChart | null;
    svg: string | null;
    timeline?: Timeline | null;
}

/**
 * Executions of instructions, seven numbers each: iteration, index of its text, and five times in
 * cycles. The first time is relative to the previous dispatch, each other to the time before it:
 * dispatch, sources ready, begin, end, retirement.
 */
export interface Timeline {
    text: string[];
    each: number[];
}

/** Cycles per iteration of a variant of a loop; without a bucket, of the main one. */
export interface Take {
    loop_id: number;
    bucket: string | null;
    variant: string;
    /** Description of the variant, and its position among all variants. */
    title: string | null;
    place: number;
    n: number | null;
    cycles: number | null;
    low: number | null;
    high: number | null;
    least: number | null;
    stability: number | null;
    /** Cycles of an instance. */
    instance: number | null;
    iterations: number | null;
    speedup: number | null;
}

/** The conclusion from variants of a loop or of one of its buckets; metrics by their names. */
export interface Verdict {
    loop_id: number;
    bucket: string | null;
    title: string | null;
    confidence: 'low' | 'medium' | 'high' | null;
    [metric: string]: number | string | null;
}

export interface ScalabilityPoint {
    run_id: number;
    label: string;
    processes: number;
    threads: number | null; // null: not set
    settings?: Record<string, string | null>; // of what else is varied
    base?: number; // the point that the efficiency is measured against
    repeats: number;
    failed?: number;
    oversubscribed?: boolean;
    wall_s: Quantity | null;
    speedup?: Quantity | null;
    efficiency: Quantity | null;
}

export interface ScalabilityRow {
    object: string;
    id?: number | null;
    name: string;
    where: string | null;
    time_s: (Quantity | null)[];
    efficiency: (Quantity | null)[];
}

export interface Scalability {
    reference_run: number;
    mode: 'strong' | 'weak';
    varied?: string[]; // names of settings besides nodes, processes and threads
    points: ScalabilityPoint[];
    rows: ScalabilityRow[];
    method?: string | null;
    notes?: string[];
}

export interface StabilityRow {
    object: string;
    id?: number | null;
    name: string;
    where: string | null;
    min_s: number | null;
    median_s: number | null;
    max_s: number | null;
    outliers?: number | null;
    deviation_pct: number | null;
}

export interface Stability {
    repeats: number;
    wall_s: {
        min: number;
        median: number;
        mean: number;
        max: number;
        deviation: number;
        all: number[];
    };
    outliers: { run_id: number; wall_s: number; text: string }[];
    failed?: number;
    warm_up?: number;
    drift_pct?: Quantity | null;
    drift_p?: number | null;
    levels?: { mean_s: number; n: number }[];
    rows: StabilityRow[];
    method?: string | null;
    notes?: string[];
}

export interface ComparisonRow {
    object: string;
    id?: number | null;
    name: string;
    where: string | null;
    aligned_by: string | null;
    time_s: (Quantity | null)[];
    difference_pct: Quantity | null;
    significant: boolean;
    code?: string | null;
    instructions?: (number | null)[];
    each?: {
        difference_pct: Quantity | null;
        p: number | null;
        significant: boolean;
        code?: string | null;
        differs?: string[];
    }[];
    facts?: ComparisonFact[];
    /** Facts about the code of a loop, equal or not. */
    cqa?: ComparisonFact[];
}

/** Something that is not alike on all sides; null is not known, or not there. */
export interface ComparisonFact {
    topic: string;
    name: string;
    title: string;
    unit: string | null;
    texts: (string | null)[];
    values?: (Quantity | null)[];
}

export interface ComparisonSide {
    name: string;
    given?: string | null;
    experiment: string;
    command?: string | null;
    host?: string | null;
    repeats: number;
    failed?: number;
    wall_s: Quantity | null;
    difference_pct?: Quantity | null;
}

export interface Comparison {
    sides: ComparisonSide[];
    facts?: ComparisonFact[];
    rows: ComparisonRow[];
    tested?: number;
    significant?: number;
    method?: string | null;
    notes?: string[];
}

export interface Document {
    schema: number;
    assay: string;
    made_utc: string;
    experiment: string;
    title: string;
    run_id: number;
    run: Record<string, string | number | null>;
    environment: { name: string; value: string }[];
    overheads: { part: string; cpu_s: number | null; wall_s: number | null; origin: string }[];
    metrics: Metric[];
    balance: Balance[];
    what_ifs: WhatIf[];
    checks: Check[];
    findings: Finding[];
    tries: Try[];
    flags: Flag[];
    views: View[];
    calltree: CallTree | null;
    sources: Source[];
    code: Code[];
    sections: Section[];
    variants: Take[];
    verdicts: Verdict[];
    scalability: Scalability | null;
    stability: Stability | null;
    comparison: Comparison | null;
    /** Results of its trace, if it was traced. */
    parallel: Parallel | null;
    /** Simulations on other machines, where some are stored. */
    simulated: Simulated | null;
    /** A scaling model of traces, where one is stored. */
    scaling: Scaling | null;
    /** Activity of its threads over time, by samples and switches. */
    over_time: OverTime | null;
    /** Points and roofs, where flops and bytes were counted. */
    roofline: Roofline | null;
}
