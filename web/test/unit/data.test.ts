// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tickTexts } from '../../src/chart/ticks';
import type { Code, Source, View, WhatIf } from '../../src/data/contract';
import { decodeBase64, parseDocument, readSlot } from '../../src/data/slot';
import { highlightLines, languageOf } from '../../src/code/highlight';
import type { LanguageName } from '../../src/code/languages';
import { hottestLine, instructionsOf, link, loopFamily } from '../../src/code/link';
import { fixed, shellWord } from '../../src/format';
import { ViewRows } from '../../src/grid/rows';
import { formatHash, parseHash } from '../../src/route';
import { efficiencyRating } from '../../src/views/EfficiencyMatrix';
import { factText, factTitle } from '../../src/views/Experiment';
import { gainSeries } from '../../src/views/gain';
import { curvesOverCores, isFlat, settingsWords, timesOverSetting } from '../../src/views/settings';
import { hottest } from '../../src/views/Hottest';
import { sectionColumn } from '../../src/views/section_columns';
import { totalScore } from '../../src/views/Summary';

async function packed(text: string): Promise<string> {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}

test('slot: what was packed comes out, also over line ends', async () => {
    const text = await packed('{"schema":1,"title":"größe"}');
    assert.equal((await readSlot(text)).title, 'größe');
    const broken = text.replace(/(.{9})/g, '$1\n');
    assert.equal((await readSlot(broken)).title, 'größe');
});

test('slot: base64 longer than a chunk', () => {
    const bytes = Array.from({ length: 3_000_000 }, (_, i) => i % 251);
    const binary = bytes.map(byte => String.fromCharCode(byte)).join('');
    const chunks = decodeBase64(btoa(binary));
    assert.ok(chunks.length > 1);
    const sum = (list: number[]): number => list.reduce((all, one) => (all * 31 + one) % 1e9, 0);
    assert.equal(sum(chunks.flatMap(chunk => Array.from(chunk))), sum(bytes));
});

test('slot: each damage has its sentence', async () => {
    const good = await packed('{"schema":1}');
    await assert.rejects(readSlot(''), /has no data/);
    await assert.rejects(readSlot('%ASSAY_' + 'DATA%'), /has no data/);
    await assert.rejects(readSlot('*'.repeat(20)), /not valid base64/);
    await assert.rejects(readSlot(good.slice(0, 8)), /cannot be decompressed/);
    await assert.rejects(readSlot(await packed('{"schema":')), /not valid JSON/);
    await assert.rejects(readSlot(await packed('[]')), /not a JSON object/);
    await assert.rejects(readSlot(await packed('{"schema":99}')), /schema 99/);
});

test('document: parts that are left out are empty', () => {
    const doc = parseDocument('{"schema":1,"views":[null,{"name":"x"}]}');
    assert.deepEqual(doc.views, []);
    assert.deepEqual(doc.findings, []);
    assert.equal(doc.calltree, null);
});

test('address: what is written is read', () => {
    const route = { path: ['loop', '12'], params: { q: 'a>1 & "b"', at: '3:41' } };
    assert.deepEqual(parseHash(formatHash(route)), route);
    assert.deepEqual(parseHash(''), { path: ['summary'], params: {} });
    assert.deepEqual(parseHash('#/a%zz').path, ['a%zz']);
});

/** Text with its highlighted parts: `keyword(if) (a<b)`. */
function parts(lines: string[], language: LanguageName): string[] {
    return highlightLines(lines, language).map(line =>
        line
            .replace(/<span class="code-(\w+)">(.*?)<\/span>/g, '$1‹$2›')
            .replace(/&lt;/g, '<')
            .replace(/&gt;/g, '>')
            .replace(/&amp;/g, '&'),
    );
}

test('source: parts of C, and those that go on beyond a line', () => {
    assert.deepEqual(
        parts(['#include <a.h>', "double x = 1.5e-3, y = '\\'' /* a", 'b */ + 0x1fUL;'], 'c'),
        [
            'name‹#include› <a.h>',
            "type‹double› x = number‹1.5e-3›, y = string‹'\\''› comment‹/* a›",
            'comment‹b */› + number‹0x1fUL›;',
        ],
    );
    assert.deepEqual(parts(['class a;'], 'c'), ['class a;']);
    assert.deepEqual(parts(['class A { s = R"x(")"', ')x"; n = 1\'000; } // "'], 'cpp'), [
        'keyword‹class› A { s = string‹R"x(")"›',
        'string‹)x"›; n = number‹1\'000›; } comment‹// "›',
    ]);
    assert.deepEqual(parts(['s = "no end', 'if (a)'], 'c'), [
        's = string‹"no end›',
        'keyword‹if› (a)',
    ]);
});

