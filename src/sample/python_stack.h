/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges Python frames into native stacks: they replace the frames of the interpreter that runs
 * them.
 */
#ifndef AS_SAMPLE_PYTHON_STACK_H
#define AS_SAMPLE_PYTHON_STACK_H

#include "sample/recorder.h"

/* Python functions with a name in the stream. */
struct as_python_names {
    struct as_map_u64 written;
};

/*
 * Replaces interpreter frames in `frames` by the Python frames of `sample`. `frames` is the stack
 * of the same sample by as_unwind. Writes new functions to `writer` and adds new files as modules.
 * `*module_n` is the number of modules written so far. Returns 0 or the error of the writer.
 */
int as_python_weave(struct as_python_names *names, struct as_modules *modules,
                    struct as_writer *writer, size_t *module_n,
                    const struct as_sample_record *sample, struct as_frames *frames);

#endif
