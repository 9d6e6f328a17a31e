// SPDX-License-Identifier: Apache-2.0
// Pages of the manual are texts for the bundler.

declare module '*.md' {
    const text: string;
    export default text;
}
