// SPDX-License-Identifier: Apache-2.0
// Hands a text to the reader: as a file, or to the clipboard.

export function saveFile(name: string, text: string, type: string): void {
    saveBlob(name, new Blob([text], { type }));
}

export function saveBlob(name: string, blob: Blob): void {
    const address = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
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
