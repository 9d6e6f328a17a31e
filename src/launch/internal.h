/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside launch/: what the files share.
 */
#ifndef AS_LAUNCH_INTERNAL_H
#define AS_LAUNCH_INTERNAL_H

#include <assay/launch.h>

#include "base/arena.h"
#include "base/error.h"

/* A plan and the memory of its texts. */
struct as_plan {
    struct assay_launch_plan plan; /* first: what users hold */
    struct as_arena arena;
};

/* Which launcher a program of this path is; PROGRAM when none. `is_script`: it is a text. */
enum assay_launch_kind as_launcher_of(const char *real_path, bool is_script);
/* Whether the arguments of a launcher send ranks to other machines; `why` says how. */
bool as_launcher_is_away(enum assay_launch_kind kind, const char *const *argv, char *why,
                         size_t why_b);

#endif
