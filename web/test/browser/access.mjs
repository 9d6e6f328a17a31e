// SPDX-License-Identifier: Apache-2.0
// Accessibility of a page for people with low vision, a screen reader or no mouse: rules of
// axe-core (WCAG 2, and best practices of its authors), and the position of the focus.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns broken rules as `rule: element, why`, three per rule at most. `only` limits them. */
export async function faults(page, only) {
    await page.evaluate(AXE);
    // Colours that are on their way are neither the old nor the new ones.
    await page.evaluate(() => Promise.all(document.getAnimations().map(one => one.finished)));
    const { violations } = await page.evaluate(
        rules =>
            globalThis.axe.run(rules ? { runOnly: { type: 'rule', values: rules } } : undefined),
        only ?? null,
    );
    return violations.flatMap(({ id, nodes }) =>
        nodes
            .slice(0, 3)
            .map(node => `${id}: ${node.html.slice(0, 120)}, ${node.failureSummary ?? ''}`),
    );
}

/** Elements among the next `n` by the key Tab that have no outline, or are not to be seen. */
export async function unseenFocus(page, n) {
    const unseen = [];
    let reached = 0;
    for (let i = 0; i < n; i++) {
        await page.keyboard.press('Tab');
        const found = await page.evaluate(() => {
            const at = document.activeElement;
            if (!at || at === document.body) return null;
            const style = getComputedStyle(at);
            const box = at.getBoundingClientRect();
            const seen =
                style.outlineStyle !== 'none' &&
                parseFloat(style.outlineWidth) >= 1 &&
                box.width > 0 &&
                box.height > 0 &&
                box.bottom > 0 &&
                box.right > 0 &&
                box.top < innerHeight &&
                box.left < innerWidth;
            return seen ? '' : at.outerHTML.slice(0, 120);
        });
        if (found === null) break;
        reached++;
        if (found) unseen.push(found);
    }
    return reached ? unseen : ['nothing is reached'];
}
