// SPDX-License-Identifier: Apache-2.0
// The parts of a machine as nested boxes. A part that contains a single other part shares its box
// with that part. So a core with caches of its own is one box.

import { bytes } from '../format';
import type { ViewRows } from '../grid/rows';

export interface Part {
    /** Kind of the innermost part in this box. */
    kind: string;
    labels: string[];
    memories: string[];
    /** CPUs directly in this box. */
    processors: { number: number; usable: boolean }[];
    parts: Part[];
}

export interface Machine {
    host: string;
    part: Part;
}

interface Row {
    place: number;
    parent: number;
    kind: string;
    number: number;
    level: number;
    size: number;
    cache: string | null;
    memory: string | null;
    efficiency: number;
    usable: boolean;
}

function labelOf(row: Row): string {
    const size = Number.isNaN(row.size) ? '' : ` ${bytes(row.size)}`;
    switch (row.kind) {
        case 'cache':
            return `L${row.level}${row.cache === 'instructions' ? 'i' : ''}${size}`;
        case 'memory':
            return `${row.memory ?? 'memory'}${size}`;
        case 'machine':
            return '';
        default: {
            const number = Number.isNaN(row.number) ? '' : ` ${row.number}`;
            const speed = row.kind === 'core' && row.efficiency === 0 ? ', efficient' : '';
            return `${row.kind}${number}${speed}`;
        }
    }
}

function partOf(row: Row, below: Map<number, Row[]>): Part {
    const inside = below.get(row.place) ?? [];
    const label = labelOf(row);
    const part: Part = {
        kind: row.kind,
        labels: label ? [label] : [],
        memories: inside
            .filter(one => one.kind === 'memory')
            .map(one => `${labelOf(one)}, node ${one.number}`),
        processors: inside
            .filter(one => one.kind === 'processor')
            .map(one => ({ number: one.number, usable: one.usable })),
        parts: inside
            .filter(one => one.kind !== 'memory' && one.kind !== 'processor')
            .map(one => partOf(one, below)),
    };
    const [only, second] = part.parts;
    if (!only || second || part.processors.length) return part;
    return {
        ...only,
        labels: [...part.labels, ...only.labels],
        memories: [...part.memories, ...only.memories],
    };
}

function rowsOf(rows: ViewRows): Map<string, Row[]> {
    const at = (name: string): number => rows.columnAt(name);
    const hosts = new Map<string, Row[]>();
    for (let i = 0; i < rows.count(); i++) {
        const number = (name: string): number => rows.num(i, at(name));
        const text = (name: string): string | null => rows.text(i, at(name));
        const host = `${number('host_id')} ${text('host') ?? ''}`;
        const row: Row = {
            place: number('place'),
            parent: number('parent'),
            kind: text('kind') ?? '',
            number: number('number'),
            level: number('level'),
            size: number('size_b'),
            cache: text('cache'),
            memory: text('memory'),
            efficiency: number('efficiency'),
            usable: number('is_usable') === 1,
        };
        const there = hosts.get(host);
        if (there) there.push(row);
        else hosts.set(host, [row]);
    }
    return hosts;
}

/** One drawing a machine; a part that is in none is left out. */
export function machinesOf(rows: ViewRows): Machine[] {
    return [...rowsOf(rows)].flatMap(([host, all]) => {
        const below = new Map<number, Row[]>();
        for (const row of all) {
            // Parts follow the part that contains them. A damaged tree may contradict: such a part
            // would contain itself, and is skipped.
            if (!(row.parent < row.place)) continue;
            const there = below.get(row.parent);
            if (there) there.push(row);
            else below.set(row.parent, [row]);
        }
        const root = all.find(row => row.kind === 'machine' && row.parent === row.place);
        const name = host.slice(host.indexOf(' ') + 1);
        return root ? [{ host: name, part: partOf(root, below) }] : [];
    });
}
