// SPDX-License-Identifier: Apache-2.0
// Parts that analyses add to the page of an object: text, a table, a picture.

import { useMemo } from 'preact/hooks';
import type { Section, SectionTable } from '../data/contract';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import { Panel } from '../parts/parts';
import { isDark } from '../theme';
import type { DrawnChart } from './chart_series';
import { sectionColumn } from './section_columns';
import { SectionChart } from './SectionChart';
import { TimelinePicture } from './Timeline';
import { madeView } from './table';

/**
 * A picture cannot run anything as an image, whatever it holds. It asks for the colours of the
 * system: those of the page take their place.
 */
export function pictureAddress(svg: string, dark: boolean): string {
    const colored = svg.replaceAll(
        '@media (prefers-color-scheme: dark)',
        dark ? '@media all' : '@media not all',
    );
    return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(colored)}`;
}

function SectionGrid({ section, table }: { section: Section; table: SectionTable }) {
    const { name, title, chart } = section;
    const rows = useMemo(() => {
        const columns = table.columns.map((column, at) => ({
            ...sectionColumn(column, at, table),
            ...(chart?.kind === 'cells' && chart.y === at && { bar: true }),
        }));
        return madeView(name, title, columns);
    }, [section]);
    return <Grid rows={rows} name={name} label={title} plain={table.rows.length <= 12} />;
}

const isDrawn = (chart: Section['chart']): chart is DrawnChart =>
    Boolean(chart && chart.kind !== 'cells');

/** A chart says what its table does: many rows stay folded behind it. */
const FOLDED = 40;

export function SectionPanel({ section }: { section: Section }) {
    const { title, text, table, svg, timeline } = section;
    const chart = isDrawn(section.chart) ? section.chart : null;
    const grid = table && table.rows.length > 0 && <SectionGrid section={section} table={table} />;
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
            {timeline && <TimelinePicture timeline={timeline} label={title} />}
            {svg && (
                <div class="picture">
                    <img src={pictureAddress(svg, isDark.value)} alt={title} />
                </div>
            )}
        </Panel>
    );
}
