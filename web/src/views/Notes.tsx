// SPDX-License-Identifier: Apache-2.0
// Method of results of several runs, and their caveats.

interface Props {
    method?: string | null;
    notes?: string[];
}

export function Notes({ method, notes }: Props) {
    if (!method && !notes?.length) return null;
    return (
        <section class="panel" aria-label="Method and notes">
            {method && <p class="note">{method}</p>}
            {notes && notes.length > 0 && (
                <ul class="flags">
                    {notes.map(note => (
                        <li key={note}>{note}</li>
                    ))}
                </ul>
            )}
        </section>
    );
}
