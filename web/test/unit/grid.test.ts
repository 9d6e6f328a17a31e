// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { View } from '../../src/data/contract';
import { withNames } from '../../src/data/names';
import { marginText, numberText, scaleOf } from '../../src/grid/cells';
import { quoteCsv, tableText } from '../../src/grid/csv';
import { parseFilter, tokens } from '../../src/grid/filter';
import { GroupedRows } from '../../src/grid/grouped';
import { NestedLoops } from '../../src/grid/nested_loops';
import { hotPath, keepMatching, showLines, sortNodes } from '../../src/grid/order';
import { type Rows, ViewRows } from '../../src/grid/rows';
import { formatOpen, parseOpen, parseSort } from '../../src/grid/state';
import { visible } from '../../src/grid/window';

const FUNCTIONS: View = {
    name: 'functions',
    title: 'Functions',
    object: 'function',
    key: 'function_id',
    parent: null,
    sort: 'exclusive_time_s',
    row_n: 4,
    columns: [
        { name: 'name', title: 'Function', kind: 'code', shown: true },
        { name: 'module', title: 'Module', kind: 'text', shown: true },
        {
            name: 'exclusive_time_s',
            title: 'Own time',
            kind: 'number',
            unit: 's',
            digits: 3,
            low: 'low',
            high: 'high',
            doubt: 'few',
            shown: true,
        },
        { name: 'inclusive_time_s', title: 'Total time', kind: 'number', unit: 's', shown: true },
        { name: 'low', title: 'Low', kind: 'number', unit: 's' },
        { name: 'high', title: 'High', kind: 'number', unit: 's' },
        { name: 'few', title: 'Few', kind: 'flag' },
        { name: 'function_id', title: 'Id', kind: 'id' },
    ],
    data: {
        name: {
            dict: ['solve', 'Assemble', 'vector<double>::push', 'x10', 'x9'],
            i: [0, 1, 2, 3],
        },
        module: { dict: ['app', 'libm.so.6'], i: [0, 0, 1, -1] },
        exclusive_time_s: { v: [1.5, 8.25, null, 0.0004] },
        inclusive_time_s: { v: [9, 8.25, 1, 0.5] },
        low: { v: [1.4, 8.05, null, 0] },
        high: { v: [1.6, 8.45, null, 0.001] },
        few: { v: [0, 0, 0, 1] },
        function_id: { v: [10, 20, 30, 40] },
    },
};

const LOOPS: View = {
    name: 'loops',
    title: 'Loops',
    object: 'loop',
    key: 'loop_id',
    parent: 'parent_id',
    sort: 'exclusive_time_s',
    row_n: 3,
    columns: [
        { name: 'loop_id', title: 'Loop', kind: 'id', shown: true },
        { name: 'source_file', title: 'File', kind: 'text', shown: true },
        { name: 'first_line', title: 'First', kind: 'id', shown: true },
        { name: 'last_line', title: 'Last', kind: 'id' },
        { name: 'exclusive_time_s', title: 'Own time', kind: 'number', unit: 's', shown: true },
        { name: 'inclusive_time_s', title: 'Total time', kind: 'number', unit: 's', shown: true },
        { name: 'depth', title: 'Depth', kind: 'integer', shown: true },
        { name: 'parent_id', title: 'Parent', kind: 'id' },
        { name: 'function_id', title: 'Function id', kind: 'id' },
    ],
    data: {
        loop_id: { v: [1, 2, 3] },
        source_file: { dict: ['/src/a.c'], i: [0, 0, -1] },
        first_line: { v: [10, 12, null] },
        last_line: { v: [20, 12, null] },
        exclusive_time_s: { v: [0.5, 7, 0.1] },
        inclusive_time_s: { v: [7.5, 7, 0.1] },
        depth: { v: [1, 2, 1] },
        parent_id: { v: [null, 1, null] },
        function_id: { v: [20, 20, 99] },
    },
};

const TIME = 2;
const functions = (): ViewRows => new ViewRows(FUNCTIONS);
const loops = (): ViewRows => new ViewRows(withNames(LOOPS));
const names = (rows: Rows, nodes: ArrayLike<number>): (string | null)[] =>
    Array.from(nodes, node => rows.text(node, rows.treeColumn));

