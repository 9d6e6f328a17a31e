// SPDX-License-Identifier: Apache-2.0
// The terms of the report with their meanings.

import { GLOSSARY } from '../glossary';
import { PageHead } from '../parts/parts';

export function Glossary() {
    return (
        <>
            <PageHead
                title="Glossary"
                note="The terms of this report. assay --help explains each metric and each finding."
            />
            <dl class="panel glossary">
                {GLOSSARY.map(({ names, meaning }) => (
                    <div key={names[0]}>
                        <dt>{names.join(', ')}</dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
        </>
    );
}
