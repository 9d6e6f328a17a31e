// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system says. A choice is a reader's, not a link's: it is kept by the
// browser where that is allowed.

import { computed, effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const KEY = 'assay-theme';

function stored(): Theme {
    try {
        const value = localStorage.getItem(KEY);
        return value === 'light' || value === 'dark' ? value : 'auto';
    } catch {
        return 'auto';
    }
}

export const theme = signal<Theme>(stored());
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const system = signal(systemDark.matches);
export const isDark = computed(() =>
    theme.value === 'auto' ? system.value : theme.value === 'dark',
);

export function startTheme(): void {
    systemDark.addEventListener('change', event => (system.value = event.matches));
    effect(() => {
        document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
    });
}

export function setTheme(value: Theme): void {
    theme.value = value;
    try {
        if (value === 'auto') localStorage.removeItem(KEY);
        else localStorage.setItem(KEY, value);
    } catch {
        // Not allowed here: the choice lasts as long as the page.
    }
}

/** The value of a CSS variable now: canvases cannot use variables. */
export function cssColor(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