test('grid: numbers sort with the unknown last in both directions', () => {
    const rows = functions();
    const down = sortNodes(rows, rows.roots(), { column: TIME, descending: true });
    assert.deepEqual(Array.from(down), [1, 0, 3, 2]);
    const up = sortNodes(rows, rows.roots(), { column: TIME, descending: false });
    assert.deepEqual(Array.from(up), [3, 0, 1, 2]);
});

test('grid: texts sort without case and with numbers in them', () => {
    const rows = functions();
    const up = sortNodes(rows, rows.roots(), { column: 0, descending: false });
    assert.deepEqual(names(rows, up), ['Assemble', 'solve', 'vector<double>::push', 'x10']);
});

test('grid: loops stand under their functions and loops', () => {
    const rows = new NestedLoops(functions(), loops());
    assert.deepEqual(names(rows, rows.children(1)), ['loop 1 · a.c:10–20']);
    const outer = rows.children(1)[0]!;
    assert.deepEqual(names(rows, rows.children(outer)), ['loop 2 · a.c:12']);
    assert.equal(rows.num(outer, TIME), 0.5);
    assert.deepEqual(rows.object(outer), { kind: 'loop', id: 1 });
    assert.equal(rows.find('l2'), rows.children(outer)[0]);
    // A loop of a function that is not there is a root, not lost.
    assert.deepEqual(names(rows, rows.roots()).slice(-1), ['loop 3']);
});

test('grid: a filter keeps what matches and all above it', () => {
    const rows = new NestedLoops(functions(), loops());
    const { matches } = parseFilter('"loop 2"', rows.columns);
    const keep = keepMatching(rows, node => matches!(rows, node));
    const lines = showLines(rows, null, keep, () => true);
    assert.deepEqual(
        names(
            rows,
            lines.map(line => line.node),
        ),
        ['Assemble', 'loop 1 · a.c:10–20', 'loop 2 · a.c:12'],
    );
    assert.deepEqual(
        lines.map(line => line.level),
        [0, 1, 2],
    );
});

test('grid: what stands below a match can be opened', () => {
    const rows = new NestedLoops(functions(), loops());
    const { matches } = parseFilter('assemble', rows.columns);
    const keep = keepMatching(rows, node => matches!(rows, node));
    assert.equal(showLines(rows, null, keep, () => false).length, 1);
    assert.equal(showLines(rows, null, keep, () => true).length, 3);
});

const matching = (text: string): (string | null)[] => {
    const rows = functions();
    const { matches } = parseFilter(text, rows.columns);
    return names(
        rows,
        Array.from(rows.roots()).filter(node => !matches || matches(rows, node)),
    );
};

test('filter: conditions on columns by name, title or a part of it', () => {
    assert.deepEqual(matching('own>1'), ['solve', 'Assemble']);
    assert.deepEqual(matching('exclusive_time_s<=1.5'), ['solve', 'x10']);
    assert.deepEqual(matching('total>=500ms own<1'), ['x10']);
    assert.deepEqual(matching('module=libm.so.6'), ['vector<double>::push']);
    assert.deepEqual(matching('module!=app'), ['vector<double>::push', 'x10']);
    assert.deepEqual(matching('name~SOLV'), ['solve']);
});

test('filter: words, unwanted words, quotes', () => {
    assert.deepEqual(matching('app'), ['solve', 'Assemble']);
    assert.deepEqual(matching('app -solve'), ['Assemble']);
    assert.deepEqual(matching('vector<double>'), ['vector<double>::push']);
    assert.deepEqual(matching('own>'), matching(''));
    assert.deepEqual(tokens('a "b c" d'), ['a', 'b c', 'd']);
});

test('filter: what is wrong is said', () => {
    const { columns } = functions();
    assert.equal(parseFilter('speed>1', columns).problem, 'There is no column “speed”.');
    assert.ok(parseFilter('own>fast', columns).problem?.includes('holds numbers'));
    assert.ok(parseFilter('module>3', columns).problem?.includes('holds text'));
    assert.equal(parseFilter('own>1', columns).problem, null);
});

test('grid: groups sum what may be added and nothing else', () => {
    const rows = new GroupedRows(functions(), 1);
    const roots = Array.from(rows.roots());
    assert.deepEqual(names(rows, roots), ['app (2)', 'libm.so.6 (1)', '(unknown) (1)']);
    assert.equal(rows.num(roots[0]!, TIME), 9.75);
    assert.ok(Number.isNaN(rows.num(roots[0]!, 3)));
    assert.equal(rows.parent(0), roots[0]);
    assert.equal(rows.find(rows.key(roots[2]!)), roots[2]);
});

