// SPDX-License-Identifier: Apache-2.0
// Which rows of a long list are near the visible part, so that only those are in the page.

import { useLayoutEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

export interface Window {
    first: number;
    last: number; // exclusive
}

const EXTRA = 12; // rows kept beyond the visible ones, so that scrolling finds them there

export function visible(scrollTop: number, height: number, row: number, count: number): Window {
    const first = Math.max(0, Math.floor(scrollTop / row) - EXTRA);
    const last = Math.min(count, Math.ceil((scrollTop + height) / row) + EXTRA);
    return { first: Math.min(first, Math.max(0, count - 1)), last };
}

export function useWindow(box: RefObject<HTMLElement>, row: number, count: number): Window {
    const [range, setRange] = useState<Window>({ first: 0, last: Math.min(count, 60) });
    useLayoutEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const update = (): void => {
            const next = visible(element.scrollTop, element.clientHeight, row, count);
            setRange(before =>
                before.first === next.first && before.last === next.last ? before : next,
            );
        };
        update();
        const observer = new ResizeObserver(update);
        observer.observe(element);
        element.addEventListener('scroll', update, { passive: true });
        return () => {
            observer.disconnect();
            element.removeEventListener('scroll', update);
        };
    }, [row, count]);
    return { first: Math.min(range.first, count), last: Math.min(range.last, count) };
}
