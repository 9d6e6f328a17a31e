// SPDX-License-Identifier: Apache-2.0
// The application as a whole: categories, modules, processes, threads and how evenly they worked.

import { useReport } from '../context';
import { CategoryBar, categoryShares } from '../parts/CategoryBar';
import { PageHead, Panel } from '../parts/parts';
import { LoadHistogram } from './LoadHistogram';
import { ViewGrid } from './ViewGrid';

export function Application() {
    const report = useReport();
    const categories = report.rows('categories');
    return (
        <>
            <PageHead title="Application" />
            <Panel title="Categories of time">
                {categories && <CategoryBar shares={categoryShares(categories)} />}
                <ViewGrid view="categories" name="categories" />
            </Panel>
            <Panel title="Load of the threads">
                <LoadHistogram />
                <ViewGrid view="threads" name="threads" />
            </Panel>
            <Panel title="Processes">
                <ViewGrid view="processes" name="processes" />
            </Panel>
            <Panel title="Modules">
                <ViewGrid view="modules" name="modules" />
            </Panel>
        </>
    );
}
