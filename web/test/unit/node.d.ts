// SPDX-License-Identifier: Apache-2.0
// The part of Node.js that the unit tests use. Its types are declared here, because they are not
// installed.

declare module 'node:test' {
    export function test(name: string, run: () => void | Promise<void>): void;
}

declare module 'node:assert/strict' {
    const assert: {
        equal(actual: unknown, expected: unknown, message?: string): void;
        deepEqual(actual: unknown, expected: unknown, message?: string): void;
        ok(value: unknown, message?: string): void;
        rejects(run: Promise<unknown>, expected: RegExp): Promise<void>;
        throws(run: () => unknown, expected: RegExp): void;
    };
    export default assert;
}

declare module '*.css' {
    const text: string;
    export default text;
}
declare module 'node:fs' {
    export function readFileSync(path: string, encoding: 'utf8'): string;
}
