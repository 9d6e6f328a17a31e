// SPDX-License-Identifier: Apache-2.0
// The rows that are near the visible part, at their places in a box as high as all of them.

import { NumberCell, PlainCell, cellText, cellTip, nameText } from './Cell';
import type { Line } from './order';
import { type Rows, isNumeric } from './rows';
import type { Window } from './window';

export const ROW_PX = 24;
const INDENT_PX = 16;
const TWISTY_PX = 16; // where a row opens
const DEEP = 8; // levels from which on the indent grows slower
const DEEP_INDENT_PX = 6;

function indent(level: number): number {
    return INDENT_PX * Math.min(level, DEEP) + DEEP_INDENT_PX * Math.max(0, level - DEEP);
}

interface Props {
    rows: Rows;
    lines: readonly Line[];
    shown: readonly number[];
    pixels: readonly number[]; // of the columns shown
    range: Window;
    idPrefix: string;
    activeIndex: number;
    isOpen: (node: number) => boolean;
    linkOf: ((node: number) => string | null) | undefined;
    onActivate: (index: number) => void;
    onToggle: (node: number) => void;
    onEnter: (node: number) => void;
}

export function Body(props: Props) {
    const { rows, lines, range } = props;
    // Runs before the listener of tooltips, which stands further out.
    const tell = (event: PointerEvent): void => {
        const cell =
            event.target instanceof Element ? event.target.closest('[role=gridcell]') : null;
        const number = cell?.querySelector('.cell-number');
        const line = lines[Number(cell?.parentElement?.ariaRowIndex) - 2];
        const at = props.shown[Number(cell?.ariaColIndex) - 1];
        if (!number || !line || at === undefined) return;
        const text = cellTip(rows, line.node, at);
        if (text) number.setAttribute('data-tip', text);
        else number.removeAttribute('data-tip');
    };
    // A row that scrolls out lends its elements to one that comes in.
    const slots = Math.max(64, 2 ** Math.ceil(Math.log2(range.last - range.first + 1)));
    const indices = Array.from(
        { length: Math.max(0, range.last - range.first) },
        (_, i) => i + range.first,
    );
    return (
        <div
            class="grid-body"
            role="rowgroup"
            style={{ height: `${lines.length * ROW_PX}px` }}
            onPointerOver={tell}
        >
            {indices.map(index => {
                const line = lines[index];
                if (!line) return null;
                const { node, level } = line;
                const parent = rows.hasChildren(node);
                const active = index === props.activeIndex;
                return (
                    <div
                        key={index % slots}
                        id={`${props.idPrefix}${index}`}
                        class={active ? 'grid-row active' : index % 2 ? 'grid-row odd' : 'grid-row'}
                        role="row"
                        aria-rowindex={index + 2}
                        aria-level={rows.nested ? level + 1 : undefined}
                        aria-expanded={parent ? props.isOpen(node) : undefined}
                        aria-selected={active}
                        style={{ top: `${index * ROW_PX}px` }}
                        onClick={() => props.onActivate(index)}
                        onDblClick={() => props.onEnter(node)}
                    >
                        {props.shown.map((at, i) => (
                            <div
                                key={at}
                                class={
                                    isNumeric(rows.columns[at]!) ? 'grid-cell number' : 'grid-cell'
                                }
                                role="gridcell"
                                aria-colindex={i + 1}
                            >
                                {i === 0
                                    ? NameCell({ ...props, node, level, at })
                                    : isNumeric(rows.columns[at]!)
                                      ? NumberCell({ rows, node, at })
                                      : PlainCell({ rows, node, at, pixels: props.pixels[i] })}
                            </div>
                        ))}
                    </div>
                );
            })}
        </div>
    );
}

function NameCell(props: Props & { node: number; level: number; at: number }) {
    const { rows, node, level, at } = props;
    const address = props.linkOf?.(node) ?? null;
    const number = isNumeric(rows.columns[at]!);
    const whole = (number ? cellText(rows, node, at) : rows.text(node, at)) ?? '(unknown)';
    const text = nameText(rows, at, whole, (props.pixels[0] ?? 0) - indent(level) - TWISTY_PX);
    const tip = text === whole ? undefined : whole;
    const code = rows.columns[at]!.kind === 'code' ? ' mono' : '';
    return (
        <span class="cell-name">
            {rows.nested && (
                <>
                    <span style={{ width: `${indent(level)}px` }} class="indent" />
                    {rows.hasChildren(node) ? (
                        <button
                            type="button"
                            tabIndex={-1}
                            class="twisty"
                            aria-label={props.isOpen(node) ? 'Collapse' : 'Expand'}
                            onClick={event => {
                                event.stopPropagation();
                                props.onToggle(node);
                            }}
                        >
                            {props.isOpen(node) ? '▾' : '▸'}
                        </button>
                    ) : (
                        <span class="twisty" />
                    )}
                </>
            )}
            {address ? (
                <a
                    class={`cell-text${code}`}
                    href={address}
                    tabIndex={-1}
                    data-full=""
                    data-tip={tip}
                >
                    {text}
                </a>
            ) : (
                <span class={`cell-text${code}`} data-full="" data-tip={tip}>
                    {text}
                </span>
            )}
        </span>
    );
}
