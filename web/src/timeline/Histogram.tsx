// SPDX-License-Identifier: Apache-2.0
// A table of a metric of numbers: the time of each row by ranges of the value. A click on a cell
// goes to the next place with such a value. A click on a range marks all its places in the picture.
// The cell of the marked place is framed.

import { useEffect, useState } from 'preact/hooks';
import { integer, percent, significant } from '../format';
import { fail, metric, readyMetric } from './data';
import {
    type Columns,
    type Histogram as Answer,
    type MetricState,
    askHistogram,
    askMoment,
    askPieceIn,
} from './server';
import { ROWS_SHOWN, firstOf, goToNextPiece, spanOf, useAnswer } from './Tables';
import { type Values, change, lengthOf, view } from './view';
import { duration, rangeText } from './words';

const COLUMNS = [10, 20, 40];
const SHADES = 8;

type Counted = 'time' | 'intervals';

/** The range of a column. */
const rangeOf = ({ min, delta }: Answer, column: number): Values => ({
    low: min + column * delta,
    high: min + (column + 1) * delta,
});

/** The column of a value; -1: outside. */
function columnOf({ min, max, delta, columns_n: n }: Answer, value: number): number {
    if (value < min || value > max) return -1;
    return Math.min(n - 1, Math.floor((value - min) / delta));
}

/** The value at the marked place; null until it is known. */
function useMarkedValue(current: MetricState): number | null {
    const { at } = view.value;
    const [marked, setMarked] = useState<{ of: unknown; value: number | null } | null>(null);
    useEffect(() => {
        let isOver = false;
        if (at)
            askMoment(current.name, at.row, at.ns).then(
                ({ value }) => !isOver && setMarked({ of: at, value: value ?? null }),
                () => undefined,
            );
        return () => {
            isOver = true;
        };
    }, [at?.row, at?.ns, current.name]);
    return at && marked?.of === at ? marked.value : null;
}

interface CellsProps {
    current: MetricState;
    answer: Answer;
    counted: Counted;
    whole: number;
}

