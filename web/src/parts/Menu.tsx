// SPDX-License-Identifier: Apache-2.0
// A button that opens a panel; Escape, a click outside or focus elsewhere closes it.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Props {
    label: string;
    title?: string;
    children: () => ComponentChildren;
}

export function Menu({ label, title, children }: Props) {
    const [open, setOpen] = useState(false);
    const box = useRef<HTMLDivElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        if (!open) return undefined;
        const outside = (event: Event): void => {
            if (!box.current?.contains(event.target as Node)) setOpen(false);
        };
        document.addEventListener('pointerdown', outside);
        document.addEventListener('focusin', outside);
        return () => {
            document.removeEventListener('pointerdown', outside);
            document.removeEventListener('focusin', outside);
        };
    }, [open]);
    return (
        <div
            class="menu"
            ref={box}
            onKeyDown={event => {
                if (event.key !== 'Escape' || !open) return;
                event.stopPropagation();
                setOpen(false);
                button.current?.focus();
            }}
        >
            <button
                ref={button}
                type="button"
                class="button"
                aria-expanded={open}
                data-tip={title}
                onClick={() => setOpen(!open)}
            >
                {label} <span aria-hidden="true">▾</span>
            </button>
            {open && <div class="menu-panel">{children()}</div>}
        </div>
    );
}
