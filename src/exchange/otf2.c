/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/otf2.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analytics/state/walking.h"
#include "base/error.h"
#include "base/str.h"
#include "base/tree.h"
#include "exchange/common.h"
#include "exchange/otf2_write.h"

#define EVENT_CHUNK_B ((uint64_t)1 << 20)
#define NAMES_CHUNK_B ((uint64_t)4 << 20)

static OTF2_FlushType always_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    (void)context, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = always_flush};

/* Keeps the library from printing its errors. */
static OTF2_ErrorCode ignore_otf2_error(void *context, const char *file, uint64_t line,
                                        const char *function, OTF2_ErrorCode code,
                                        const char *format, va_list arguments)
{
    (void)context, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static int list_locations(struct as_otf2_writer *w)
{
    for (uint32_t p = 0; p < w->trace->process.n; p++)
        for (uint32_t t = 0; t < w->trace->process.at[p].thread.n; t++)
            AS_TRY(as_vec_push(&w->thread, (struct as_otf2_thread){.process = p, .thread = t}));
    w->begin_ns = w->end_ns = as_exchange_begin_ns(w->trace);
    return 0;
}

static int refuse_archive(const char *path, OTF2_ErrorCode rc, struct as_error *err)
{
    return as_error_set(
        err, AS_ERR_IO,
        "%s: cannot be written: %s; free some space or name another "
        "directory",
        path, rc == OTF2_SUCCESS ? "the archive cannot be opened" : OTF2_Error_GetDescription(rc));
}

static int open_writers(struct as_otf2_writer *w, const char *path, struct as_error *err)
{
    OTF2_ErrorCode rc = OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL);
    if (rc == OTF2_SUCCESS)
        rc = OTF2_Archive_SetSerialCollectiveCallbacks(w->archive);
    if (rc == OTF2_SUCCESS)
        rc = OTF2_Archive_OpenEvtFiles(w->archive);
    if (rc != OTF2_SUCCESS)
        return refuse_archive(path, rc, err);
    as_vec_foreach (&w->thread, thread) {
        thread->events =
            OTF2_Archive_GetEvtWriter(w->archive, (OTF2_LocationRef)(thread - w->thread.at));
        if (!thread->events)
            return refuse_archive(path, OTF2_SUCCESS, err);
    }
    return 0;
}

static int close_writers(struct as_otf2_writer *w, const char *path, struct as_error *err)
{
    OTF2_ErrorCode rc = OTF2_SUCCESS, next;
    as_vec_foreach (&w->thread, thread) {
        next = OTF2_Archive_CloseEvtWriter(w->archive, thread->events);
        rc = rc == OTF2_SUCCESS ? next : rc;
    }
    next = OTF2_Archive_CloseEvtFiles(w->archive);
    rc = rc == OTF2_SUCCESS ? next : rc;
    return rc == OTF2_SUCCESS ? 0 : refuse_archive(path, rc, err);
}

/* Writes an empty file of definitions for each location, because readers expect one. */
static OTF2_ErrorCode write_local_definitions(struct as_otf2_writer *w)
{
    OTF2_ErrorCode rc = OTF2_Archive_OpenDefFiles(w->archive);
    for (size_t l = 0; rc == OTF2_SUCCESS && l < w->thread.n; l++) {
        OTF2_DefWriter *names = OTF2_Archive_GetDefWriter(w->archive, l);
        rc = names ? OTF2_Archive_CloseDefWriter(w->archive, names) : OTF2_ERROR_MEM_FAULT;
    }
    return rc == OTF2_SUCCESS ? OTF2_Archive_CloseDefFiles(w->archive) : rc;
}

static int write_archive(struct as_otf2_writer *w, const char *path, struct as_error *err)
{
    AS_TRY(open_writers(w, path, err));
    /* Walks the events of all threads in order: any thread of a process may complete its requests.
     * Wait states are not computed. */
    AS_TRY(as_walk_in_order(w->trace, NULL, as_otf2_write_event, w, err));
    OTF2_ErrorCode code = OTF2_SUCCESS;
    as_vec_foreach (&w->thread, thread)
        if (code == OTF2_SUCCESS)
            code = as_otf2_write_enter(w, thread, NULL);
    if (code != OTF2_SUCCESS)
        return refuse_archive(path, code, err);
    w->counts->events_n = w->walked_n - w->counts->left_out_n;
    AS_TRY(close_writers(w, path, err));
    code = write_local_definitions(w);
    if (code == OTF2_SUCCESS)
        code = as_otf2_write_definitions(w);
    return code == OTF2_SUCCESS ? 0 : refuse_archive(path, code, err);
}

static void free_writer(struct as_otf2_writer *w)
{
    as_vec_foreach (&w->process, process) {
        as_free(process->region);
        as_free(process->window);
    }
    as_numbered_fini(&w->persistent);
    as_numbered_fini(&w->open);
    as_vec_fini(&w->process);
    as_vec_fini(&w->thread);
    as_vec_fini(&w->region);
    as_vec_fini(&w->comm);
    as_vec_fini(&w->window);
    as_index_fini(&w->regions);
    as_index_fini(&w->comms);
    as_map_u64_fini(&w->blocks);
    as_vec_fini(&w->block_b);
    as_otf2_samples_fini(&w->samples);
}

/* Writes the archive to the directory `draft`. Errors name `path`. */
static int make_archive(const struct as_trace *trace, const char *draft, const char *path,
                        struct as_otf2_counts *counts, struct as_error *err)
{
    struct as_otf2_writer w = {.trace = trace, .counts = counts, .err = err};
    as_map_u64_init(&w.samples.callers);
    as_map_u64_init(&w.blocks);
    OTF2_Error_RegisterCallback(ignore_otf2_error, NULL);
    int rc = list_locations(&w);
    if (rc == 0)
        rc = as_otf2_list(&w);
    if (rc < 0)
        as_error_nomem(err, "an OTF2 archive");
    if (rc == 0) {
        w.archive = OTF2_Archive_Open(draft, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK_B,
                                      NAMES_CHUNK_B, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        rc = w.archive ? write_archive(&w, path, err) : refuse_archive(path, OTF2_SUCCESS, err);
    }
    if (w.archive) {
        OTF2_ErrorCode code = OTF2_Archive_Close(w.archive);
        if (rc == 0 && code != OTF2_SUCCESS)
            rc = refuse_archive(path, code, err);
    }
    free_writer(&w);
    return rc;
}

/* The archive gets its name when it is complete. A failure leaves no file. */
int as_otf2_write(const struct as_trace *trace, const char *path, struct as_otf2_counts *counts,
                  struct as_error *err)
{
    struct as_str draft = {0};
    struct stat there;

    *counts = (struct as_otf2_counts){0};
    if (lstat(path, &there) == 0)
        return as_error_set(err, AS_ERR_USAGE, "%s: exists; use another name, or remove it", path);
    as_str_appendf(&draft, "%s.writing-%d", path, (int)getpid());
    int rc = draft.failed ? as_error_nomem(err, "an OTF2 archive")
                          : make_archive(trace, as_str_z(&draft), path, counts, err);
    if (rc == 0 && rename(as_str_z(&draft), path) != 0)
        rc = as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (rc < 0 && !draft.failed)
        as_tree_remove(AT_FDCWD, as_str_z(&draft));
    as_str_fini(&draft);
    return rc;
}
