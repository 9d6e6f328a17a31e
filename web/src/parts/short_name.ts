// SPDX-License-Identifier: Apache-2.0
// Long names of C++ functions told short, as src/report/short_name.c does it for the terminal:
// what a reader misses least goes first, and the class and the function stay. Both are held to
// tests/golden/report/short-names.tsv.

const OPERATOR = /^operator(?![\w$])(\(\)|[<>=!+\-*/%^&|~,[\]]*)/;
const isWord = (char: string | undefined): boolean => char !== undefined && /[\w$]/.test(char);

const endsInOperator = (name: string, at: number): boolean =>
    name.slice(Math.max(0, at - 8), Math.max(0, at)) === 'operator';

/** Returns the position of the bracket that closes the one at `open`, or -1. `->` and `operator<`
 * do not count as brackets. */
function closing(name: string, open: number): number {
    let round = 0;
    let angle = 0;
    let curly = 0;
    for (let at = open; at < name.length; at++) {
        const char = name[at];
        if (char === '(') round++;
        else if (char === ')') round--;
        else if (char === '{') curly++;
        else if (char === '}') curly--;
        else if (char === '<' && !endsInOperator(name, at)) angle++;
        else if (char === '>' && name[at - 1] !== '-' && !endsInOperator(name, at)) angle--;
        if (round < 0 || angle < 0 || curly < 0) return -1;
        if (!round && !angle && !curly) return at;
    }
    return -1;
}

/** Length of `operator` and its sign where one begins, else 0. */
function operatorAt(name: string, at: number): number {
    if (name[at] !== 'o' || isWord(name[at - 1])) return 0;
    return OPERATOR.exec(name.slice(at, at + 16))?.[0].length ?? 0;
}

/** Places that are not inside a bracket or the sign of an operator. */
function* places(name: string): Generator<number> {
    for (let at = 0; at < name.length;) {
        yield at;
        const sign = operatorAt(name, at);
        const end = '(<{'.includes(name[at]!) ? closing(name, at) : -1;
        at = sign ? at + sign : end >= 0 ? end + 1 : at + 1;
    }
}

/** The last list of parameters, or -1. `(anonymous namespace)` is none. */
function parameters(name: string): number {
    let found = -1;
    for (const at of places(name))
        if (
            name[at] === '(' &&
            at > 0 &&
            name[at - 1] !== ' ' &&
            name[at - 1] !== ':' &&
            closing(name, at) >= 0
        )
            found = at;
    return found;
}

/** Returns the begin of the name that ends at `end`: behind the type of its result. */
function behindResult(name: string, end: number): number {
    let from = 0;
    for (const at of places(name)) {
        if (at >= end || operatorAt(name, at)) break;
        if (name[at] === ' ') from = at + 1;
    }
    return from;
}

function without(name: string, bracket: string, instead: string): string {
    let text = '';
    for (let at = 0; at < name.length; at++) {
        const before = name[at - 1];
        const opens =
            name[at] === bracket &&
            (isWord(before) ||
                before === '>' ||
                before === '}' ||
                (at > 0 && endsInOperator(name, at - 2))) &&
            !endsInOperator(name, at) &&
            !')>='.includes(name[at + 1] ?? ' ');
        const end = opens ? closing(name, at) : -1;
        text += end < 0 ? name[at] : instead;
        if (end >= 0) at = end;
    }
    return text;
}

/** Neither the type of the result nor what follows the parameters (`const`, `[clone ...]`). */
function withoutResult(name: string): string {
    const list = parameters(name);
    if (list >= 0) return name.slice(behindResult(name, list), closing(name, list) + 1);
    const note = name.indexOf(' [');
    return note >= 0 ? name.slice(0, note) : name;
}

/** Without the outermost scope, as long as a class is left before the function. */
function withoutScope(name: string): string {
    let first = -1;
    let scopes = 0;
    for (const at of places(name)) {
        if (name[at] === ' ') break;
        if (!name.startsWith('::', at)) continue;
        if (first < 0) first = at + 2;
        scopes++;
    }
    return scopes >= 2 ? name.slice(first) : name;
}

function withoutBrackets(name: string): string {
    const list = parameters(name);
    return list >= 0 && closing(name, list) === name.length - 1 ? name.slice(0, list) : name;
}

const FORMS: { form: (name: string) => string; again?: boolean }[] = [
    { form: name => without(name, '(', '(...)') },
    { form: withoutResult },
    { form: name => without(name, '<', '<...>') },
    { form: withoutScope, again: true },
    { form: withoutBrackets },
    { form: name => without(name, '<', '') },
];

/** Stands behind the name of a function that is inlined. */
export const INLINED = ' (inlined)';
const MARK = ' (inlined';
const INTO = ' (inlined into ';

/** The mark behind a name: the function in it gets half of `most` characters. */
function shortMark(mark: string, most: number): string {
    if (!mark.startsWith(INTO) || !mark.endsWith(')')) return mark;
    return INTO + shortName(mark.slice(INTO.length, -1), Math.floor(most / 2)) + ')';
}

/**
 * `name`, short if it has more than `most` characters; no more is taken than it needs. The mark of
 * an inlined function stays.
 */
export function shortName(name: string, most: number): string {
    const at = name.indexOf(MARK);
    if (at >= 0) {
        const mark = name.length > most ? shortMark(name.slice(at), most) : name.slice(at);
        return shortName(name.slice(0, at), Math.max(0, most - mark.length)) + mark;
    }
    let text = name;
    for (const { form, again } of FORMS)
        while (text.length > most) {
            const next = form(text);
            if (!next || next.length > text.length || next === text) break;
            text = next;
            if (!again) break;
        }
    return text;
}
