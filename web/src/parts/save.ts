// SPDX-License-Identifier: Apache-2.0
// Hands a text to the reader: as a file, or to the clipboard.

export function saveFile(name: string, text: string, type: string): void {
    saveBlob(name, new Blob([text], { type }));
}

/** The browser may read the file much later, and frees its address with the page. */
export function saveBlob(name: string, blob: Blob): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
}

/** From a file the clipboard interface may be refused: then by a selection. */
export async function copyText(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = document.createElement('textarea');
        area.value = text;
        area.className = 'off-screen';
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}
