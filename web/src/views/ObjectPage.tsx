// SPDX-License-Identifier: Apache-2.0
// The page of a loop or function: its numbers, its findings, source beside assembly, and what
// analyses add.

import { useMemo } from 'preact/hooks';
import { instructionsOf, lineFrom, link, loopFamily } from '../code/link';
import { SideBySide } from '../code/SideBySide';
import { useReport } from '../context';
import type { Code } from '../data/contract';
import type { Report } from '../data/report';
import { provenance } from '../format';
import { cellText } from '../grid/Cell';
import { doubtOf, headerUnit, marginText, originOf } from '../grid/cells';
import { type ObjectRef, type ViewRows, servingColumns } from '../grid/rows';
import { Choice, Empty, ObjectLink, PageHead, Panel } from '../parts/parts';
import { href, route, setParams } from '../route';
import { FindingItem } from './Finding';
import { InliningPanel, inliningParts } from './Inlining';
import { SectionPanel } from './Sections';
import { WhyPanel } from './WhyPanel';

export function ObjectPage({ kind }: { kind: 'loop' | 'function' }) {
    const report = useReport();
    const id = Number(route.value.path[1]);
    const rows = report.rows(`${kind}s`);
    const row = rows ? rows.rowOf(id) : -1;
    const code = report.code(kind === 'function' ? id : (report.codeOfLoop(id) ?? -1));
    if ((!rows || row < 0) && !code)
        return (
            <>
                <PageHead title={`${kind} ${route.value.path[1] ?? ''}`} />
                <Empty>
                    The report has no {kind} with this number.{' '}
                    <a href={href(`${kind}s`)}>All {kind}s</a>
                </Empty>
            </>
        );
    const object: ObjectRef = { kind, id };
    const varied = kind === 'loop' ? (report.varied().find(one => one.loop === id) ?? null) : null;
    // Findings from variants have a panel of their own, with the numbers behind them.
    const findings = report.findings(object).filter(one => !varied || one.topic !== 'differential');
    const sections = report.sections(object).filter(one => !varied || one.name !== 'variants');
    return (
        <>
            <PageHead title={<span class="mono">{report.label(object)}</span>}>
                <Around report={report} object={object} />
            </PageHead>
            {rows && row >= 0 && <Numbers rows={rows} row={row} />}
            {varied && <WhyPanel report={report} varied={varied} />}
            {findings.length > 0 && (
                <Panel title="Recommendations">
                    <ol class="findings">
                        {findings.map(finding => (
                            <FindingItem key={finding.rank} finding={finding} place={false} />
                        ))}
                    </ol>
                </Panel>
            )}
            {object.kind === 'function' && <InliningPanel report={report} id={id} />}
            <CodePanel report={report} object={object} />
            {sections.map(section => (
                <SectionPanel key={section.name} section={section} />
            ))}
            {rows && row >= 0 && <AllNumbers rows={rows} row={row} />}
        </>
    );
}

/** Links to what the object is in and what is in it. */
function Around({ report, object }: { report: Report; object: ObjectRef }) {
    const loops = report.rows('loops');
    const links: ObjectRef[] = [];
    if (object.kind === 'loop' && loops) {
        const owner = report.functionOfLoop(object.id);
        if (owner !== null) links.push({ kind: 'function', id: owner });
        const row = loops.rowOf(object.id);
        const parent = row < 0 ? -1 : loops.parent(row);
        if (parent >= 0) links.push({ kind: 'loop', id: loops.id(parent) });
        if (row >= 0)
            for (const child of Array.from(loops.children(row)))
                links.push({ kind: 'loop', id: loops.id(child) });
    } else if (loops) {
        for (let row = 0; row < loops.count(); row++)
            if (loops.parent(row) < 0 && report.functionOfLoop(loops.id(row)) === object.id)
                links.push({ kind: 'loop', id: loops.id(row) });
    }
    if (!links.length) return null;
    return (
        <nav class="around-links" aria-label="Around">
            {links.slice(0, 8).map(link => (
                <ObjectLink key={`${link.kind}${link.id}`} object={link} />
            ))}
            {links.length > 8 && <span class="muted">and {links.length - 8} more</span>}
        </nav>
    );
}

/** Columns shown at the head of the page even where tables hide them. */
const KEY = new Set([
    'inclusive_time_s',
    'inclusive_pct',
    'exclusive_time_s',
    'exclusive_pct',
    'binary_time_s',
    'binary_pct',
    'inlined_into',
    'blocked_time_s',
    'thread_n',
    'role',
    'is_innermost',
    'depth',
    'module',
    'category',
    'source_file',
    'line',
    'compiler',
    'instruction_n',
]);