test('grid: the hot path follows children with half of their parent', () => {
    const rows = new NestedLoops(functions(), loops());
    const total = rows.columns.findIndex(column => column.name === 'inclusive_time_s');
    assert.deepEqual(names(rows, hotPath(rows, 1, total)), [
        'Assemble',
        'loop 1 · a.c:10–20',
        'loop 2 · a.c:12',
    ]);
    assert.deepEqual(names(rows, hotPath(rows, 0, total)), ['solve']);
});

test('grid: a loop that others stand under is ordered by the time with them', () => {
    const own = { v: [0.05, 7, 0.1] }; // the outer loop has least of its own
    const view = {
        ...LOOPS,
        data: { ...LOOPS.data, exclusive_time_s: own, function_id: { v: [20, 20, 20] } },
    };
    const nested = new ViewRows(withNames(view));
    const sort = (rows: ViewRows | NestedLoops, nodes: ArrayLike<number>) => {
        const column = rows.columns.findIndex(one => one.name === 'exclusive_time_s');
        return names(rows, sortNodes(rows, nodes, { column, descending: true }));
    };
    assert.deepEqual(sort(nested, nested.roots()), ['loop 1 · a.c:10–20', 'loop 3']);
    const flat = new ViewRows(withNames(view), false);
    assert.deepEqual(sort(flat, flat.roots()), ['loop 2 · a.c:12', 'loop 3', 'loop 1 · a.c:10–20']);
    const within = new NestedLoops(functions(), nested);
    const assemble = within.find('f20');
    assert.deepEqual(sort(within, within.children(assemble)), ['loop 1 · a.c:10–20', 'loop 3']);
    assert.equal(sort(within, within.roots())[0], 'Assemble'); // functions by their own time
});

test('cells: a column shares unit and decimals; what would vanish is said to be less', () => {
    const { columns } = functions();
    const column = columns[TIME]!;
    assert.equal(scaleOf(column).unit, 's');
    assert.equal(numberText(column, 8.25), '8.250');
    assert.equal(numberText(column, 0.0004), '<0.001');
    assert.equal(numberText(column, 0), '0');
    assert.equal(numberText(column, NaN), '');
    assert.equal(numberText({ ...column, max: 0.02 }, 0.0125), '12.50');
    const memory = { ...column, kind: 'integer' as const, unit: 'B', digits: 0 };
    assert.equal(numberText({ ...memory, max: 34_359_738_368 }, 34_359_738_368), '32.0');
    assert.equal(numberText({ ...memory, max: 900 }, 812), '812');
    assert.equal(numberText({ ...memory, unit: 'Hz', max: 2.4e9 }, 2.4e9), '2.40');
});

test('cells: intervals are shown in the unit of the column', () => {
    const rows = functions();
    assert.equal(marginText(rows, 1, TIME), '±0.200');
    assert.equal(marginText(rows, 2, TIME), '');
    assert.equal(marginText(rows, 3, TIME), '≤0.001'); // 0 does not count as a bound
});

test('csv: full precision, quoting, and no formulas', () => {
    const rows = functions();
    const lines = [0, 2].map(node => ({ node, level: 0 }));
    assert.equal(
        tableText(rows, lines, [0, TIME], ','),
        'name,exclusive_time_s\r\nsolve,1.5\r\nvector<double>::push,\r\n',
    );
    assert.equal(quoteCsv('a "b", c'), '"a ""b"", c"');
    assert.equal(quoteCsv('=1+1'), "'=1+1");
    assert.equal(quoteCsv('-3.5'), '-3.5');
});

test('state: sorting and open rows survive the address', () => {
    const rows = functions();
    assert.deepEqual(parseSort('-exclusive_time_s', rows), { column: TIME, descending: true });
    assert.equal(parseSort('nothing', rows), null);
    const open = new Set(['f1', 'gmap<int, int>~x']);
    assert.deepEqual(parseOpen(formatOpen(open)), open);
    assert.equal(formatOpen(new Set()), undefined);
});

test('window: rows near the visible part, never beyond the ends', () => {
    assert.deepEqual(visible(0, 240, 24, 1000), { first: 0, last: 22 });
    assert.deepEqual(visible(2400, 240, 24, 1000), { first: 88, last: 122 });
    assert.deepEqual(visible(24_000, 240, 24, 1000), { first: 988, last: 1000 });
    assert.deepEqual(visible(0, 240, 24, 0), { first: 0, last: 0 });
});
