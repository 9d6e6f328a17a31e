/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process as typed ranges; see data_maps.h. */
#include "sample/data_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/infile.h"
#include "base/search.h"

#define WAIT_LEAST_NS   UINT64_C(10000000)   /* min time between two reads of maps */
#define WAIT_STALE_NS   UINT64_C(1000000000) /* time after which a known address is read again */
#define MAPS_CAPACITY_B ((size_t)64 << 20)
/* Min time between two reads, as a multiple of the cost of a read. */
#define COST_TIMES 200
/* Min time from the first read of maps to the first read of pages. */
#define PAGES_LEAST_NS UINT64_C(200000000)
#define PAGES_AGAIN_NS UINT64_C(1000000000) /* min time between two reads of pages */
#define PAGE_COST_NS   60                   /* cost of a 4 KiB page, measured on Linux 6.18 */

const char *const as_data_kind_word[AS_DATA_KINDS] = {"stack",  "heap",    "block", "file",
                                                      "zeroed", "mapping", "shared"};

struct as_data_process {
    uint32_t pid;
    bool gone; /* the maps could not be read */
    uint64_t read_ns, wait_ns;
    uint64_t begin_ns, pages_ns; /* time of the first read; time of the next read of pages */
    as_data_ranges range;
};

static void release_ranges(as_data_ranges *ranges)
{
    as_vec_foreach (ranges, range)
        as_free(range->path);
    as_vec_fini(ranges);
}

void as_data_maps_fini(struct as_data_maps *maps)
{
    as_vec_foreach (&maps->process, process) {
        release_ranges(&(*process)->range);
        as_free(*process);
    }
    as_vec_fini(&maps->process);
}

/* ---- Text of the kernel ---------------------------------------------------------------------- */

struct map_line {
    uint64_t start, end, offset;
    char rights[5];
    const char *path; /* "" if there is none */
};

/* Parses the hexadecimal number at `*at` and moves `*at` behind the next character. */
static uint64_t hex_at(char **at)
{
    const uint64_t value = strtoull(*at, at, 16);

    if (**at)
        ++*at;
    return value;
}

/* Parses "START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH". */
static bool parse_line(char *text, struct map_line *out)
{
    char *at = text;

    /* "Referenced:" does not begin with a number */
    if (text[strspn(text, "0123456789abcdef")] != '-')
        return false;
    out->start = hex_at(&at);
    out->end = hex_at(&at);
    if (out->start >= out->end || strlen(at) < 5)
        return false;
    memcpy(out->rights, at, 4);
    out->rights[4] = 0;
    at += 5;
    out->offset = hex_at(&at);
    at += strcspn(at, " ");
    at += strspn(at, " ");
    at += strcspn(at, " ");
    out->path = at + strspn(at, " ");
    return true;
}

/* Returns the preceding range if it is a file segment that ends where this range begins. */
static const struct as_data_range *segment_before(const as_data_ranges *ranges,
                                                  const struct map_line *line)
{
    const struct as_data_range *last = ranges->n ? &ranges->at[ranges->n - 1] : NULL;

    return last && last->end == line->start && last->kind == AS_DATA_FILE ? last : NULL;
}

static bool is_shared(const struct map_line *line)
{
    return line->rights[3] == 's' &&
           (!*line->path || strncmp(line->path, "/dev/zero", 9) == 0 ||
            strncmp(line->path, "/dev/shm", 8) == 0 || strncmp(line->path, "/memfd:", 7) == 0 ||
            strncmp(line->path, "/SYSV", 5) == 0);
}

/* Returns the range of a line. Sets `*path` to its file; leaves it unchanged without one. */
static struct as_data_range range_of(const as_data_ranges *ranges, const struct map_line *line,
                                     const char **path)
{
    const struct as_data_range *before = segment_before(ranges, line);
    struct as_data_range out = {.start = line->start,
                                .end = line->end,
                                .base = line->start,
                                .offset = line->offset,
                                .huge_pct = -1};

    if (is_shared(line))
        out.kind = AS_DATA_SHARED;
    else if (line->path[0] == '/')
        out.kind = AS_DATA_FILE;
    else if (strncmp(line->path, "[stack", 6) == 0)
        out.kind = AS_DATA_STACK;
    else if (strcmp(line->path, "[heap]") == 0)
        out.kind = AS_DATA_HEAP;
    else if (!*line->path && before && line->rights[1] == 'w') {
        out.kind = AS_DATA_ZEROED;
        out.base = before->base;
        out.offset = before->offset;
        *path = before->path;
    } else
        out.kind = AS_DATA_MAPPING;
    if (out.kind == AS_DATA_FILE)
        *path = line->path;
    return out;
}

