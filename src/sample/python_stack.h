/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Python in the stack of the machine: they replace the interpreter's frames that run
 * them.
 */
#ifndef AS_SAMPLE_PYTHON_STACK_H
#define AS_SAMPLE_PYTHON_STACK_H

#include "sample/recorder.h"

/* Functions of Python that have a name in the stream. */
struct as_python_names {
    struct as_map_u64 written;
};

/*
 * Puts the frames of Python of `sample` among `frames`, which are of the same sample by as_unwind.
 * New functions are written to `writer`, and new files are new modules: `*module_n` of them are
 * written by now. 0 or the writer's error.
 */
int as_python_weave(struct as_python_names *names, struct as_modules *modules,
                    struct as_writer *writer, size_t *module_n,
                    const struct assay_sample_record *sample, struct as_frames *frames);

#endif
