/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How processes end that are no children of ours: the ranks of a launcher. Only their parent may
 * wait for them; but a descriptor of a process tells its end to whoever holds it (PIDFD_GET_INFO
 * with PIDFD_INFO_EXIT, Linux 6.15), and /proc/PID/stat until the parent has waited (proc(5)).
 */
#ifndef AS_PROFILE_PROCESS_EXITS_H
#define AS_PROFILE_PROCESS_EXITS_H

#include <assay/sample.h>

#include "base/vec.h"

struct as_ends_process {
    uint32_t pid;
    int fd;
    uint64_t end_ns; /* 0: it runs, for all we know */
};

struct as_ends {
    bool is_refused; /* the kernel tells nothing by descriptors */
    AS_VEC(struct as_ends_process) process;
};

/* A process begins or ends by this record. Errors: those of the recorder, NOMEM. */
int as_ends_on_record(struct as_ends *ends, const struct assay_sample_record *record,
                      struct assay_recorder *recorder, struct assay_error *err);
/* Notes the ends that are known by now. */
int as_ends_look(struct as_ends *ends, struct assay_recorder *recorder, struct assay_error *err);
void as_ends_end(struct as_ends *ends);

#endif