static int add_line(as_data_ranges *out, const struct map_line *line)
{
    const char *path = NULL;
    struct as_data_range range = range_of(out, line, &path);

    if (path) {
        const size_t bytes = strlen(path) + 1;
        range.path = as_calloc(1, bytes);
        if (!range.path)
            return AS_ERR_NOMEM;
        memcpy(range.path, path, bytes);
    }
    if (as_vec_push(out, range) == 0)
        return 0;
    as_free(range.path);
    return AS_ERR_NOMEM;
}

/* Memory of a range by smaps, in KiB. */
struct page_sums {
    double resident, huge;
};

/* Adds a line such as "AnonHugePages: 2048 kB". Rss excludes pages of hugetlbfs. */
static void add_pages(const char *text, struct page_sums *sums)
{
    static const struct {
        const char *name;
        bool resident, huge;
    } known[] = {{"Rss:", true, false},
                 {"AnonHugePages:", false, true},
                 {"ShmemPmdMapped:", false, true},
                 {"FilePmdMapped:", false, true},
                 {"Shared_Hugetlb:", true, true},
                 {"Private_Hugetlb:", true, true}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t n = strlen(known[i].name);
        if (strncmp(text, known[i].name, n) != 0)
            continue;
        const double kib = strtod(text + n, NULL);
        sums->resident += known[i].resident ? kib : 0;
        sums->huge += known[i].huge ? kib : 0;
    }
}

static void end_pages(struct as_data_range *range, const struct page_sums *sums)
{
    if (sums->resident > 0)
        range->huge_pct =
            (int8_t)(100 * (sums->huge < sums->resident ? sums->huge / sums->resident : 1));
}

