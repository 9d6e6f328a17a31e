/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a library that the program needs, or that comes late by dlopen without being seen by
 * others (Python): it is looked for among all that is loaded.
 */
#ifndef AS_AGENT_MODULE_EVENTS_H
#define AS_AGENT_MODULE_EVENTS_H

#define AS_LOADED_MOST 16u

struct as_loaded {
    const char *const *prefix; /* of names of files; NULL ends them */
    void *library[AS_LOADED_MOST];
    unsigned library_n;
};

/* Takes what is loaded now; `prefix` is set. */
void as_loaded_collect(struct as_loaded *it);
/* In those libraries, else in what is seen by all after this library. `version` may be NULL: any.
 * NULL: nobody has it. */
void *as_loaded_find(const struct as_loaded *it, const char *symbol, const char *version);

#endif
