// SPDX-License-Identifier: Apache-2.0
// The flame graph: click or Enter zooms, Escape goes back up, arrow keys walk from frame to frame,
// the search lights up. The call tree has the same numbers as a table.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Folded } from '../calltree/fold';
import { percent, seconds } from '../format';
import { href, route, setParams } from '../route';
import { isDark } from '../theme';
import { useSettling, GridParams } from '../grid/state';
import { FRAME_PX, draw } from './draw';
import { type Frame, frameAt, layout, matchedTime } from './layout';

function share(folded: Folded, time: number): string {
    return percent(folded.all > 0 ? (100 * time) / folded.all : 0);
}

const NOTHING = -2; // -1 is the frame of all

function describe(folded: Folded, node: number): string {
    const time = node < 0 ? folded.all : folded.total[node]!;
    const share = folded.all > 0 ? percent((100 * time) / folded.all) : '';
    if (node < 0) return `all: ${seconds(time)}`;
    const self = folded.tree.self_s[node] ?? 0;
    const site = folded.site(node);
    const interrupted = folded.foldedInto?.[node] ?? 0;
    const module = folded.module(node);
    return (
        `${folded.name(node)}: ${seconds(time)} (${share}), itself ${seconds(self)}` +
        `${interrupted > 0 ? ` (${seconds(interrupted)} of it interrupted)` : ''}` +
        `${module ? `, ${module}` : ''}${site ? `, called from ${site}` : ''}`
    );
}

function step(folded: Folded, frames: readonly Frame[], from: number, key: string): number | null {
    const at = frames.find(frame => frame.node === from) ?? frames[0];
    if (!at) return null;
    if (key === 'ArrowUp') return at.node < 0 ? -1 : folded.parent[at.node]!;
    const row = (depth: number): Frame[] => frames.filter(frame => frame.depth === depth);
    if (key === 'ArrowDown') {
        const below = row(at.depth + 1).find(
            frame => at.node < 0 || folded.parent[frame.node] === at.node,
        );
        return below ? below.node : null;
    }
    const peers = row(at.depth);
    const place = peers.indexOf(at) + (key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0);
    return peers[place]?.node ?? null;
}

export function Flame({ folded }: { folded: Folded }) {
    const box = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const [width, setWidth] = useState(900);
    const [hovered, setHovered] = useState(NOTHING);
    const [selected, setSelected] = useState(NOTHING);
    const params = useMemo(() => new GridParams(''), []);
    const [search, setSearch] = useSettling(params, 'q');
    const zoomText = route.value.params['zoom'];
    const zoom = zoomText !== undefined && Number(zoomText) < folded.n ? Number(zoomText) : -1;
    const dark = isDark.value;
    const frames = useMemo(() => layout(folded, zoom, width), [folded, zoom, width]);
    const height = (frames.reduce((most, frame) => Math.max(most, frame.depth), 0) + 1) * FRAME_PX;
    const matches = useMemo(() => {
        const wanted = search.trim().toLowerCase();
        if (!wanted) return null;
        const hit = folded.names.map(name => name.toLowerCase().includes(wanted));
        return (node: number): boolean => hit[folded.nameOf[node]!] ?? false;
    }, [folded, search]);
    const found = useMemo(() => (matches ? matchedTime(folded, matches) : 0), [folded, matches]);

    useEffect(() => {
        const element = box.current;
        if (!element) return undefined;
        const measure = (): void => setWidth(Math.max(300, element.clientWidth));
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    useEffect(() => {
        if (canvas.current)
            draw(canvas.current, folded, frames, width, height, { selected, hovered, matches });
    }, [folded, frames, width, height, selected, hovered, matches, dark]);

    const zoomTo = (node: number): void => {
        setParams({ zoom: node < 0 ? undefined : String(node) });
        setSelected(node);
    };
    const hit = (event: MouseEvent): number => {
        const at = canvas.current!.getBoundingClientRect();
        const depth = Math.floor((event.clientY - at.top) / FRAME_PX);
        return frameAt(frames, event.clientX - at.left, depth)?.node ?? NOTHING;
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.key === 'Escape') {
            event.preventDefault();
            return zoomTo(zoom >= 0 ? folded.parent[zoom]! : -1);
        }
        if (event.key === 'Enter' && selected !== NOTHING) {
            event.preventDefault();
            return zoomTo(selected);
        }
        if (!event.key.startsWith('Arrow')) return;
        event.preventDefault();
        const next = selected === NOTHING ? -1 : step(folded, frames, selected, event.key);
        if (next !== null) setSelected(next);
    };
    const told = hovered !== NOTHING ? hovered : selected !== NOTHING ? selected : zoom;
    const functionId = told >= 0 ? folded.functionId(told) : null;

    return (
        <div class="flame">
            <div class="toolbar">
                <input
                    type="search"
                    class="filter"
                    placeholder="Search functions"
                    aria-label="Search in the flame graph"
                    value={search}
                    onInput={event => setSearch(event.currentTarget.value)}
                />
                <button type="button" class="button" disabled={zoom < 0} onClick={() => zoomTo(-1)}>
                    Show all
                </button>
                <span class="status" role="status">
                    {matches ? `Matched: ${seconds(found)}, ${share(folded, found)}` : ''}
                </span>
            </div>
            <p class="flame-told" aria-live="polite">
                {describe(folded, told)}
                {functionId !== null && hovered === NOTHING && (
                    <>
                        {' '}
                        <a href={href(`function/${functionId}`)}>open</a>
                    </>
                )}
            </p>
            <div
                ref={box}
                class="flame-box"
                role="application"
                aria-label="Flame graph: arrow keys walk, Enter zooms, Escape zooms out"
                tabIndex={0}
                onKeyDown={onKeyDown}
            >
                <canvas
                    ref={canvas}
                    onPointerMove={event => setHovered(hit(event))}
                    onPointerLeave={() => setHovered(NOTHING)}
                    onClick={event => {
                        const node = hit(event);
                        if (node !== NOTHING) zoomTo(node);
                    }}
                />
            </div>
        </div>
    );
}
