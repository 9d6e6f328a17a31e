// SPDX-License-Identifier: Apache-2.0
// Running and blocked time of each thread, in the order of ranks, processes and threads.

import type { ViewRows } from '../grid/rows';

export interface Load {
    labels: string[];
    running: number[];
    blocked: number[];
    mean: number;
    max: number;
}

export function threadLoad(threads: ViewRows): Load {
    const at = (name: string): number => threads.columnAt(name);
    const number = (row: number, name: string): number => {
        const value = threads.num(row, at(name));
        return Number.isNaN(value) ? 0 : value;
    };
    const order = Array.from({ length: threads.count() }, (_, i) => i).sort(
        (a, b) =>
            number(a, 'rank') - number(b, 'rank') ||
            number(a, 'process_id') - number(b, 'process_id') ||
            number(a, 'omp_thread') - number(b, 'omp_thread') ||
            number(a, 'tid') - number(b, 'tid'),
    );
    const label = (row: number): string => {
        const rank = threads.num(row, at('rank'));
        const omp = threads.num(row, at('omp_thread'));
        const name = threads.text(row, at('name'));
        const parts = [];
        if (!Number.isNaN(rank)) parts.push(`rank ${rank}`);
        parts.push(
            Number.isNaN(omp) ? `thread ${threads.num(row, at('tid'))}` : `OpenMP thread ${omp}`,
        );
        if (name) parts.push(name);
        return parts.join(', ');
    };
    const running = order.map(row => number(row, 'time_s'));
    const sum = running.reduce((all, time) => all + time, 0);
    return {
        labels: order.map(label),
        running,
        blocked: order.map(row => number(row, 'blocked_time_s')),
        mean: running.length ? sum / running.length : 0,
        max: running.reduce((most, time) => Math.max(most, time), 0),
    };
}
