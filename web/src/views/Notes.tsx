// SPDX-License-Identifier: Apache-2.0
// How results of several runs were made, and what lessens trust in them.

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