int as_data_maps_parse(char *text, as_data_ranges *out)
{
    struct page_sums sums = {0};
    bool kept = false; /* the last line with a range was kept */
    char *next;

    for (char *at = text; at && *at; at = next) {
        struct map_line line;
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        if (!parse_line(at, &line)) {
            add_pages(at, &sums);
            continue;
        }
        if (kept)
            end_pages(&out->at[out->n - 1], &sums);
        sums = (struct page_sums){0};
        /* [vvar] and similar ranges belong to the kernel. */
        kept = line.rights[0] == 'r' && line.rights[2] != 'x' && strncmp(line.path, "[v", 2) != 0;
        if (kept)
            AS_TRY(add_line(out, &line));
    }
    if (kept)
        end_pages(&out->at[out->n - 1], &sums);
    return 0;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static struct as_data_process *find_process(const struct as_data_maps *maps, uint32_t pid)
{
    for (size_t i = 0; i < maps->process.n; i++)
        if (maps->process.at[i]->pid == pid)
            return maps->process.at[i];
    return NULL;
}

/* Returns the index of the first range that ends behind `address`. */
static size_t first_behind(const as_data_ranges *ranges, uint64_t address)
{
    return as_first_not(i, ranges->n, ranges->at[i].end <= address);
}

static struct as_data_range *find_range(const as_data_ranges *ranges, uint64_t address)
{
    const size_t at = first_behind(ranges, address);

    return at < ranges->n && ranges->at[at].start <= address ? &ranges->at[at] : NULL;
}

static bool peek_process(void *context, uint64_t address, void *out, size_t n)
{
    const struct as_data_process *process = context;
    struct iovec local = {out, n}, remote = {(void *)(uintptr_t)address, n};

    return process_vm_readv((pid_t)process->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static int by_start(const void *a, const void *b)
{
    const struct as_data_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Keeps earlier ranges that are unmapped now. A stack stays a stack. */
static int merge_known_ranges(as_data_ranges *now, as_data_ranges *before)
{
    const size_t mapped_n = now->n; /* these are sorted; kept ranges are behind them */

    as_vec_foreach (before, range) {
        const as_data_ranges mapped = {.at = now->at, .n = mapped_n};
        const size_t at = first_behind(&mapped, range->start);
        struct as_data_range *next = now->at && at < mapped_n ? &now->at[at] : NULL;
        if (!next || next->start >= range->end) {
            AS_TRY(as_vec_push(now, *range));
            range->path = NULL;
        } else if (next->start <= range->start && next->kind == AS_DATA_MAPPING &&
                   range->kind == AS_DATA_STACK)
            next->kind = AS_DATA_STACK;
    }
    if (now->n)
        qsort(now->at, now->n, sizeof *now->at, by_start);
    return 0;
}

/* Copies the share of huge pages from the earlier ranges to ranges that were read without it. */
static void copy_known_pages(const as_data_ranges *now, const as_data_ranges *before)
{
    as_vec_foreach (now, range) {
        const struct as_data_range *same = find_range(before, range->start);
        if (range->huge_pct < 0 && same)
            range->huge_pct = same->huge_pct;
    }
}

static int read_maps(struct as_data_process *process, bool pages)
{
    as_data_ranges now = {0};
    struct as_error ignored;
    char path[64], *text;
    size_t text_b;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", process->pid, pages ? "smaps" : "maps");
    process->gone = as_infile_read(path, "the ranges of a process", MAPS_CAPACITY_B, 0, &text,
                                   &text_b, &ignored) < 0;
    if (process->gone)
        return 0;
    int rc = as_data_maps_parse(text, &now);
    as_free(text);
    if (rc == 0)
        rc = merge_known_ranges(&now, &process->range);
    if (rc == 0)
        rc = as_data_blocks_find(&now, peek_process, process);
    if (rc < 0) {
        release_ranges(&now);
        return rc;
    }
    copy_known_pages(&now, &process->range);
    release_ranges(&process->range);
    process->range = now;
    return 0;
}

/* Returns the estimated cost of reading the pages in ns, from the memory in use. */
static uint64_t pages_cost_ns(const struct as_data_process *process)
{
    struct as_error ignored;
    char path[64], *text, *at;
    size_t text_b;

    snprintf(path, sizeof path, "/proc/%" PRIu32 "/statm", process->pid);
    if (as_infile_read(path, "the memory of a process", MAPS_CAPACITY_B, 0, &text, &text_b,
                       &ignored) < 0)
        return 0;
    strtoull(text, &at, 10);
    const uint64_t page_n = strtoull(at, NULL, 10);
    as_free(text);
    return PAGE_COST_NS * page_n;
}

/* Returns true if a read of the pages now takes at most 0.5 % of the time. */
static bool is_time_for_pages(struct as_data_process *process, uint64_t now)
{
    if (now < process->pages_ns)
        return false;
    process->pages_ns = process->begin_ns + COST_TIMES * pages_cost_ns(process);
    return now >= process->pages_ns;
}

static int read_again(struct as_data_process *process, bool is_known)
{
    const uint64_t now = (uint64_t)as_monotonic_ns();
    const uint64_t wait_ns =
        is_known && process->wait_ns < WAIT_STALE_NS ? WAIT_STALE_NS : process->wait_ns;

    if (process->gone)
        return 0;
    if (!process->read_ns) {
        process->begin_ns = now;
        process->pages_ns = now + PAGES_LEAST_NS;
    }
    const bool pages = is_time_for_pages(process, now);
    if (process->read_ns && now - process->read_ns < wait_ns && !pages)
        return 0;
    AS_TRY(read_maps(process, pages));
    process->read_ns = (uint64_t)as_monotonic_ns();
    process->wait_ns = COST_TIMES * (process->read_ns - now);
    if (process->wait_ns < WAIT_LEAST_NS)
        process->wait_ns = WAIT_LEAST_NS;
    if (pages) {
        const uint64_t again_ns = COST_TIMES * (process->read_ns - now);
        process->pages_ns =
            process->read_ns + (again_ns < PAGES_AGAIN_NS ? PAGES_AGAIN_NS : again_ns);
        process->begin_ns = process->read_ns;
    }
    return 0;
}

static struct as_data_process *process_of(struct as_data_maps *maps, uint32_t pid)
{
    if (maps->last && maps->last->pid == pid)
        return maps->last;
    struct as_data_process *process = find_process(maps, pid);
    if (!process) {
        process = as_calloc(1, sizeof *process);
        if (!process || as_vec_push(&maps->process, process) < 0) {
            as_free(process);
            return NULL;
        }
        process->pid = pid;
    }
    maps->last = process;
    return process;
}

int as_data_maps_see(struct as_data_maps *maps, uint32_t pid, uint64_t address, uint64_t stack)
{
    if (maps->imported)
        return 0;
    struct as_data_process *process = process_of(maps, pid);
    if (!process)
        return AS_ERR_NOMEM;
    AS_TRY(read_again(process, find_range(&process->range, address) != NULL));
    struct as_data_range *at = find_range(&process->range, stack);
    if (at && at->kind == AS_DATA_MAPPING)
        at->kind = AS_DATA_STACK;
    return 0;
}

const as_data_ranges *as_data_maps_of(const struct as_data_maps *maps, uint32_t pid)
{
    const struct as_data_process *process = find_process(maps, pid);

    return process ? &process->range : NULL;
}

void as_data_maps_exec(struct as_data_maps *maps, uint32_t pid)
{
    struct as_data_process *process = find_process(maps, pid);

    if (!process)
        return;
    release_ranges(&process->range);
    process->read_ns = 0;
    process->gone = false;
}
