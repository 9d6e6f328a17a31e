// SPDX-License-Identifier: Apache-2.0
// The tools above a table.

import { ColumnMenu } from './ColumnMenu';
import type { Rows } from './rows';

interface Props {
    label: string;
    rows: Rows;
    short: boolean;
    filter: string;
    problem: string | null;
    onFilter: (text: string) => void;
    group: string | undefined;
    groupBy: { name: string; title: string }[];
    onGroup: (name: string | undefined) => void;
    shown: readonly number[];
    onColumns: (shown: number[] | null) => void;
    onExpand: (() => void) | null;
    onCollapse: (() => void) | null;
    onHotPath: (() => void) | null;
    onSave: () => void;
    onCopy: () => void;
    onDetails: (() => void) | null;
    status: string;
}

const HELP =
    'Words must occur in a text of the row, -word must not. Conditions: time>1  share>=5  ' +
    'module=libm.so.6  name~solve  role!=main. All must hold; "quotes" keep blanks.';

export function Toolbar(props: Props) {
    const { rows } = props;
    return (
        <div class="toolbar" role="toolbar" aria-label={`${props.label}: tools`}>
            {!props.short && (
                <input
                    type="search"
                    class="filter"
                    placeholder="Filter: words, time>1, module=…"
                    aria-label={`Filter ${props.label}`}
                    aria-invalid={props.problem !== null}
                    data-tip={HELP}
                    spellcheck={false}
                    value={props.filter}
                    onInput={event => props.onFilter(event.currentTarget.value)}
                />
            )}
            {props.groupBy.length > 0 && (
                <label class="tool-label">
                    Group by{' '}
                    <select
                        value={props.group ?? ''}
                        onChange={event => props.onGroup(event.currentTarget.value || undefined)}
                    >
                        <option value="">nothing</option>
                        {props.groupBy.map(one => (
                            <option key={one.name} value={one.name}>
                                {one.title}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            <ColumnMenu
                columns={rows.columns}
                shown={props.shown}
                fixed={rows.treeColumn}
                onChange={props.onColumns}
            />
            {props.onExpand && <Tool text="Expand all" onClick={props.onExpand} />}
            {props.onCollapse && <Tool text="Collapse" onClick={props.onCollapse} />}
            {props.onHotPath && (
                <Tool
                    text="Hot path"
                    tip="Opens the heaviest children from the active row on (key H)"
                    onClick={props.onHotPath}
                />
            )}
            <Tool
                text="CSV"
                tip="Saves the rows and columns that are shown"
                onClick={props.onSave}
            />
            <Tool
                text="Copy"
                tip="Copies the rows and columns that are shown"
                onClick={props.onCopy}
            />
            {props.onDetails && (
                <Tool
                    text="Details"
                    tip="All values of the active row (key I)"
                    onClick={props.onDetails}
                />
            )}
            <span class={props.problem ? 'status problem' : 'status'} role="status">
                {props.problem ?? props.status}
            </span>
        </div>
    );
}

function Tool({ text, tip, onClick }: { text: string; tip?: string; onClick: () => void }) {
    return (
        <button type="button" class="button" data-tip={tip} onClick={onClick}>
            {text}
        </button>
    );
}
