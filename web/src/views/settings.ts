// SPDX-License-Identifier: Apache-2.0
// Points of a series that varies more than threads and processes: which of them belong together,
// and what they are drawn over.

import type { Series } from '../chart/Chart';
import type { Quantity, Scalability, ScalabilityPoint } from '../data/contract';

export function coresOf(point: ScalabilityPoint): number {
    return point.processes * (point.threads ?? 1);
}

/** Returns whether all points have different settings: then efficiencies do not exist. */
export function isFlat(data: Scalability): boolean {
    if (!data.varied?.length || data.points.length < 2) return false;
    return new Set(data.points.map(point => point.base)).size === data.points.length;
}

/** Settings of a point in words: "size=1000 NAME=a". */
export function settingsWords(data: Scalability, point: ScalabilityPoint): string {
    return (data.varied ?? [])
        .map(name => `${name.replace(/^env:/, '')}=${point.settings?.[name] ?? ''}`)
        .join(' ');
}

export interface Curves {
    x: number[];
    series: Series[];
}

/** A curve over cores for each combination of settings, in the order of the points. */
export function curvesOverCores(
    data: Scalability,
    of: (point: ScalabilityPoint) => Quantity | null | undefined,
): Curves {
    const x = [...new Set(data.points.map(coresOf))].sort((a, b) => a - b);
    const curves = new Map<string, (number | null)[]>();
    for (const point of data.points) {
        const name = settingsWords(data, point) || 'measured';
        const values = curves.get(name) ?? x.map(() => null);
        values[x.indexOf(coresOf(point))] = of(point)?.value ?? null;
        curves.set(name, values);
    }
    return { x, series: [...curves].map(([label, values]) => ({ label, values })) };
}

/** Wall times over the one setting that varies, where its values are numbers; else null. */
export function timesOverSetting(data: Scalability): Curves | null {
    const name = data.varied?.[0];
    if (name === undefined || data.varied?.length !== 1) return null;
    const known = data.points
        .map(point => ({ text: point.settings?.[name] ?? '', time: point.wall_s?.value ?? null }))
        .map(({ text, time }) => ({ x: text.trim() === '' ? Number.NaN : Number(text), time }))
        .sort((a, b) => a.x - b.x);
    if (known.some(({ x }) => !Number.isFinite(x))) return null;
    return {
        x: known.map(({ x }) => x),
        series: [{ label: 'measured', values: known.map(({ time }) => time) }],
    };
}
