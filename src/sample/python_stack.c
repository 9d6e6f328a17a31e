/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the interpreter loop runs one or more Python functions and keeps a note on the native
 * stack. The native frame around the note is the call that runs them, whatever the name of its
 * code. Adjacent frames of the same module belong to the interpreter and are dropped. An exception
 * are the frames of a running compiled function that Python called.
 */
#include "sample/python_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/index.h"
#include "base/str.h"

struct weave {
    const struct as_sample_record *sample;
    const struct as_frames *from;
    struct as_python_names *names;
    struct as_modules *modules;
    struct as_writer *writer;
    size_t *module_n;
    bool is_run[AS_DEPTH_MOST];     /* by native frame: true if it runs Python */
    bool is_dropped[AS_DEPTH_MOST]; /* by native frame: true if it is dropped */
    uint32_t interpreter;           /* module of the frames that run Python */
    struct as_frames to;
};

/* ---- Functions ---------------------------------------------------------------------------- */

static uint16_t tag_of(const char *name)
{
    uint64_t hash = 0;
    for (; *name; name++)
        hash = as_hash_mix(hash, (uint8_t)*name);
    return (uint16_t)(hash ^ hash >> 32);
}

static int write_name(struct weave *w, uint32_t module, uint64_t function, const char *name)
{
    char text[4096];
    const uint64_t key = as_hash_mix(module, function);
    if (as_map_u64_get(&w->names->written, key) != AS_MAP_NONE)
        return 0;
    for (; *w->module_n < w->modules->module.n; ++*w->module_n)
        AS_TRY(as_writer_module(w->writer, &w->modules->module.at[*w->module_n].fact));
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIx64 " %.3900s", module, function, name);
    AS_TRY(as_writer_info(w->writer, "python", text));
    return as_map_u64_put(&w->names->written, key, 1);
}

static int push_python(struct weave *w, const struct as_python_frame *frame)
{
    struct as_frame place;
    AS_TRY(as_modules_python(w->modules, frame->file[0] ? frame->file : "[python]", &place.module));
    place.address = AS_PYTHON_ADDRESS(frame->first_line, tag_of(frame->name), frame->line);
    AS_TRY(write_name(w, place.module, AS_PYTHON_FUNCTION(place.address), frame->name));
    as_frames_push(&w->to, place);
    return 0;
}

/* ---- Native frames ------------------------------------------------------------------------ */

/* Returns true for an address in native frame `i`. The end of the last frame is unknown. */
static bool is_in_frame(const struct as_frames *frames, unsigned i, uint64_t address)
{
    return address >= frames->sp[i] && (i + 1 == frames->n || address < frames->sp[i + 1]);
}

static bool runs_python(const struct weave *w, unsigned i)
{
    for (size_t g = 0; g < w->sample->python_n; g++)
        if (!w->sample->python[g].name && is_in_frame(w->from, i, w->sample->python[g].at))
            return true;
    return false;
}

static const struct as_python_frame *innermost_in(const struct weave *w, unsigned i)
{
    for (size_t g = 0; g + 1 < w->sample->python_n; g++)
        if (!w->sample->python[g].name && is_in_frame(w->from, i, w->sample->python[g].at))
            return w->sample->python[g + 1].name ? &w->sample->python[g + 1] : NULL;
    return NULL;
}

/* Returns true if the interpreter is a module of its own, not linked into a program. */
static bool has_own_module(const struct weave *w)
{
    const char *name = as_path_last(w->modules->module.at[w->interpreter].fact.path);
    return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0;
}

/* Drops adjacent frames of the interpreter from `i` on in direction `step`. */
static void drop_own(struct weave *w, unsigned i, int step)
{
    for (; has_own_module(w) && i < w->from->n && !w->is_run[i] &&
           w->from->frame[i].module == w->interpreter;
         i += (unsigned)step)
        w->is_dropped[i] = true;
}

static bool is_own_code(const struct weave *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (w->from->frame[i].module != w->interpreter)
            return false;
    return true;
}

static void choose_frames(struct weave *w)
{
    const unsigned n = w->from->n;
    unsigned first = n;
    for (unsigned i = n; i-- > 0;) {
        w->is_run[i] = runs_python(w, i);
        if (w->is_run[i])
            first = i;
    }
    if (first == n)
        return;
    w->interpreter = w->from->frame[first].module;
    const struct as_python_frame *top = innermost_in(w, first);
    const bool is_compiled = top && top->calls && first > 0 && is_own_code(w, first);
    for (unsigned i = 0; i < n; i++) {
        if (!w->is_run[i])
            continue;
        drop_own(w, i + 1, 1);
        if (i && !(i == first && is_compiled))
            drop_own(w, i - 1, -1);
    }
}

/* ---- Weaving ------------------------------------------------------------------------------ */

/* Appends the Python functions that native frame `i` runs instead of the frame. */
static int push_run(struct weave *w, unsigned i)
{
    const struct as_python_frame *frame = w->sample->python;
    bool is_here = false;
    for (size_t g = 0; g < w->sample->python_n; g++) {
        if (!frame[g].name)
            is_here = is_in_frame(w->from, i, frame[g].at);
        else if (is_here)
            AS_TRY(push_python(w, &frame[g]));
    }
    return 0;
}

int as_python_weave(struct as_python_names *names, struct as_modules *modules,
                    struct as_writer *writer, size_t *module_n,
                    const struct as_sample_record *sample, struct as_frames *frames)
{
    struct weave w = {.sample = sample,
                      .from = frames,
                      .names = names,
                      .modules = modules,
                      .writer = writer,
                      .module_n = module_n,
                      .to = {.end = frames->end, .reach_b = frames->reach_b}};
    if (!sample->python_n || !frames->n)
        return 0;
    choose_frames(&w);
    for (unsigned i = 0; i < frames->n; i++) {
        if (w.is_run[i])
            AS_TRY(push_run(&w, i));
        else if (!w.is_dropped[i])
            as_frames_push(&w.to, frames->frame[i]);
    }
    memcpy(frames, &w.to, sizeof *frames);
    return 0;
}