function Cells({ current, answer, counted, whole }: CellsProps) {
    const { at, values } = view.value;
    const labels = metric.value!.rows;
    const markedValue = useMarkedValue(current);
    const markedColumn = markedValue === null ? -1 : columnOf(answer, markedValue);
    const first = firstOf(labels);
    const columns = Array.from({ length: answer.columns_n }, (_, i) => i);
    const byRow = new Map<number, Map<number, [number, number]>>();
    const totals = columns.map(() => 0);
    let most = 0;
    for (const [row, column, ns, n] of answer.cells) {
        if (!byRow.has(row)) byRow.set(row, new Map());
        byRow.get(row)!.set(column, [ns, n]);
        const value = counted === 'time' ? ns : n;
        totals[column] = totals[column]! + value;
        most = Math.max(most, value);
    }
    const textOf = (value: number): string =>
        counted === 'time' ? percent((100 * value) / whole) : integer(value);
    const mark = (column: number): void => {
        const range = rangeOf(answer, column);
        const isMarked = values?.low === range.low && values.high === range.high;
        change({ values: isMarked ? null : range });
    };
    const goTo = (row: number, column: number): void => {
        const ask = (ns: number) => askPieceIn(current.name, row, answer, column, ns);
        void goToNextPiece(row, ask).catch(fail);
    };
    return (
        <table class="times">
            <thead>
                <tr>
                    <th scope="col">Row</th>
                    {columns.map(column => {
                        const range = rangeOf(answer, column);
                        return (
                            <th key={column} scope="col">
                                <button
                                    type="button"
                                    class="link"
                                    aria-pressed={
                                        values?.low === range.low && values.high === range.high
                                    }
                                    data-tip={`${rangeText(range)}: mark in the picture`}
                                    onClick={() => mark(column)}
                                >
                                    {significant(range.low, 3)}
                                </button>
                            </th>
                        );
                    })}
                </tr>
            </thead>
            <tbody>
                <tr>
                    <th scope="row">{counted === 'time' ? 'All, mean' : 'All'}</th>
                    {columns.map(column => (
                        <td key={column}>
                            {totals[column]
                                ? textOf(
                                      counted === 'time'
                                          ? totals[column]! / labels.length
                                          : totals[column]!,
                                  )
                                : ''}
                        </td>
                    ))}
                </tr>
                {labels.slice(first, first + ROWS_SHOWN).map((label, i) => (
                    <tr key={first + i}>
                        <th scope="row">{label}</th>
                        {columns.map(column => {
                            const cell = byRow.get(first + i)?.get(column);
                            const value = cell ? cell[counted === 'time' ? 0 : 1] : 0;
                            const isMarked = at?.row === first + i && column === markedColumn;
                            const shade = Math.ceil((SHADES * value) / most);
                            return (
                                <td
                                    key={column}
                                    class={cell && `shade-${shade}`}
                                    aria-current={isMarked ? 'true' : undefined}
                                >
                                    {cell && (
                                        <button
                                            type="button"
                                            class="link"
                                            data-tip={
                                                `${rangeText(rangeOf(answer, column))}: ` +
                                                `${duration(cell[0])}, ${integer(cell[1])} ` +
                                                'intervals: go to the next one'
                                            }
                                            onClick={() => goTo(first + i, column)}
                                        >
                                            {textOf(value)}
                                        </button>
                                    )}
                                </td>
                            );
                        })}
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/** The chosen range as the range of all columns, and back. */
function RangeButtons({
    columns,
    setColumns,
}: {
    columns: Columns;
    setColumns: (next: Columns) => void;
}) {
    const { values } = view.value;
    return (
        <>
            <button
                type="button"
                class="button"
                disabled={!values}
                data-tip="columns within the marked range"
                onClick={() =>
                    setColumns({ ...columns, range: { min: values!.low, max: values!.high } })
                }
            >
                Zoom to range
            </button>
            <button
                type="button"
                class="button"
                disabled={!columns.range}
                onClick={() => setColumns({ ...columns, range: null })}
            >
                All values
            </button>
        </>
    );
}

export function Histogram() {
    const span = spanOf();
    const current = readyMetric.value;
    const [counted, setCounted] = useState<Counted>('time');
    const [columns, setColumns] = useState<Columns>({ n: COLUMNS[1]!, range: null });
    useEffect(
        () => setColumns(now => (now.range ? { ...now, range: null } : now)),
        [current?.name],
    );
    const told = useAnswer(
        signal =>
            current
                ? askHistogram(current.name, span.from, span.to, columns, signal).then(answer => ({
                      of: current,
                      span,
                      answer,
                  }))
                : Promise.resolve(null),
        [span.from, span.to, current, columns],
    );
    if (!current || told?.of !== current) return <p class="note">Adding up …</p>;
    const { answer } = told;
    return (
        <>
            <div class="toolbar" role="group" aria-label="Columns of the histogram">
                <label class="tool-label">
                    Columns{' '}
                    <select
                        value={columns.n}
                        onChange={event =>
                            setColumns({ ...columns, n: Number(event.currentTarget.value) })
                        }
                    >
                        {COLUMNS.map(n => (
                            <option key={n} value={n}>
                                {n}
                            </option>
                        ))}
                    </select>
                </label>
                <label class="tool-label">
                    Cells{' '}
                    <select
                        value={counted}
                        onChange={event => setCounted(event.currentTarget.value as Counted)}
                    >
                        <option value="time">share of the time</option>
                        <option value="intervals">intervals</option>
                    </select>
                </label>
                <RangeButtons columns={columns} setColumns={setColumns} />
            </div>
            <p class="note">
                Values from {significant(answer.min, 4)} to {significant(answer.max, 4)}; columns
                have their least value.
                {answer.outside_ns > 0 &&
                    ` ${percent(
                        (100 * answer.outside_ns) / (lengthOf(told.span) * current.rows.length),
                    )} of the time has other values.`}
                {current.rows.length > ROWS_SHOWN &&
                    ` ${ROWS_SHOWN} of ${integer(current.rows.length)} rows are shown.`}
            </p>
            <div class="scrolls" tabIndex={0} role="region" aria-label="Time by range of values">
                <Cells
                    current={current}
                    answer={answer}
                    counted={counted}
                    whole={lengthOf(told.span)}
                />
            </div>
        </>
    );
}
