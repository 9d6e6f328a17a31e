// SPDX-License-Identifier: Apache-2.0
// The table of the report: flat or nested rows of any number, of which only those near the visible
// part are in the page. Sorting, filtering, grouping, opening and the active row live in the
// address; this file joins the parts.

import { useMemo, useRef, useState } from 'preact/hooks';
import { integer } from '../format';
import { copyText, saveFile } from '../parts/save';
import { follow } from '../route';
import { ROW_PX, Body } from './Body';
import { tableText } from './csv';
import { Details } from './Details';
import { parseFilter } from './filter';
import { GroupedRows } from './grouped';
import { Header } from './Header';
import { keyAction } from './keys';
import { ABOVE, type Sort, hotPath, keepMatching, showLines } from './order';
import { type Rows, isNumeric } from './rows';
import {
    ALL_CLOSED,
    GridParams,
    formatOpen,
    formatSort,
    parseOpen,
    parseSort,
    useSettling,
} from './state';
import { Toolbar } from './Toolbar';
import { useWindow } from './window';
import { columnTemplate } from './widths';

const SHORT = 5; // rows that need no filter
const ROWS_MOST = 12; // that are in sight

export interface GridProps {
    rows: Rows;
    /** Tells tables of one page apart in the address; '' for the only one. */
    name: string;
    label: string;
    sort?: string | null;
    groupBy?: readonly string[];
    /** Columns shown at first, instead of those that say so themselves. */
    columns?: readonly string[];
    linkOf?: (node: number) => string | null;
    /** Keys of rows that are open until the reader opens or closes one. */
    openAtFirst?: readonly string[];
    onEnter?: (node: number) => void;
    /** Takes the height that is left; others are as high as their rows, up to a dozen. */
    tall?: boolean;
    plain?: boolean; // no toolbar
    /** False if rows under a row are not parts of its time. */
    hotPath?: boolean;
}

/** Names first, then numbers, then where and what: the numbers are what one came for. */
function place(rows: Rows, at: number): number {
    const column = rows.columns[at]!;
    if (column.kind === 'code' || column.lead) return 0;
    return isNumeric(column) || column.kind === 'flag' ? 1 : 2;
}

function defaultColumns({ rows, columns }: GridProps): number[] {
    const at = (name: string): number => rows.columns.findIndex(column => column.name === name);
    const shown = columns
        ? columns.map(at).filter(index => index >= 0)
        : rows.columns.flatMap((column, index) => (column.shown ? [index] : []));
    return shown.sort((a, b) => place(rows, a) - place(rows, b)); // stable
}

function chosenColumns(rows: Rows, text: string | undefined, fallback: number[]): number[] {
    const names = text?.split(',');
    const chosen = names
        ? names
              .map(name => rows.columns.findIndex(column => column.name === name))
              .filter(at => at >= 0)
        : fallback;
    return [rows.treeColumn, ...chosen.filter(at => at !== rows.treeColumn)];
}

function firstSort(rows: Rows, name: string | null | undefined): Sort | null {
    const column = rows.columns.findIndex(one => one.name === name);
    if (column < 0) return null;
    const kind = rows.columns[column]!.kind;
    return { column, descending: kind === 'number' || kind === 'integer' || kind === 'share' };
}

