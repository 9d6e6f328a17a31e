/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the memory of a process is in huge pages, by /proc/PID/smaps_rollup (proc(5)). */
#ifndef AS_PROFILE_PAGES_H
#define AS_PROFILE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct as_process_pages {
    uint64_t memory_b; /* resident, of no file */
    uint64_t huge_b;   /* the part of it in huge pages */
};

/* Adds those of a process. False: it is gone, or cannot be read. */
bool as_process_pages_add(uint32_t pid, struct as_process_pages *sum);
/* The same of the text of such a file. False: no line of it is known. */
bool as_process_pages_parse(const char *text, struct as_process_pages *sum);

#endif