function Value({ rows, row, at }: { rows: ViewRows; row: number; at: number }) {
    const column = rows.columns[at]!;
    const value = (index: number): number | null => (index < 0 ? null : rows.num(row, index));
    const doubt = doubtOf(rows, row, column);
    const rests = provenance(
        originOf(rows, row, column),
        value(column.countAt),
        value(column.lowAt),
        value(column.highAt),
        column.unit,
    );
    return (
        <span data-tip={rests || undefined}>
            {cellText(rows, row, at)} <span class="margin">{marginText(rows, row, at)}</span>{' '}
            {headerUnit(column)}
            {doubt && (
                <abbr class="doubt" data-tip={`${doubt.words}: ${rests}`}>
                    {doubt.mark}
                </abbr>
            )}
        </span>
    );
}

function Numbers({ rows, row }: { rows: ViewRows; row: number }) {
    const hidden = servingColumns(rows.columns);
    const shown = rows.columns.flatMap((column, at) =>
        !hidden.has(column.name) &&
        at !== rows.treeColumn &&
        (KEY.has(column.name) || (column.shown && column.kind !== 'text')) &&
        cellText(rows, row, at) !== ''
            ? [at]
            : [],
    );
    return (
        <dl class="facts">
            {shown.map(at => (
                <div key={at}>
                    <dt data-tip={rows.columns[at]!.meaning || undefined}>
                        {rows.columns[at]!.title}
                    </dt>
                    <dd>
                        <Value rows={rows} row={row} at={at} />
                    </dd>
                </div>
            ))}
        </dl>
    );
}

function AllNumbers({ rows, row }: { rows: ViewRows; row: number }) {
    const hidden = servingColumns(rows.columns);
    return (
        <details class="panel">
            <summary>All metrics</summary>
            <dl class="facts dense">
                {rows.columns.map((column, at) =>
                    hidden.has(column.name) || cellText(rows, row, at) === '' ? null : (
                        <div key={column.name}>
                            <dt data-tip={column.meaning || undefined}>{column.title}</dt>
                            <dd>
                                <Value rows={rows} row={row} at={at} />
                            </dd>
                        </div>
                    ),
                )}
            </dl>
        </details>
    );
}

const SCOPES = [
    { value: 'loop', text: 'This loop' },
    { value: 'function', text: 'Whole function' },
] as const;

function CodePanel({ report, object }: { report: Report; object: ObjectRef }) {
    const functionId = object.kind === 'function' ? object.id : report.codeOfLoop(object.id);
    const code = functionId === null ? null : codeWith(report, functionId);
    const whole = object.kind === 'function' || route.value.params['scope'] === 'function';
    const linked = useMemo(() => {
        const loops = report.rows('loops');
        let family: Set<number> | null = null;
        if (!whole && loops) {
            const parents = new Map<number, number | null>();
            for (let row = 0; row < loops.count(); row++) {
                const above = loops.parent(row);
                parents.set(loops.id(row), above < 0 ? null : loops.id(above));
            }
            family = loopFamily(object.id, parents);
        }
        const instructions = code ? instructionsOf(code, family) : [];
        return link(code, instructions, report.doc.sources, ownSources(report, object));
    }, [report, object.kind, object.id, whole]);
    const seconds = Number(report.doc.run['sampled_time_s']) || linked.total;
    const begin =
        functionId !== null && code && code.function_id !== functionId
            ? lineFrom(linked, report.doc.sources, ...declaration(report, functionId))
            : null;
    return (
        <Panel title="Source and assembly" class="code-panel">
            {object.kind === 'loop' && (
                <Choice
                    label="Code shown"
                    options={SCOPES}
                    value={whole ? 'function' : 'loop'}
                    onChange={value => setParams({ scope: value === 'loop' ? undefined : value })}
                />
            )}
            <SideBySide
                key={`${object.kind}${object.id}`}
                code={code}
                linked={linked}
                sources={report.doc.sources}
                runSeconds={seconds}
                begin={begin}
            />
        </Panel>
    );
}

function declaration(report: Report, functionId: number): [string | null, number] {
    const rows = report.rows('functions');
    const row = rows ? rows.rowOf(functionId) : -1;
    if (!rows || row < 0) return [null, NaN];
    return [rows.text(row, rows.columnAt('source_file')), rows.num(row, rows.columnAt('line'))];
}

/** The code of a function; of an inlined one, of that into which most of its time is inlined. */
function codeWith(report: Report, functionId: number): Code | null {
    const own = report.code(functionId);
    const tree = report.doc.calltree;
    if (own || !tree) return own;
    const most = inliningParts(tree, functionId, true)[0];
    return most ? report.code(most.id) : null;
}

/** Excerpts that hold the object's own lines, by its file and first line. */
function ownSources(report: Report, object: ObjectRef): number[] {
    const rows = report.rows(`${object.kind}s`);
    const row = rows ? rows.rowOf(object.id) : -1;
    if (!rows || row < 0) return [];
    const path = rows.text(row, rows.columnAt('source_file'));
    const line = rows.num(row, rows.columnAt(object.kind === 'loop' ? 'first_line' : 'line'));
    if (!path) return [];
    return report.doc.sources.flatMap((source, at) =>
        source.path === path && line >= source.first && line < source.first + source.lines.length
            ? [at]
            : [],
    );
}