test('source: parts of Fortran in both forms, and of assembly', () => {
    assert.deepEqual(parts(['  IF (x1 == 1.and.y) s = "it""s" ! no', 'call f(2.5d0)'], 'fortran'), [
        '  keyword‹IF› (x1 == number‹1›keyword‹.and.›y) s = string‹"it""s"› comment‹! no›',
        'keyword‹call› f(number‹2.5d0›)',
    ]);
    assert.deepEqual(parts(['c a comment', '      do 10 i'], 'fixed'), [
        'comment‹c a comment›',
        '      keyword‹do› number‹10› i',
    ]);
    assert.deepEqual(parts(['f:  lock addq $8, %rax # 1', '  .align 16'], 'asm'), [
        'name‹f:›  keyword‹lock addq› number‹$8›, type‹%rax› comment‹# 1›',
        '  name‹.align› number‹16›',
    ]);
    assert.deepEqual(parts(['vmovapd zmm1, zmmword ptr [r10+8*rbx-0x40]'], 'asm'), [
        'keyword‹vmovapd› type‹zmm1›, zmmword ptr [type‹r10›+number‹8›*type‹rbx›number‹-0x40›]',
    ]);
});

test('source: languages by name and by file', () => {
    assert.equal(languageOf('C++17', 'a.h'), 'cpp');
    assert.equal(languageOf('C', 'a.c'), 'c');
    assert.equal(languageOf(null, 'x/solver.F90'), 'fortran');
    assert.equal(languageOf(null, 'a.cc'), 'cpp');
    assert.equal(languageOf('Fortran 77', 'a.f'), 'fixed');
    assert.equal(languageOf('Rust', 'a.rs'), null);
});

test('source: text is never taken for markup', () => {
    const [line] = highlightLines(['if (a<b) x("</script>&");'], 'c');
    assert.ok(!line!.includes('</script>'));
    assert.equal(highlightLines(['a<b'], null)[0], 'a&lt;b');
});

const SOURCES: Source[] = [
    { id: 0, path: 'a.c', language: 'C', first: 10, lines: ['x', 'y'], time_s: [1, 2], n: [1, 2] },
    { id: 1, path: 'b.h', language: 'C', first: 5, lines: ['z'], time_s: [9], n: [9] },
];
const CODE: Code = {
    function_id: 1,
    name: 'f',
    module: 'm',
    address: ['0x0', '0x4', '0x8', '0xc'],
    text: ['a', 'b', 'c', 'd'],
    loop_id: [null, 7, 8, 7],
    block_id: [0, 1, 2, 1],
    source: [0, 0, 1, -1],
    line: [10, 11, 5, null],
    n: [1, 2, 9, 1],
    time_s: [0.1, 0.2, 0.9, 0.1],
};

test('code: a loop has the instructions of the loops inside it', () => {
    const family = loopFamily(
        7,
        new Map([
            [9, 8],
            [8, 7],
            [7, null],
            [1, null],
        ]),
    );
    assert.deepEqual([...family].sort(), [7, 8, 9]);
    assert.deepEqual(instructionsOf(CODE, family), [1, 2, 3]);
});

test('code: lines and instructions are linked, hot files first', () => {
    const linked = link(CODE, [1, 2, 3], SOURCES, [0]);
    assert.deepEqual(linked.byLine.get('1:5'), [2]);
    assert.equal(linked.byLine.has('0:10'), false);
    assert.deepEqual(
        linked.sourceRows.map(row => [row.kind, row.source, row.line]),
        [
            ['file', 1, 0],
            ['line', 1, 5],
            ['file', 0, 0],
            ['line', 0, 10],
            ['line', 0, 11],
        ],
    );
    assert.equal(hottestLine(linked, CODE), '1:5');
    assert.equal(linked.lineMax, 9);
});

test('summary: the score is the weighted mean of what is known', () => {
    const check = (score: number | null, weight: number, state: 'passed' | 'unknown') => ({
        name: '',
        title: '',
        score,
        weight,
        state,
        text: '',
        advice: null,
    });
    assert.equal(
        totalScore([
            check(1, 3, 'passed'),
            check(0, 1, 'passed'),
            check(null, 5, 'unknown'),
        ] as never),
        75,
    );
    assert.equal(totalScore([]), null);
});

test('axis: no two ticks look the same', () => {
    const format = (value: number, decimals = 2): string => `${fixed(value, decimals)}×`;
    assert.deepEqual(tickTexts([1, 1.01, 1.02], format), ['1.00×', '1.01×', '1.02×']);
    assert.deepEqual(tickTexts([1, 1.001, 1.002], format), ['1.000×', '1.001×', '1.002×']);
    assert.deepEqual(tickTexts([1, null, 2], format), ['1.00×', '', '2.00×']);
    assert.deepEqual(tickTexts([1, 1], format), ['1.00×', '1.00×']); // the same value
});

