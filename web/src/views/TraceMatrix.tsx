// SPDX-License-Identifier: Apache-2.0
// Messages between ranks. Few ranks are a table of numbers. Many ranks are a picture, with a line
// of text about the cell under the pointer.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type TraceMessages, matrixOf } from '../data/parallel';
import { bytes, integer } from '../format';
import { Choice } from '../parts/parts';
import { cssColor, isDark } from '../theme';

const TABLE_MOST = 12; // ranks
const PICTURE_PX = 520;
const LEFT_PX = 44;

type Of = 'size_b' | 'n';
type Matrix = ReturnType<typeof matrixOf>;

const textOf = (of: Of, value: number): string => (of === 'n' ? integer(value) : bytes(value));

/** From 0 to 1, by the logarithm: amounts differ by powers of ten. */
export function shade(value: number, most: number): number {
    return value > 0 && most > 0 ? 0.12 + (0.88 * Math.log1p(value)) / Math.log1p(most) : 0;
}

function Cells({ matrix, of }: { matrix: Matrix; of: Of }) {
    const table = useRef<HTMLTableElement>(null);
    const { ranks, values, most } = matrix;
    useEffect(() => {
        table.current?.querySelectorAll<HTMLElement>('td').forEach((cell, i) => {
            const part = shade(values[i]!, most);
            cell.style.background = part ? `rgb(var(--heat) / ${(part * 0.45).toFixed(3)})` : '';
        });
    }, [matrix]);
    return (
        <div class="scroll-x">
            <table class="plain matrix" ref={table}>
                <thead>
                    <tr>
                        <th scope="col">from / to</th>
                        {ranks.map(rank => (
                            <th scope="col" class="number" key={rank}>
                                {rank}
                            </th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {ranks.map((rank, row) => (
                        <tr key={rank}>
                            <th scope="row" class="number">
                                {rank}
                            </th>
                            {ranks.map((to, column) => {
                                const value = values[row * ranks.length + column]!;
                                return (
                                    <td class="number" key={to}>
                                        {value ? textOf(of, value) : '–'}
                                    </td>
                                );
                            })}
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function drawMatrix(canvas: HTMLCanvasElement, matrix: Matrix, cell: number): void {
    const { ranks, values, most } = matrix;
    const ratio = devicePixelRatio || 1;
    const size = LEFT_PX + cell * ranks.length + 1;
    canvas.width = canvas.height = Math.round(size * ratio);
    canvas.style.width = canvas.style.height = `${size}px`;
    const context = canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const heat = cssColor('--heat');
    context.strokeStyle = cssColor('--line');
    context.strokeRect(LEFT_PX - 0.5, LEFT_PX - 0.5, cell * ranks.length, cell * ranks.length);
    ranks.forEach((_, row) =>
        ranks.forEach((__, column) => {
            const part = shade(values[row * ranks.length + column]!, most);
            if (!part) return;
            context.fillStyle = `rgb(${heat} / ${part})`;
            context.fillRect(LEFT_PX + column * cell, LEFT_PX + row * cell, cell, cell);
        }),
    );
    context.fillStyle = cssColor('--text');
    context.font = '11px system-ui, sans-serif';
    const every = Math.ceil(28 / cell);
    ranks.forEach((rank, i) => {
        if (i % every !== 0) return;
        context.textAlign = 'right';
        context.textBaseline = 'top';
        context.fillText(String(rank), LEFT_PX - 6, LEFT_PX + i * cell);
        context.textAlign = 'left';
        context.textBaseline = 'bottom';
        context.fillText(String(rank), LEFT_PX + i * cell, LEFT_PX - 4);
    });
}

function Picture({ matrix, of }: { matrix: Matrix; of: Of }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [told, setTold] = useState('');
    const n = matrix.ranks.length;
    const cell = Math.max(2, Math.floor(PICTURE_PX / n));
    const dark = isDark.value;
    useEffect(() => {
        if (canvas.current) drawMatrix(canvas.current, matrix, cell);
    }, [matrix, cell, dark]);
    const tell = (event: MouseEvent): void => {
        const place = canvas.current!.getBoundingClientRect();
        const column = Math.floor((event.clientX - place.left - LEFT_PX) / cell);
        const row = Math.floor((event.clientY - place.top - LEFT_PX) / cell);
        if (row < 0 || column < 0 || row >= n || column >= n) return setTold('');
        const value = matrix.values[row * n + column]!;
        setTold(
            `rank ${matrix.ranks[row]} to rank ${matrix.ranks[column]}: ` +
                `${textOf(of, value)}${of === 'n' ? ' messages' : ''}`,
        );
    };
    return (
        <>
            <p class="flame-told" aria-live="polite">
                {told || 'Rows send, columns receive; the stronger, the more (by the logarithm).'}
            </p>
            <div class="scroll-x">
                <canvas
                    ref={canvas}
                    role="img"
                    aria-label={`Messages between ${n} ranks; its table has the numbers`}
                    onPointerMove={tell}
                    onPointerLeave={() => setTold('')}
                />
            </div>
        </>
    );
}

export function TraceMatrix({ messages }: { messages: TraceMessages[] }) {
    const [of, setOf] = useState<Of>('size_b');
    const matrix = useMemo(() => matrixOf(messages, of), [messages, of]);
    return (
        <>
            <Choice
                label="Unit"
                options={[
                    { value: 'size_b', text: 'Bytes' },
                    { value: 'n', text: 'Messages' },
                ]}
                value={of}
                onChange={setOf}
            />
            {matrix.ranks.length <= TABLE_MOST ? (
                <Cells matrix={matrix} of={of} />
            ) : (
                <Picture matrix={matrix} of={of} />
            )}
        </>
    );
}
