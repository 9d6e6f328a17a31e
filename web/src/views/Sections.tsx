// SPDX-License-Identifier: Apache-2.0
// Parts that analyses add to the page of an object: text, a table, a picture.

import { useMemo } from 'preact/hooks';
import type { Section, SectionTable } from '../data/contract';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import { Panel } from '../parts/parts';
import { sectionColumn } from './section_columns';
import { SectionChart } from './SectionChart';
import { madeView } from './table';

/** A picture cannot run anything as an image, whatever it holds. */
function pictureAddress(svg: string): string {
    return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

function SectionGrid({ name, title, table }: { name: string; title: string; table: SectionTable }) {
    const rows = useMemo(() => {
        const columns = table.columns.map((column, at) => sectionColumn(column, at, table.rows));
        return madeView(name, title, columns);
    }, [table]);
    return <Grid rows={rows} name={name} label={title} plain={table.rows.length <= 12} />;
}

/** A chart says what its table does: many rows stay folded behind it. */
const FOLDED = 40;

export function SectionPanel({ section }: { section: Section }) {
    const { name, title, text, table, chart, svg } = section;
    const grid = table && table.rows.length > 0 && (
        <SectionGrid name={name} title={title} table={table} />
    );
    return (
        <Panel title={title}>
            {text && <p class="section-text">{text}</p>}
            {chart && table && table.rows.length > 1 && (
                <SectionChart section={section} chart={chart} table={table} />
            )}
            {chart && table && table.rows.length > FOLDED ? (
                <details>
                    <summary>All {integer(table.rows.length)} of them</summary>
                    {grid}
                </details>
            ) : (
                grid
            )}
            {svg && (
                <div class="picture">
                    <img src={pictureAddress(svg)} alt={title} />
                </div>
            )}
        </Panel>
    );
}
