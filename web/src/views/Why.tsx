// SPDX-License-Identifier: Apache-2.0
// Why loops take their time: what variants of them took in the running program
// (doc/manual/decan.md).

import { useMemo } from 'preact/hooks';
import { useReport } from '../context';
import type { Report } from '../data/report';
import { integer } from '../format';
import { Grid } from '../grid/Grid';
import { PageHead } from '../parts/parts';
import { href } from '../route';
import { resultLinks } from './links';
import { whyTable } from './why_table';

/** The words for the columns that are shown at first, once for all. */
function Legend({ report }: { report: Report }) {
    const titles = new Map<string, string>();
    for (const take of report.doc.variants) if (take.title) titles.set(take.variant, take.title);
    return (
        <details class="legend">
            <summary>Meaning of columns and colours</summary>
            <dl class="legend-list">
                {[...titles].map(([variant, title]) => (
                    <div key={variant}>
                        <dt>{variant.toUpperCase()}</dt>
                        <dd>{title}</dd>
                    </div>
                ))}
                <div>
                    <dt class="poor">!</dt>
                    <dd>unreliable: its instances take less than 250 cycles</dd>
                </div>
                <div>
                    <dt class="fair">~</dt>
                    <dd>weak: 250 to 500 cycles; others are reliable</dd>
                </div>
            </dl>
            <p class="section-text">
                Cycles of an iteration, medians over instances. What a variant lacks and is no
                faster for, the loop does not wait for. A loop bound by its arithmetic takes as long
                as FP, one bound by its accesses as long as LS; ORIG / DL1 is the most that data in
                the first cache can bring.
            </p>
        </details>
    );
}

export function Why() {
    const report = useReport();
    const made = useMemo(() => whyTable(report), [report]);
    const links = useMemo(
        () => resultLinks(made.loops.map(id => ({ object: 'loop', id }))),
        [made],
    );
    const l1 = report.doc.what_ifs.find(one => one.name === 'data_in_l1');
    const refused = report.doc.flags.filter(flag => flag.name === 'loop_not_varied').length;
    return (
        <div class="tall-page">
            <PageHead
                title="Why loops take their time"
                note={
                    <>
                        Parts of hot loops were taken away while the program ran: what they cost is
                        measured, not modelled.{' '}
                        {l1 && (
                            <>
                                What data in the first cache would bring the whole run:{' '}
                                <a href={href('metrics')}>gain curves</a>.{' '}
                            </>
                        )}
                        {refused > 0 && (
                            <>
                                {integer(refused)} loops could not be varied:{' '}
                                <a href={href('trust')}>why</a>.
                            </>
                        )}
                    </>
                }
            />
            <Legend report={report} />
            <Grid
                rows={made.rows}
                name=""
                label="Why loops take their time"
                sort={made.rows.view.sort}
                linkOf={links}
                hotPath={false}
                tall
            />
        </div>
    );
}
