/* SPDX-License-Identifier: Apache-2.0 */
/* Files of allocated blocks: foreign bytes, for the program could write there too. */
#include "agent/inject/objects_read.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files -------------------------------------------------------------------------------- */

static struct as_objects_file *map_objects(int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        status.st_size != (off_t)sizeof(struct as_objects_file))
        return NULL;
    struct as_objects_file *it = mmap(NULL, sizeof *it, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (it == MAP_FAILED)
        return NULL;
    if (atomic_load_explicit(&it->magic, memory_order_acquire) == AS_OBJECTS_MAGIC &&
        it->version == AS_OBJECTS_VERSION)
        return it;
    munmap(it, sizeof *it);
    return NULL;
}

/* A file that is not ready is looked at again. */
static int open_log(struct as_objects_logs *logs, int directory, const char *name)
{
    const int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct as_objects_file *file = map_objects(fd);
    if (fd >= 0)
        close(fd);
    if (!file)
        return 0;
    unlinkat(directory, name, 0);
    const struct as_objects_log log = {
        .file = file, .pid = file->pid, .number = ++logs->opened_n, .begun_ns = file->begun_ns};
    if (as_vec_push(&logs->at, log) == 0)
        return 0;
    munmap(file, sizeof *file);
    return AS_ERR_NOMEM;
}

int as_objects_find(struct as_objects_logs *logs, const char *directory)
{
    static const char prefix[] = AS_OBJECTS_PREFIX ".";
    DIR *dir = opendir(directory);
    int rc = 0;
    for (struct dirent *entry; rc == 0 && dir && (entry = readdir(dir));)
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0)
            rc = open_log(logs, dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
    return rc;
}

static void sum_losses(struct as_objects_logs *logs, struct as_objects_log *log)
{
    const uint64_t lost = log->file->lost, sites_lost = log->file->sites_lost;
    logs->lost += lost - log->lost;
    logs->sites_lost += sites_lost - log->sites_lost;
    log->lost = lost;
    log->sites_lost = sites_lost;
}

/* The order of logs does not matter. */
static void close_log(struct as_objects_logs *logs, size_t at)
{
    sum_losses(logs, &logs->at.at[at]);
    munmap(logs->at.at[at].file, sizeof *logs->at.at[at].file);
    logs->at.at[at] = logs->at.at[--logs->at.n];
}

void as_objects_close(struct as_objects_logs *logs, uint32_t pid, uint64_t time_ns)
{
    for (size_t i = logs->at.n; i-- > 0;)
        if (logs->at.at[i].pid == pid && logs->at.at[i].begun_ns <= time_ns)
            close_log(logs, i);
}

void as_objects_logs_fini(struct as_objects_logs *logs)
{
    while (logs->at.n)
        close_log(logs, logs->at.n - 1);
    as_vec_fini(&logs->at);
}

/* ---- Events ------------------------------------------------------------------------------- */

static void read_site(const struct as_objects_log *log, uint32_t number,
                      struct as_object_record *out)
{
    if (number == 0 || number > AS_OBJECTS_SITES_N)
        return;
    const struct as_object_site *site = &log->file->site[number - 1];
    const uint32_t n = site->n;
    if (atomic_load_explicit(&site->state, memory_order_acquire) != 2 || n > AS_OBJECTS_CALLERS_N)
        return;
    out->site = (uint64_t)log->number << 32 | number;
    out->caller_n = n;
    memcpy(out->caller, site->caller, n * sizeof *out->caller);
}

static int hand_event(struct as_objects_logs *logs, const struct as_objects_log *log,
                      const struct as_object_event *event, as_object_sink *sink, void *context)
{
    struct as_object_record it = {.kind = event->kind,
                                  .pid = log->pid,
                                  .time_ns = event->time_ns,
                                  .address = event->address,
                                  .size_b = event->size_b};
    const bool begins = it.kind == AS_OBJECT_ALLOCATED || it.kind == AS_OBJECT_MAPPED;
    if (it.kind < AS_OBJECT_ALLOCATED || it.kind > AS_OBJECT_FORKED || it.time_ns > INT64_MAX ||
        (begins && it.size_b > UINT64_MAX - it.address)) {
        logs->damaged++;
        return 0;
    }
    if (begins)
        read_site(log, event->site, &it);
    return sink(context, &it);
}

static int drain_log(struct as_objects_logs *logs, struct as_objects_log *log, bool last,
                     as_object_sink *sink, void *context)
{
    struct as_objects_file *file = log->file;
    const uint64_t head = atomic_load_explicit(&file->head, memory_order_acquire);
    uint64_t tail = file->tail;
    int rc = 0;
    if (head - tail > AS_OBJECTS_EVENTS_N) {
        logs->damaged++;
        tail = head;
    }
    for (; tail != head && rc == 0; tail++) {
        struct as_object_event *event = &file->event[tail % AS_OBJECTS_EVENTS_N];
        if (atomic_load_explicit(&event->time_ns, memory_order_acquire) == 0) {
            if (!last)
                break;
            continue;
        }
        rc = hand_event(logs, log, event, sink, context);
        atomic_store_explicit(&event->time_ns, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&file->tail, tail, memory_order_release);
    sum_losses(logs, log);
    return rc;
}

int as_objects_drain(struct as_objects_logs *logs, uint32_t pid, bool last, as_object_sink *sink,
                     void *context)
{
    int rc = 0;
    for (size_t i = 0; i < logs->at.n && rc == 0; i++)
        if (!pid || logs->at.at[i].pid == pid)
            rc = drain_log(logs, &logs->at.at[i], last, sink, context);
    return rc;
}
