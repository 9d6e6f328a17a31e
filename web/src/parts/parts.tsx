// SPDX-License-Identifier: Apache-2.0
// Small parts that many views share.

import type { ComponentChildren } from 'preact';
import type { Quantity, Rating } from '../data/contract';
import { pageOf } from '../data/report';
import { useReport } from '../context';
import { meaningOf } from '../glossary';
import { provenance, quantityParts, withUnit } from '../format';
import type { ObjectRef } from '../grid/rows';
import { href } from '../route';

/** Shape and word say the same as the colour. */
const RATINGS: Record<Rating, { mark: string; word: string }> = {
    good: { mark: '●', word: 'good' },
    fair: { mark: '▲', word: 'fair' },
    poor: { mark: '■', word: 'poor' },
    none: { mark: '', word: '' },
};

/** The shapes alone, where a tooltip or a note has the word. */
export const RATING_MARKS = {
    good: RATINGS.good.mark,
    fair: RATINGS.fair.mark,
    poor: RATINGS.poor.mark,
};

/** Explains the marks of popRating. */
export const POP_LEGEND =
    `${RATING_MARKS.good} good from 80 %, ${RATING_MARKS.fair} fair from 60 %, ` +
    `${RATING_MARKS.poor} poor below.`;

export function RatingMark({ rating }: { rating: Rating }) {
    const { mark, word } = RATINGS[rating] ?? RATINGS.none;
    if (!mark) return null;
    return (
        <span class={`rating ${rating}`}>
            <span aria-hidden="true">{mark}</span> {word}
        </span>
    );
}

interface AmountProps {
    quantity: Quantity | null | undefined;
    unit: string | null;
    plain?: boolean; // without the margin
}

/** A quantity with its margin, the unit behind both; the tooltip says what it rests on. */
export function Amount({ quantity, unit, plain }: AmountProps) {
    if (!quantity || quantity.value === null) return <span class="muted">–</span>;
    const { value, low, high, n, origin } = quantity;
    const parts = quantityParts(value, plain ? null : low, plain ? null : high, unit);
    return (
        <span class="amount" data-tip={provenance(origin, n, low, high, unit) || undefined}>
            {parts.value}
            {parts.margin && <span class="margin"> {parts.margin}</span>}
            {parts.unit}
        </span>
    );
}

/** A gain. Without a lower bound above `none` (the value without a gain), the upper bound is
 * shown. */
export function Gain({ quantity, unit, none }: AmountProps & { none: number }) {
    const bounded = quantity && quantity.value !== null && quantity.value > none;
    if (!bounded || quantity.high === null || (quantity.low ?? none) > none)
        return <Amount quantity={quantity} unit={unit} />;
    const { low, high, n, origin } = quantity;
    return (
        <span class="amount" data-tip={provenance(origin, n, low, high, unit) || undefined}>
            ≤ {withUnit(high, unit)}
        </span>
    );
}

interface PanelProps {
    title: string;
    id?: string;
    note?: ComponentChildren;
    children: ComponentChildren;
    class?: string;
}

export function Panel({ title, id, note, children, class: extra }: PanelProps) {
    return (
        <section class={extra ? `panel ${extra}` : 'panel'} id={id} aria-label={title}>
            <h2>{title}</h2>
            {note && <p class="note">{note}</p>}
            {children}
        </section>
    );
}

export function Empty({ children }: { children: ComponentChildren }) {
    return <p class="empty">{children}</p>;
}

const NAME_MOST = 48; // characters of a function's name in a sentence

/** A link to the page of an object, with its name. */
export function ObjectLink({
    object,
    text,
    most = NAME_MOST,
}: {
    object: ObjectRef;
    text?: string;
    most?: number;
}) {
    const report = useReport();
    const page = pageOf(object);
    const label = text ?? report.label(object, most);
    const whole = report.label(object);
    const tip = text === undefined && whole !== label ? whole : undefined;
    return page ? (
        <a href={href(page)} data-tip={tip}>
            {label}
        </a>
    ) : (
        <span data-tip={tip}>{label}</span>
    );
}

/** Names with values; a name that the glossary has explains itself. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
    const known = facts.filter(
        ([, value]) => value !== null && value !== undefined && value !== '',
    );
    if (!known.length) return null;
    return (
        <dl class="facts">
            {known.map(([name, value]) => (
                <div key={name}>
                    <dt data-tip={meaningOf(name)}>{name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}

export function PageHead({
    title,
    note,
    children,
}: {
    title: ComponentChildren;
    note?: ComponentChildren;
    children?: ComponentChildren;
}) {
    return (
        <header class="page-head">
            <div>
                <h1 tabIndex={-1}>{title}</h1>
                {note && <p class="note">{note}</p>}
            </div>
            {children}
        </header>
    );
}

/** Choice of one of a few, as radio buttons that look like tabs. */
export function Choice<T extends string>({
    label,
    options,
    value,
    onChange,
}: {
    label: string;
    options: readonly { value: T; text: string }[];
    value: T;
    onChange: (value: T) => void;
}) {
    return (
        <div class="choice" role="radiogroup" aria-label={label}>
            {options.map((option, i) => (
                <button
                    key={option.value}
                    type="button"
                    role="radio"
                    aria-checked={option.value === value}
                    tabIndex={option.value === value ? 0 : -1}
                    onClick={() => onChange(option.value)}
                    onKeyDown={event => {
                        const step =
                            event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
                        if (!step) return;
                        event.preventDefault();
                        const to = (i + step + options.length) % options.length;
                        onChange(options[to]!.value);
                        const group = event.currentTarget.parentElement;
                        (group?.children[to] as HTMLElement | undefined)?.focus();
                    }}
                >
                    {option.text}
                </button>
            ))}
        </div>
    );
}
