/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of this process, from /proc/self/statm (proc_pid_statm(5)). */
#ifndef AS_BASE_MEMORY_USED_H
#define AS_BASE_MEMORY_USED_H

#include <stdbool.h>
#include <stdint.h>

struct as_memory_used {
    uint64_t mapped_b;   /* address space */
    uint64_t resident_b; /* physical memory, shared pages included */
};

/* Reads the sizes. Returns false if the kernel does not give them. */
bool as_memory_used(struct as_memory_used *out);

#endif
