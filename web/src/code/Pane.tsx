// SPDX-License-Identifier: Apache-2.0
// A list of lines of code of any length with a cursor: the source pane and the assembly pane.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useWindow } from '../grid/window';

const LINE_PX = 20;

export interface PaneRow {
    class: string;
    content: ComponentChildren;
    label?: string;
}

interface Props {
    label: string;
    id: string;
    count: number;
    /** Lines of the longer pane beside it: both are as high as that needs. */
    most: number;
    row: (index: number) => PaneRow;
    cursor: number; // index or -1
    /** Scrolls to this row whenever `shownAt` changes. */
    show: number;
    shownAt: string;
    onCursor: (index: number) => void;
    onHover: (index: number) => void;
}

export function Pane(props: Props) {
    const { count, cursor, id } = props;
    const box = useRef<HTMLDivElement>(null);
    const range = useWindow(box, LINE_PX, count);
    const placed = useRef(false);
    useEffect(() => {
        const element = box.current;
        if (!element || props.show < 0) return;
        const top = props.show * LINE_PX;
        const first = !placed.current; // then it comes to a good place, later only into sight
        placed.current = true;
        if (
            first ||
            top < element.scrollTop ||
            top > element.scrollTop + element.clientHeight - 2 * LINE_PX
        )
            element.scrollTop = Math.max(0, top - element.clientHeight / 3);
    }, [props.show, props.shownAt]);
    const onKeyDown = (event: KeyboardEvent): void => {
        const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / LINE_PX) - 1);
        const steps: Record<string, number> = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: page,
            PageUp: -page,
            Home: -count,
            End: count,
        };
        const step = steps[event.key];
        if (step === undefined || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const next = Math.max(0, Math.min(count - 1, Math.max(cursor, 0) + step));
        props.onCursor(next);
        const element = box.current!;
        const top = next * LINE_PX;
        if (top < element.scrollTop) element.scrollTop = top;
        else if (top > element.scrollTop + element.clientHeight - 2 * LINE_PX)
            element.scrollTop = top - element.clientHeight + 2 * LINE_PX;
    };
    const indices = Array.from(
        { length: Math.max(0, range.last - range.first) },
        (_, i) => range.first + i,
    );
    return (
        <div
            ref={box}
            class="pane"
            role="listbox"
            aria-label={props.label}
            aria-activedescendant={
                cursor >= range.first && cursor < range.last ? `${id}-${cursor}` : undefined
            }
            tabIndex={0}
            style={{ '--lines': `${props.most * LINE_PX + 20}px` }}
            onKeyDown={onKeyDown}
            onPointerLeave={() => props.onHover(-1)}
        >
            <div class="pane-lines" style={{ height: `${count * LINE_PX}px` }}>
                {indices.map(index => {
                    const row = props.row(index);
                    return (
                        <div
                            key={index}
                            id={`${id}-${index}`}
                            class={`pane-line ${row.class}`}
                            role="option"
                            aria-selected={index === cursor}
                            aria-posinset={index + 1}
                            aria-setsize={count}
                            style={{ top: `${index * LINE_PX}px` }}
                            onClick={() => props.onCursor(index)}
                            onPointerEnter={() => props.onHover(index)}
                        >
                            {row.content}
                        </div>
                    );
                })}
            </div>
        </div>
    );
}
