// SPDX-License-Identifier: Apache-2.0
// The page of a time line: tools, legend, picture, what is marked, tables.

import { useEffect, useRef, useState } from 'preact/hooks';
import { integer, significant } from '../format';
import { saveBlob, saveFile } from '../parts/save';
import { type Theme, setTheme, theme } from '../theme';
import { Histogram } from './Histogram';
import { Matrix, Times, zoomToRegion } from './Tables';
import { Picture, Told } from './Picture';
import { variablesOf } from './colours';
import {
    events,
    fail,
    forgetPictures,
    loadMetric,
    messages,
    meta,
    metric,
    readyMetric,
    tile,
    tookMs,
} from './data';
import { scaleOf } from './draw';
import { type Moment, askConfiguration, askMoment, askNext } from './server';
import {
    DRAW_MODES,
    type DrawMode,
    centred,
    change,
    drawModeOf,
    drawModesOf,
    moved,
    show,
    undo,
    undoable,
    view,
    zoomed,
} from './view';
import { codeText, duration, eventName, rangeText, timeText } from './words';

function Swatch({ colour }: { colour: string }) {
    const box = useRef<HTMLSpanElement>(null);
    useEffect(() => box.current?.style.setProperty('background-color', `var(${colour})`), [colour]);
    return <span ref={box} class="swatch" aria-hidden="true" />;
}

function Legend() {
    const current = metric.value;
    const picture = tile.value;
    if (current?.state !== 'ready') return null;
    if (!current.is_code) {
        const scale = picture?.levels ? scaleOf(picture) : null;
        return (
            <p class="legend-line">
                <span class="gradient" aria-hidden="true" />{' '}
                {scale && `${significant(scale.min, 4)} to ${significant(scale.max, 4)} here, `}
                {significant(current.min, 4)} to {significant(current.max, 4)} in all. Strong: the
                chosen value, pale: the maximum of the pixel.
            </p>
        );
    }
    const colours = variablesOf(current.codes, current.name === 'states');
    return (
        <ul class="legend" aria-label="Legend">
            {current.codes.map((code, i) => (
                <li key={i}>
                    <Swatch colour={colours[i]!} /> {codeText(code)}
                </li>
            ))}
        </ul>
    );
}

async function goToNext(isBack: boolean): Promise<void> {
    const { event, at, from, to } = view.value;
    const type = event === '' || event === 'all' ? NaN : Number(event);
    const found = await askNext(type, at?.ns ?? (isBack ? to : from - 1), isBack);
    if (!found) return;
    change({ at: { row: found.row, ns: found.ns } });
    if (found.ns < from || found.ns > to) show(centred(view.value, meta.value!.end_ns, found.ns));
}

const next = (isBack: boolean): void => void goToNext(isBack).catch(fail);