export function Grid(props: GridProps) {
    const { name, label, linkOf } = props;
    const params = useMemo(() => new GridParams(name), [name]);
    const [filterText, setFilterText] = useSettling(params, 'q');
    const [activeKey, setActiveKey] = useSettling(params, 'row');
    const [details, setDetails] = useState(false);
    const [said, setSaid] = useState('');
    const box = useRef<HTMLDivElement>(null);

    const group = params.get('group');
    const rows = useMemo(() => {
        const by = group ? props.rows.columns.findIndex(column => column.name === group) : -1;
        return by >= 0 ? new GroupedRows(props.rows, by) : props.rows;
    }, [props.rows, group]);

    const sortText = params.get('sort');
    const sort = useMemo(
        () => parseSort(sortText, rows) ?? firstSort(rows, props.sort),
        [rows, sortText, props.sort],
    );
    const filter = useMemo(() => parseFilter(filterText, rows.columns), [rows, filterText]);
    const keep = useMemo(
        () => (filter.matches ? keepMatching(rows, node => filter.matches!(rows, node)) : null),
        [rows, filter],
    );
    const openText = params.get('open');
    // A grouping has rows of its own, and none of them is open at first.
    const atFirst = group ? undefined : props.openAtFirst;
    const open = useMemo(
        () => (openText === undefined && atFirst ? new Set(atFirst) : parseOpen(openText)),
        [openText, atFirst],
    );
    const allClosed = atFirst?.length ? ALL_CLOSED : undefined;
    const allOpen = open.has('*');
    // Rows above a match are opened, so that the match is visible.
    const isOpen = (node: number): boolean =>
        allOpen || open.has(rows.key(node)) || keep?.[node] === ABOVE;
    const lines = useMemo(
        () => showLines(rows, sort, keep, isOpen),
        [rows, sort?.column, sort?.descending, keep, open],
    );
    const shown = chosenColumns(rows, params.get('cols'), defaultColumns(props));
    const template = useMemo(() => columnTemplate(props.rows, shown), [props.rows, shown.join()]);
    const range = useWindow(box, ROW_PX, lines.length);
    const activeNode = activeKey ? rows.find(activeKey) : -1;
    const activeIndex = useMemo(
        () => (activeNode < 0 ? -1 : lines.findIndex(line => line.node === activeNode)),
        [lines, activeNode],
    );

    const setOpen = (nodes: number[], value: boolean): void => {
        const next = new Set(open);
        if (allOpen) {
            next.delete('*');
            for (const line of lines)
                if (rows.hasChildren(line.node)) next.add(rows.key(line.node));
        }
        for (const node of nodes) {
            if (value) next.add(rows.key(node));
            else next.delete(rows.key(node));
        }
        params.set({ open: formatOpen(next) ?? allClosed }, true);
    };
    const scrollTo = (index: number): void => {
        const element = box.current;
        if (!element) return;
        const top = index * ROW_PX;
        const room = element.clientHeight - 2 * ROW_PX;
        if (top < element.scrollTop) element.scrollTop = top;
        else if (top > element.scrollTop + room) element.scrollTop = top - room;
    };
    const activate = (index: number): void => {
        const line = lines[index];
        if (!line) return;
        setActiveKey(rows.key(line.node));
        scrollTo(index);
    };
    const enter = (node: number): void => {
        if (props.onEnter) return props.onEnter(node);
        const address = linkOf?.(node);
        if (address) follow(address);
    };
    const showHotPath = (start: number): void => {
        const measure = rows.columns.findIndex(c => /^(inclusive|total)_(time_s|s)$/.test(c.name));
        const column = measure >= 0 ? measure : (sort?.column ?? 0);
        const path = hotPath(rows, start, column);
        setOpen(path.slice(0, -1), true);
        setActiveKey(rows.key(path[path.length - 1]!));
        setSaid(`Opened ${path.length} levels of the hot path`);
    };
    const copy = async (which: typeof lines): Promise<void> => {
        const done = await copyText(tableText(rows, which, shown, '\t'));
        setSaid(done ? `Copied ${which.length} rows` : 'The browser did not allow copying');
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.target !== event.currentTarget) return;
        const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW_PX) - 2);
        const action = keyAction(event, { rows, lines, index: activeIndex, page, isOpen });
        if (!action) return;
        event.preventDefault();
        if (action.kind === 'move') activate(action.index);
        else if (action.kind === 'open' || action.kind === 'close')
            setOpen([action.node], action.kind === 'open');
        else if (action.kind === 'enter') enter(action.node);
        else if (action.kind === 'copy') void copy(lines.slice(activeIndex, activeIndex + 1));
        else if (action.kind === 'hot-path') showHotPath(action.node);
        else setDetails(!details);
    };

    const total = rows.complete ? rows.count() : rows.roots().length;
    const rowText = (n: number): string => `${integer(n)} ${n === 1 ? 'row' : 'rows'}`;
    const status = keep
        ? `${rowText(lines.length)} shown of ${integer(total)}`
        : rowText(lines.length);
    // As high as its rows and a scroll bar below them, where there are few.
    const height = props.tall
        ? undefined
        : {
              minHeight: `${ROW_PX + 36}px`,
              maxHeight: lines.length > ROWS_MOST ? `${ROWS_MOST * ROW_PX + 36}px` : undefined,
          };

    return (
        <div class={props.tall ? 'table tall' : 'table'}>
            {!props.plain && (
                <Toolbar
                    label={label}
                    rows={rows}
                    short={total <= SHORT && !filterText}
                    filter={filterText}
                    problem={filter.problem}
                    onFilter={setFilterText}
                    group={group}
                    groupBy={(props.groupBy ?? []).flatMap(column => {
                        const found = props.rows.columns.find(one => one.name === column);
                        return found ? [{ name: found.name, title: found.title }] : [];
                    })}
                    onGroup={value => params.set({ group: value, open: undefined })}
                    shown={shown}
                    onColumns={value =>
                        params.set({ cols: value?.map(at => rows.columns[at]!.name).join(',') })
                    }
                    onExpand={rows.nested && rows.complete ? () => params.set({ open: '*' }) : null}
                    onCollapse={rows.nested ? () => params.set({ open: allClosed }) : null}
                    onHotPath={
                        rows.nested && lines.length && props.hotPath !== false
                            ? () => showHotPath(activeNode >= 0 ? activeNode : lines[0]!.node)
                            : null
                    }
                    onSave={() =>
                        saveFile(
                            `${name || label.toLowerCase()}.csv`,
                            tableText(rows, lines, shown, ','),
                            'text/csv',
                        )
                    }
                    onCopy={() => void copy(lines)}
                    onDetails={activeNode >= 0 ? () => setDetails(!details) : null}
                    status={said || status}
                />
            )}
            <div class="table-main">
                <div
                    ref={box}
                    class="grid"
                    role={rows.nested ? 'treegrid' : 'grid'}
                    aria-label={label}
                    aria-rowcount={lines.length + 1}
                    aria-colcount={shown.length}
                    aria-activedescendant={
                        activeIndex >= range.first && activeIndex < range.last
                            ? `${name || 'main'}-row-${activeIndex}`
                            : undefined
                    }
                    tabIndex={0}
                    style={{
                        '--columns': template.columns,
                        '--total': `${template.total}px`,
                        ...height,
                    }}
                    onKeyDown={onKeyDown}
                >
                    <Header
                        rows={rows}
                        shown={shown}
                        sort={sort}
                        onSort={next => {
                            setSaid('');
                            params.set({ sort: formatSort(next, rows) });
                        }}
                    />
                    <Body
                        rows={rows}
                        lines={lines}
                        shown={shown}
                        pixels={template.pixels}
                        range={range}
                        idPrefix={`${name || 'main'}-row-`}
                        activeIndex={activeIndex}
                        isOpen={isOpen}
                        linkOf={linkOf}
                        onActivate={index => {
                            setSaid('');
                            setActiveKey(rows.key(lines[index]!.node));
                        }}
                        onToggle={node => setOpen([node], !isOpen(node))}
                        onEnter={enter}
                    />
                    {!lines.length && (
                        <p class="empty">
                            {filter.matches ? 'No row matches the filter.' : 'There are no rows.'}
                        </p>
                    )}
                </div>
                {details && activeNode >= 0 && (
                    <Details rows={rows} node={activeNode} onClose={() => setDetails(false)} />
                )}
            </div>
        </div>
    );
}
