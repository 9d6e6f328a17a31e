/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process in huge pages, from /proc/PID/smaps_rollup (proc(5)). */
#ifndef AS_PROFILE_PAGES_H
#define AS_PROFILE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct as_process_pages {
    uint64_t memory_b; /* resident anonymous memory, including hugetlbfs */
    uint64_t huge_b;   /* the part of it in huge pages */
};

/* Adds the memory of a process to `sum`. Returns false if it has ended or cannot be read. */
bool as_process_pages_add(uint32_t pid, struct as_process_pages *sum);
/* Adds the memory in the text of such a file. Returns false if the text has no known line. */
bool as_process_pages_parse(const char *text, struct as_process_pages *sum);

#endif