/** The trace and the metric, as the name of a file. */
const savedName = (ending: string): string => {
    const stem = meta.value!.title.replace(/^.*\//, '').replace(/\.(prv|gz|assay)/g, '');
    return `${stem}-${view.value.metric}.${ending}`;
};

/** The canvas as it is shown, with scale and labels. */
function savePicture(): void {
    const canvas = document.querySelector<HTMLCanvasElement>('.picture canvas');
    canvas?.toBlob(blob => blob && saveBlob(savedName('png'), blob), 'image/png');
}

async function saveConfiguration(): Promise<void> {
    const text = await askConfiguration(view.value.metric);
    saveFile(savedName('cfg').replace(/\.cfg\.cfg$/, '.cfg'), text, 'text/plain');
}

/** Rows of another level are other objects: a marked one is no longer. */
function chooseMetric(name: string): void {
    const { metrics } = meta.value!;
    const levelOf = (of: string) => metrics.find(one => one.name === of)?.level;
    const isSame = levelOf(name) === levelOf(view.value.metric);
    change({ metric: name, values: null, ...(isSame ? {} : { firstRow: 0, at: null }) });
}

function Tools() {
    const { metrics, types, end_ns: end } = meta.value!;
    const current = view.value;
    const middle = (current.from + current.to) / 2;
    const isCode = readyMetric.value?.is_code ?? false;
    const button = (title: string, isOff: boolean, onClick: () => void, tip?: string) => (
        <button type="button" class="button" disabled={isOff} onClick={onClick} data-tip={tip}>
            {title}
        </button>
    );
    const isWhole = current.from === 0 && current.to === end;
    return (
        <div class="toolbar" role="group" aria-label="Time line">
            <label class="tool-label">
                Metric{' '}
                <select
                    value={current.metric}
                    onChange={event => chooseMetric(event.currentTarget.value)}
                >
                    {metrics.map(one => (
                        <option key={one.name} value={one.name}>
                            {one.title}
                        </option>
                    ))}
                </select>
            </label>
            {readyMetric.value && (
                <label class="tool-label">
                    Pixel{' '}
                    <select
                        value={drawModeOf(current.mode, isCode)}
                        onChange={event => change({ mode: event.currentTarget.value as DrawMode })}
                    >
                        {drawModesOf(isCode).map(mode => (
                            <option key={mode} value={mode}>
                                {isCode && mode === 'mean' ? 'all, by time' : DRAW_MODES[mode]}
                            </option>
                        ))}
                    </select>
                </label>
            )}
            {button('Zoom in', false, () => show(zoomed(current, end, 2, middle)), '+')}
            {button('Zoom out', isWhole, () => show(zoomed(current, end, 0.5, middle)), '-')}
            {button('Earlier', current.from <= 0, () => show(moved(current, end, -0.5)), '[')}
            {button('Later', current.to >= end, () => show(moved(current, end, 0.5)), ']')}
            {button('All', isWhole, () => show({ from: 0, to: end }), '0')}
            {button('Undo zoom', undoable.value.length === 0, undo, 'u')}
            {button('Zoom to region', !current.region, zoomToRegion, 'Enter')}
            <label class="tool-label">
                Events{' '}
                <select
                    value={current.event}
                    onChange={event => change({ event: event.currentTarget.value })}
                >
                    <option value="">none</option>
                    <option value="all">all types</option>
                    {types.map(one => (
                        <option key={one.type} value={String(one.type)}>
                            {eventName(one.type, one.label)} ({integer(one.n)})
                        </option>
                    ))}
                </select>
            </label>
            {button('Previous', types.length === 0, () => next(true), 'p: the event before')}
            {button('Next', types.length === 0, () => next(false), 'n: the next event')}
            <label class="tool-label">
                <input
                    type="checkbox"
                    checked={current.messages}
                    onChange={event => change({ messages: event.currentTarget.checked })}
                />{' '}
                Messages
            </label>
            {button('Lower rows', current.rowPx === 1, () =>
                change({ rowPx: Math.max(1, Math.floor((current.rowPx || 12) / 1.5)) }),
            )}
            {button('Higher rows', current.rowPx >= 48, () =>
                change({ rowPx: Math.min(48, Math.ceil((current.rowPx || 12) * 1.5)) }),
            )}
            {button('Save PNG', !tile.value, savePicture, 'the picture as it is shown')}
            {button(
                'Save .cfg',
                !readyMetric.value,
                () => void saveConfiguration().catch(fail),
                'the metric as a configuration of Paraver',
            )}
        </div>
    );
}

/** Says the part in view, and the marks that are left out. */
function Notes() {
    const { end_ns: end, bad_lines_n: bad } = meta.value!;
    const current = view.value;
    const drawn = messages.value ? messages.value.at.length / 6 : 0;
    const total = messages.value?.total ?? 0;
    const instants = readyMetric.value?.instants_n ?? 0;
    const picture = tile.value;
    const parts = [
        `${timeText(current.from, current)} to ${timeText(current.to, current)} of ` +
            `${duration(end)}, ${duration(current.to - current.from)} in view.`,
    ];
    if (picture) parts.push(`A pixel is ${duration((picture.to - picture.from) / picture.px)}.`);
    if (messages.value)
        parts.push(
            drawn < total
                ? `${integer(drawn)} of ${integer(total)} messages are drawn.`
                : `${integer(total)} messages.`,
        );
    if (events.value) parts.push('A mark is one event or more.');
    if (current.values && readyMetric.value?.is_code === false)
        parts.push(`A strip below a row: ${rangeText(current.values)}.`);
    if (instants === 1) parts.push('1 interval without length is not drawn.');
    if (instants > 1) parts.push(`${integer(instants)} intervals without length are not drawn.`);
    if (bad === 1) parts.push('1 line of the trace makes no sense and is left out.');
    if (bad > 1) parts.push(`${integer(bad)} lines of the trace make no sense and are left out.`);
    return (
        <p class="note" role="status" data-took={tookMs.value?.toFixed(1)}>
            {parts.join(' ')}
        </p>
    );
}

/** The moment that was clicked. */
function Marked() {
    const { at, metric: name } = view.value;
    const isReady = readyMetric.value !== null;
    const [moment, setMoment] = useState<Moment | null>(null);
    useEffect(() => {
        let isOver = false;
        setMoment(null);
        if (at && isReady)
            askMoment(name, at.row, at.ns).then(told => !isOver && setMoment(told), fail);
        return () => {
            isOver = true;
        };
    }, [at?.row, at?.ns, name, isReady]);
    if (!at || !isReady)
        return (
            <p class="note">
                Click a place to keep it here. Wheel: zoom; drag: move; Shift and drag: choose a
                region.
            </p>
        );
    return <Told place={at} moment={moment} />;
}

export function App() {
    const { title, has_report: hasReport } = meta.value!;
    const { region, metric: name } = view.value;
    useEffect(() => {
        let isWanted = true;
        forgetPictures();
        loadMetric(name, () => isWanted).catch(fail);
        return () => {
            isWanted = false;
        };
    }, [name]);
    const shown = meta.value!.metrics.find(one => one.name === name);
    const where = region ? 'of the region' : 'of what is in view';
    return (
        <>
            <header class="head">
                <span class="brand">assay</span>
                <h1 class="head-name">Time line of {title}</h1>
                {hasReport && <a href="./?timeline">Report</a>}
                <label class="tool-label">
                    <span class="off-screen">Colours</span>
                    <select
                        value={theme.value}
                        onChange={event => setTheme(event.currentTarget.value as Theme)}
                        aria-label="Colours"
                    >
                        <option value="auto">Auto</option>
                        <option value="light">Light</option>
                        <option value="dark">Dark</option>
                    </select>
                </label>
            </header>
            <main id="main">
                <Tools />
                <p class="note">{shown?.text}</p>
                <Legend />
                <Notes />
                <Picture onNext={next} />
                <div class="below">
                    <section class="panel" aria-label="Marked place">
                        <h2>Marked place</h2>
                        <Marked />
                    </section>
                    <section class="panel wide" aria-label="Time by row">
                        <h2>Time by row, {where}</h2>
                        <Times />
                    </section>
                    <section class="panel" aria-label="Messages">
                        <h2>Messages, {where}</h2>
                        <Matrix />
                    </section>
                    {readyMetric.value?.is_code === false && (
                        <section class="panel whole" aria-label="Histogram">
                            <h2>Time by value, {where}</h2>
                            <Histogram />
                        </section>
                    )}
                </div>
            </main>
        </>
    );
}
