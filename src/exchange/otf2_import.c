/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports OTF2 archives location by location with the OTF2 library. A child process does it, so
 * that a crash of the library on a damaged archive is only an error.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limited.h"
#include "base/str.h"
#include "exchange/otf2_taken.h"

/* Keeps the library from printing its errors. */
static OTF2_ErrorCode ignore_otf2_read_error(void *context, const char *file, uint64_t line,
                                             const char *function, OTF2_ErrorCode code,
                                             const char *format, va_list arguments)
{
    (void)context, (void)file, (void)line, (void)function, (void)format, (void)arguments;
    return code;
}

static int refuse_otf2(const struct as_otf2_reading *t, const char *what, OTF2_ErrorCode code,
                       struct as_error *err)
{
    if (t->no_memory)
        return as_error_nomem(err, t->path);
    return as_error_set(err, AS_ERR_CORRUPT, "%s: %s: %s", t->path, what,
                        code == OTF2_SUCCESS ? "the archive or a file of it is not readable"
                                             : OTF2_Error_GetDescription(code));
}

/* Refuses files such as a FIFO, at which the library would wait for a writer. The library reports
 * missing files. */
static int check_file(int at, const char *name, const char *path, struct as_error *err)
{
    struct stat st;
    return fstatat(at, name, &st, 0) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
               ? 0
               : as_error_set(err, AS_ERR_NOT_REGULAR,
                              "%s: not an OTF2 archive: %s is not a regular file; copy the "
                              "archive again",
                              path, name);
}

/* Checks the files of an archive: NAME.otf2, the definitions NAME.def, and the directory NAME. */
static int check_archive(const struct as_otf2_reading *t, const char *anchor, struct as_error *err)
{
    struct as_view stem = as_view_of(anchor);
    struct as_str name = {0};
    if (as_view_ends(stem, ".otf2"))
        stem.n -= strlen(".otf2");
    as_str_append(&name, stem.p, stem.n);
    DIR *dir = name.failed ? NULL : opendir(as_str_z(&name));
    as_str_appendz(&name, ".def");
    int rc = name.failed ? as_error_nomem(err, t->path)
                         : check_file(AT_FDCWD, as_str_z(&name), t->path, err);
    for (struct dirent *it; rc == 0 && dir && (it = readdir(dir));)
        rc = check_file(dirfd(dir), it->d_name, t->path, err);
    if (dir)
        closedir(dir);
    as_str_fini(&name);
    return rc;
}

/* Opens the reader. A directory stands for the anchor file in it. */
static int open_reader(struct as_otf2_reading *t, struct as_error *err)
{
    struct as_str anchor = {0};
    struct stat st;
    as_str_appendz(&anchor, t->path);
    if (stat(t->path, &st) == 0 && S_ISDIR(st.st_mode))
        as_str_appendz(&anchor, "/traces.otf2");
    if (anchor.failed)
        return as_error_nomem(err, t->path);
    const bool is_there = stat(as_str_z(&anchor), &st) == 0 && S_ISREG(st.st_mode);
    const int rc = is_there ? check_archive(t, as_str_z(&anchor), err)
                            : as_error_set(err, AS_ERR_NOT_FOUND,
                                           "%s: no such OTF2 archive; use its anchor, a file "
                                           "NAME.otf2",
                                           as_str_z(&anchor));
    if (rc == 0)
        t->reader = OTF2_Reader_Open(as_str_z(&anchor));
    as_str_fini(&anchor);
    if (rc < 0)
        return rc;
    if (!t->reader || OTF2_Reader_SetSerialCollectiveCallbacks(t->reader) != OTF2_SUCCESS)
        return refuse_otf2(t, "cannot be opened", OTF2_SUCCESS, err);
    return 0;
}

/* ---- Locations ------------------------------------------------------------------------------- */

/* Reads the definitions that map the numbers of a location to those of the archive. */
static OTF2_ErrorCode read_local(struct as_otf2_reading *t, OTF2_LocationRef location)
{
    OTF2_DefReader *local = OTF2_Reader_GetDefReader(t->reader, location);
    uint64_t n;
    if (!local) /* they are optional */
        return OTF2_SUCCESS;
    const OTF2_ErrorCode rc = OTF2_Reader_ReadAllLocalDefinitions(t->reader, local, &n);
    OTF2_Reader_CloseDefReader(t->reader, local);
    return rc;
}

static OTF2_ErrorCode read_events(struct as_otf2_reading *t, OTF2_EvtReader *events,
                                  const OTF2_EvtReaderCallbacks *callbacks)
{
    uint64_t n;
    const OTF2_ErrorCode rc = OTF2_Reader_RegisterEvtCallbacks(t->reader, events, callbacks, t);
    return rc == OTF2_SUCCESS ? OTF2_Reader_ReadAllLocalEvents(t->reader, events, &n) : rc;
}

static OTF2_ErrorCode first_reading(struct as_otf2_reading *t, OTF2_EvtReader *events,
                                    const OTF2_EvtReaderCallbacks *callbacks)
{
    t->is_first = true;
    t->first_ns = INT64_MAX;
    t->last_ns = 0;
    t->pending.n = 0;
    t->next = 0;
    t->regions_n = t->parts_n = 0;
    as_map_u64_init(&t->open);
    OTF2_ErrorCode rc = read_events(t, events, callbacks);
    as_map_u64_fini(&t->open);
    t->is_first = false;
    return rc;
}

