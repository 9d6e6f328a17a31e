// SPDX-License-Identifier: Apache-2.0
// One tooltip for the page: whatever has `data-tip` shows it on hover and on keyboard focus, and
// Escape hides it. A text cut off in a cell (`data-full`) is shown whole.

const DELAY_MS = 350;

let box: HTMLElement | null = null;
let timer = 0;
let shownFor: Element | null = null;

function hide(): void {
    clearTimeout(timer);
    shownFor?.removeAttribute('aria-describedby');
    shownFor = null;
    if (box) box.hidden = true;
}

function place(target: Element): void {
    const at = target.getBoundingClientRect();
    const own = box!.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, innerWidth - own.width - 8));
    const below = at.bottom + 6;
    const top = below + own.height < innerHeight ? below : Math.max(4, at.top - own.height - 6);
    box!.style.left = `${left}px`;
    box!.style.top = `${top}px`;
}

function textOf(target: Element): string {
    const tip = target.getAttribute('data-tip');
    if (tip) return tip;
    const cut = target.scrollWidth > target.clientWidth;
    return cut ? target.getAttribute('data-full') || (target.textContent ?? '') : '';
}

function show(target: Element): void {
    const text = textOf(target);
    if (!text || !target.isConnected) return;
    if (!box) {
        box = document.createElement('div');
        box.id = 'tip';
        box.setAttribute('role', 'tooltip');
        document.body.append(box);
    }
    box.textContent = text;
    box.hidden = false;
    shownFor = target;
    target.setAttribute('aria-describedby', 'tip');
    place(target);
}

function consider(event: Event, delay: number): void {
    const from = event.target instanceof Element ? event.target : null;
    const target = from?.closest('[data-tip], [data-full]') ?? null;
    if (target === shownFor && target) return;
    hide();
    if (target) timer = window.setTimeout(() => show(target), delay);
}

export function startTips(): void {
    document.addEventListener('pointerover', event => consider(event, DELAY_MS));
    document.addEventListener('focusin', event => {
        if (event.target instanceof Element && event.target.matches(':focus-visible'))
            consider(event, 0);
    });
    document.addEventListener('focusout', hide);
    document.addEventListener('pointerdown', hide);
    document.addEventListener('keydown', event => {
        if (event.key === 'Escape') hide();
    });
    document.addEventListener('scroll', hide, { capture: true, passive: true });
}
