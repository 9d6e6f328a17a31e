// SPDX-License-Identifier: Apache-2.0
// Link targets of the rows of a table.

import { pageOf } from '../data/report';
import type { Report } from '../data/report';
import type { Rows, ViewRows } from '../grid/rows';
import { href } from '../route';

/** Pages of loops and functions; rows of other kinds have no page of their own. */
export function objectLinks(rows: Rows): (node: number) => string | null {
    return node => {
        const object = rows.object(node);
        if (!object || (object.kind !== 'loop' && object.kind !== 'function')) return null;
        const page = pageOf(object);
        return page ? href(page) : null;
    };
}

/** Source lines lead to the code that was made of them. */
export function lineLinks(report: Report, rows: ViewRows): (node: number) => string | null {
    const file = rows.columnAt('source_file');
    const line = rows.columnAt('line');
    return node => {
        const place = report.linePlace(rows.text(node, file) ?? '', rows.num(node, line));
        return place ? href(`function/${place.functionId}`, { at: place.at }) : null;
    };
}

/** Rows of a result over several runs lead to the objects that they are about. */
export function resultLinks(
    rows: readonly { object: string; id?: number | null }[],
): (node: number) => string | null {
    return node => {
        const row = rows[node];
        if (!row || typeof row.id !== 'number') return null;
        return row.object === 'loop' || row.object === 'function'
            ? href(`${row.object}/${row.id}`)
            : null;
    };
}