static int import_thread_events(struct as_otf2_reading *t, OTF2_EvtReader *events,
                                const OTF2_EvtReaderCallbacks *callbacks, struct as_error *err)
{
    const struct as_otf2_known_thread *location = &t->location.at[t->at];
    OTF2_ErrorCode rc = first_reading(t, events, callbacks);
    if (rc == OTF2_SUCCESS && t->first_ns != INT64_MAX) {
        AS_TRY(as_maker_add_thread(t->maker, t->process.at[location->process].made, location->text,
                                   t->first_ns, &t->made, err));
        t->counts->threads_n++;
        rc = OTF2_EvtReader_Seek(events, 1);
        as_map_u64_init(&t->open);
        if (rc == OTF2_SUCCESS)
            rc = read_events(t, events, callbacks);
        as_map_u64_fini(&t->open);
        as_maker_end_thread(t->maker, t->made, t->last_ns);
        if (t->last_ns > t->counts->length_ns)
            t->counts->length_ns = t->last_ns;
    }
    return rc == OTF2_SUCCESS ? 0 : refuse_otf2(t, "events cannot be read", rc, err);
}

static int import_threads(struct as_otf2_reading *t, const OTF2_EvtReaderCallbacks *callbacks,
                          struct as_error *err)
{
    for (t->at = 0; t->at < t->location.n; t->at++) {
        const struct as_otf2_known_thread *location = &t->location.at[t->at];
        if (!location->is_thread || location->events_n == 0)
            continue;
        OTF2_EvtReader *events = OTF2_Reader_GetEvtReader(t->reader, location->number);
        if (!events)
            return refuse_otf2(t, "a location has no events", OTF2_SUCCESS, err);
        AS_TRY(import_thread_events(t, events, callbacks, err));
        OTF2_Reader_CloseEvtReader(t->reader, events);
    }
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static OTF2_ErrorCode open_locations(struct as_otf2_reading *t)
{
    OTF2_ErrorCode rc = OTF2_SUCCESS;
    as_vec_foreach (&t->location, location)
        if (rc == OTF2_SUCCESS)
            rc = OTF2_Reader_SelectLocation(t->reader, location->number);
    if (rc == OTF2_SUCCESS && OTF2_Reader_OpenDefFiles(t->reader) == OTF2_SUCCESS) {
        as_vec_foreach (&t->location, location)
            if (rc == OTF2_SUCCESS)
                rc = read_local(t, location->number);
        OTF2_Reader_CloseDefFiles(t->reader);
    }
    return rc == OTF2_SUCCESS ? OTF2_Reader_OpenEvtFiles(t->reader) : rc;
}

static int import_archive(struct as_otf2_reading *t, const char *directory, struct as_error *err)
{
    AS_TRY(open_reader(t, err));
    OTF2_ErrorCode code = as_otf2_read_definitions(t);
    if (code != OTF2_SUCCESS)
        return refuse_otf2(t, "definitions cannot be read", code, err);
    if (t->tick_hz == 0)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: its clock has no rate", t->path);
    as_otf2_relate(t);
    AS_TRY(as_maker_new(directory, &t->maker, err));
    as_vec_foreach (&t->process, process)
        AS_TRY(as_maker_add_process(t->maker, process->machine, &process->made, err));
    t->counts->processes_n = t->process.n;
    as_otf2_define(t);
    code = open_locations(t);
    if (code != OTF2_SUCCESS)
        return refuse_otf2(t, "locations cannot be read", code, err);
    OTF2_EvtReaderCallbacks *callbacks = as_otf2_event_callbacks();
    if (!callbacks)
        return as_error_nomem(err, t->path);
    const int rc = import_threads(t, callbacks, err);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    AS_TRY(rc);
    return as_maker_finish(t->maker, err);
}

struct otf2_job {
    const char *path, *directory;
};

/* Runs in the child: writes the streams to the directory and answers with the counts. */
static int import_in_child(void *context, struct as_str *answer, struct as_error *err)
{
    const struct otf2_job *job = context;
    struct as_import_counts counts = {0};
    struct as_otf2_reading t = {.path = job->path, .counts = &counts};
    as_map_u64_init(&t.texts);
    as_map_u64_init(&t.regions);
    as_map_u64_init(&t.comms);
    as_map_u64_init(&t.sources);
    as_map_u64_init(&t.contexts);
    OTF2_Error_RegisterCallback(ignore_otf2_read_error, NULL);
    const int rc = import_archive(&t, job->directory, err);
    if (t.reader)
        OTF2_Reader_Close(t.reader);
    as_maker_free(&t.maker);
    as_vec_fini(&t.pending);
    as_otf2_free_definitions(&t);
    as_str_append(answer, (const char *)&counts, sizeof counts);
    return rc;
}

int as_otf2_import(const char *path, const char *directory, struct as_import_counts *counts,
                   struct as_error *err)
{
    struct otf2_job job = {path, directory};
    const struct as_limited limits = {.what = path,
                                      .memory_b = (uint64_t)16 << 30,
                                      .may_write = true,
                                      .answer_max_b = sizeof *counts};
    struct as_str answer = {0};
    int rc;
    *counts = (struct as_import_counts){0};
    rc = as_limited_run(&limits, import_in_child, &job, &answer, err);
    if (rc == 0 && answer.n != sizeof *counts)
        rc = as_error_set(err, AS_ERR_CORRUPT, "%s: damaged; use another copy", path);
    if (rc == 0) {
        memcpy(counts, answer.p, sizeof *counts);
        counts->first_bad[sizeof counts->first_bad - 1] = 0;
    }
    as_str_fini(&answer);
    return rc;
}
