// SPDX-License-Identifier: Apache-2.0
// Computing time of each rank or thread of a run, in the order of ranks, processes and threads. The
// role of a thread decides whether it is left out (launchers, idle helpers): this file does not
// judge.

import type { ViewRows } from '../grid/rows';

export interface Load {
    labels: string[];
    computing: number[];
    /** Threads that only waited through the run. */
    idle: number;
}

export function loadOf(threads: ViewRows, byRank: boolean): Load {
    const at = (name: string): number => threads.columnAt(name);
    const known = (row: number, name: string, otherwise: number): number => {
        const value = threads.num(row, at(name));
        return Number.isNaN(value) ? otherwise : value;
    };
    const number = (row: number, name: string): number => known(row, name, 0);
    const works = (row: number): boolean =>
        (threads.text(row, at('role')) ?? 'worker') === 'worker';
    const all = Array.from({ length: threads.count() }, (_, i) => i);
    const order = all
        .filter(works)
        .sort(
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
        if (byRank) return parts.join('');
        parts.push(
            Number.isNaN(omp) ? `thread ${threads.num(row, at('tid'))}` : `OpenMP thread ${omp}`,
        );
        if (name) parts.push(name);
        return parts.join(', ');
    };
    const load: Load = { labels: [], computing: [], idle: all.length - order.length };
    let last = NaN;
    for (const row of order) {
        const time = known(row, 'computing_time_s', number(row, 'time_s'));
        const rank = threads.num(row, at('rank'));
        if (byRank && rank === last) {
            load.computing[load.computing.length - 1]! += time;
            continue;
        }
        last = rank;
        load.labels.push(label(row));
        load.computing.push(time);
    }
    return load;
}
