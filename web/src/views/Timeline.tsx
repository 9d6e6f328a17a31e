// SPDX-License-Identifier: Apache-2.0
// Some iterations of a loop on the core: a bar for each execution of an instruction.

import type { Timeline } from '../data/contract';

const ROW_PX = 16;
const TOP_PX = 18; // for the scale
const LEFT_PX = 330; // for the words of an instruction
const BARS_PX = 620;
const CYCLE_PX = 14; // at most
const WORDS = 40; // characters of an instruction
const MEMBERS = 7;

export interface Execution {
    iteration: number;
    text: string;
    /** Cycles from the first dispatch: dispatched, sources ready, begins, done, retired. */
    at: number[];
}

/** Returns the executions of a time line from its differences. */
export function executions({ text, each }: Timeline): Execution[] {
    const all: Execution[] = [];
    let dispatched = 0;
    for (let i = 0; i + MEMBERS <= each.length; i += MEMBERS) {
        dispatched += each[i + 2]!;
        const at = [dispatched];
        for (let k = 3; k < MEMBERS; k++) at.push(at[at.length - 1]! + each[i + k]!);
        all.push({ iteration: each[i]!, text: text[each[i + 1]!] ?? '', at });
    }
    return all;
}

const BARS = ['wait', 'port', 'run'] as const;

export function TimelinePicture({ timeline, label }: { timeline: Timeline; label: string }) {
    const all = executions(timeline);
    const cycles = Math.max(0, ...all.map(one => one.at[4]!));
    if (!all.length || cycles <= 0) return null;
    // Sources may have been ready before an instruction was dispatched.
    const from = (at: readonly number[], i: number): number => Math.max(at[0]!, at[i]!);
    const scale = Math.min(BARS_PX / cycles, CYCLE_PX);
    const width = LEFT_PX + cycles * scale + 8;
    const height = TOP_PX + all.length * ROW_PX;
    const step = cycles > 100 ? 20 : cycles > 40 ? 10 : 5;
    const x = (cycle: number): number => LEFT_PX + cycle * scale;
    const top = (row: number): number => TOP_PX + row * ROW_PX;
    return (
        <div class="picture" tabIndex={0} role="group" aria-label={label}>
            <svg
                class="timeline"
                role="img"
                aria-label={`${label}: ${all.length} executions in ${cycles} cycles`}
                width={width}
                height={height}
            >
                {Array.from({ length: Math.floor(cycles / step) + 1 }, (_, i) => (
                    <g key={`c${i}`}>
                        <line
                            class="scale"
                            x1={x(i * step)}
                            x2={x(i * step)}
                            y1={TOP_PX - 4}
                            y2={height}
                        />
                        <text x={x(i * step)} y={TOP_PX - 6}>
                            {i * step}
                        </text>
                    </g>
                ))}
                {all.map(({ iteration, text, at }, row) => (
                    <g key={row}>
                        <text x={4} y={top(row) + 12}>
                            {`${String(iteration).padStart(2)}  ${text.slice(0, WORDS)}`}
                        </text>
                        {BARS.map((name, i) =>
                            at[i + 1]! > from(at, i) ? (
                                <rect
                                    key={name}
                                    class={name}
                                    x={x(from(at, i))}
                                    y={top(row) + 3}
                                    width={(at[i + 1]! - from(at, i)) * scale}
                                    height={ROW_PX - 6}
                                />
                            ) : null,
                        )}
                        {at[4]! > at[3]! && (
                            <line
                                class="done"
                                x1={x(at[3]!)}
                                x2={x(at[4]!)}
                                y1={top(row) + ROW_PX / 2}
                                y2={top(row) + ROW_PX / 2}
                            />
                        )}
                    </g>
                ))}
            </svg>
        </div>
    );
}