test('summary: hottest are those with most time of their own', () => {
    const view: View = {
        name: 'functions',
        title: 'Functions',
        object: 'function',
        key: null,
        parent: null,
        sort: null,
        row_n: 4,
        columns: [{ name: 'exclusive_time_s', title: 'Own', kind: 'number' }],
        data: { exclusive_time_s: { v: [1, 3, 0, null] } },
    };
    assert.deepEqual(hottest(new ViewRows(view), 5), [1, 0]);
    assert.deepEqual(hottest(new ViewRows(view), 1), [1]);
});

test('categories: a process is many processes', () => {
    assert.equal(factTitle('process_n'), 'Processes');
    assert.equal(factTitle('rank_n'), 'Ranks');
});

test('commands: the name of an experiment as a shell reads it', () => {
    assert.equal(shellWord('a/b-1.assay'), 'a/b-1.assay');
    assert.equal(shellWord("it's $x"), "'it'\\''s $x'");
});

test('gain curves: one axis, from no gain on, flat after the end', () => {
    const whatIf = (cumulative: number[], to80: number): WhatIf => ({
        name: 'x',
        title: 'X',
        meaning: '',
        object: 'loop',
        speedup: null,
        gain_s: null,
        id: cumulative.map((_, i) => i),
        each_s: cumulative,
        cumulative,
        to_80_n: to80,
    });
    const { x, series } = gainSeries([whatIf([1.5, 1.6], 1), whatIf([1.1, 1.2, 1.3], 2)]);
    assert.deepEqual(x, [0, 1, 2, 3]);
    assert.deepEqual(series[0]!.values, [1, 1.5, 1.6, 1.6]);
    const none = gainSeries([whatIf([1, 1], 1), whatIf([1.1], 1), whatIf([1.0004], 1)]);
    assert.equal(none.series.length, 1); // two of them gain nothing
    const long = gainSeries([whatIf(Array(5000).fill(2), 5)]);
    assert.equal(long.x.length, 21);
});

test('experiment: facts take their unit from their name', () => {
    assert.equal(factText('wall_s', 5.212), '5.21 s');
    assert.equal(factText('overhead_pct', 0.4), '0.40 %');
    assert.equal(factText('memory_b', 1024), '1.00 KiB');
    assert.equal(factText('sample_n', 20000), '20\u202f000');
    assert.equal(factText('label', null), null);
    assert.equal(factTitle('lost_sample_n'), 'Lost samples');
    assert.equal(factTitle('cwd'), 'Directory');
});

test('scalability: good from 80 %, fair from 50 %', () => {
    assert.deepEqual([1.2, 0.8, 0.79, 0.5, 0.1].map(efficiencyRating), [
        'good',
        'good',
        'fair',
        'fair',
        'poor',
    ]);
});

test('sections: columns that are only titles are known by what they hold', () => {
    const rows = [
        ['0x15d0', 2, 0.5, null],
        ['0x15d6', null, 3, 'x'],
    ];
    const kinds = rows[0]!.map(
        (_, at) => sectionColumn(`Title ${at}`, at, { columns: [], rows }).kind,
    );
    assert.deepEqual(kinds, ['address', 'integer', 'number', 'text']);
});

test('scalability: points with other settings', () => {
    const quantity = (value: number) => ({
        value,
        low: null,
        high: null,
        n: 1,
        origin: 'measured',
    });
    const point = (size: string, threads: number | null, base: number, wall: number) => ({
        run_id: base + 1,
        label: size,
        processes: 1,
        threads,
        settings: { size },
        base,
        repeats: 1,
        wall_s: quantity(wall),
        speedup: quantity(1 / wall),
        efficiency: quantity(1),
    });
    const over = { reference_run: 1, mode: 'strong' as const, varied: ['size'], rows: [] };
    const flat = {
        ...over,
        points: [point('200', null, 0, 2), point('1000', null, 1, 10), point('30', null, 2, 1)],
    };
    assert.equal(isFlat(flat), true);
    assert.deepEqual(timesOverSetting(flat), {
        x: [30, 200, 1000],
        series: [{ label: 'measured', values: [1, 2, 10] }],
    });
    assert.equal(settingsWords(flat, flat.points[0]!), 'size=200');
    const named = { ...over, points: [point('small', null, 0, 1), point('', null, 1, 2)] };
    assert.equal(timesOverSetting(named), null);
    const grid = {
        ...over,
        points: [point('1', 1, 0, 1), point('1', 4, 0, 0.5), point('2', 4, 2, 0.25)],
    };
    assert.equal(isFlat(grid), false);
    assert.deepEqual(
        curvesOverCores(grid, one => one.speedup),
        {
            x: [1, 4],
            series: [
                { label: 'size=1', values: [1, 2] },
                { label: 'size=2', values: [null, 4] },
            ],
        },
    );
});
