/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/prv_read.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "exchange/prv_lines.h"
#include "exchange/prv_quick.h"

#define THREADS_MOST ((uint32_t)1 << 22)

struct as_prv_file {
    struct as_lines *lines;
    char *path;
    struct as_prv_header header;
    struct as_prv_line_read line;
    struct as_prv_bad bad;
    struct as_view kept; /* the line behind the communicators, already read */
    bool has_kept;
    bool keeps_others;
    struct as_prv_quick quick;
};

/* ---- Header ---------------------------------------------------------------------------------- */

static int refuse_line(const struct as_prv_file *f, const char *what, struct as_error *err)
{
    return as_error_set(err, AS_ERR_CORRUPT, "%s:%llu: %s", f->path,
                        (unsigned long long)as_lines_number(f->lines), what);
}

/* Parses a number from 1 to `most`. */
static bool parse_prv_count(struct as_view *at, int64_t most, uint32_t *out)
{
    int64_t value;
    if (!as_lines_integer(at, &value) || value < 1 || value > most)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool parse_prv_duration(struct as_view *at, struct as_prv_header *h)
{
    static const struct {
        const char *suffix;
        int64_t unit_ns;
    } units[] = {{"_ns", 1}, {"_us", 1000}, {"_ms", 1000000}};
    h->unit_ns = 1000;
    if (!as_lines_integer(at, &h->end_ns) || h->end_ns < 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (as_view_starts(*at, units[i].suffix)) {
            h->unit_ns = units[i].unit_ns;
            at->p += 3;
            at->n -= 3;
        }
    return !__builtin_mul_overflow(h->end_ns, h->unit_ns, &h->end_ns) &&
           h->end_ns < INT64_MAX / 16 && as_lines_char(at, ':');
}

/* Parses "0", "2" or "2(4,4)"; a node without a list has one CPU. */
static int parse_prv_nodes(struct as_view *at, struct as_prv_header *h)
{
    int64_t n;
    if (!as_lines_integer(at, &n) || n < 0 || n > THREADS_MOST)
        return AS_ERR_CORRUPT;
    h->nodes_n = (uint32_t)n;
    const bool has_list = as_lines_char(at, '(');
    for (uint32_t i = 0; i < h->nodes_n; i++) {
        uint32_t cpus_n = 1;
        if (has_list &&
            ((i && !as_lines_char(at, ',')) || !parse_prv_count(at, INT32_MAX, &cpus_n)))
            return AS_ERR_CORRUPT;
        AS_TRY(as_vec_push(&h->cpus_n, cpus_n));
    }
    if ((has_list && !as_lines_char(at, ')')) || !as_lines_char(at, ':'))
        return AS_ERR_CORRUPT;
    return 0;
}

static int parse_prv_application(struct as_view *at, struct as_prv_header *h)
{
    uint32_t tasks_n;
    if (!parse_prv_count(at, THREADS_MOST, &tasks_n) || !as_lines_char(at, '('))
        return AS_ERR_CORRUPT;
    AS_TRY(as_vec_push(&h->application, (uint32_t)h->task.n));
    for (uint32_t t = 0; t < tasks_n; t++) {
        struct as_prv_task task = {.application = (uint32_t)h->application.n - 1,
                                   .first_thread = h->threads_n};
        int64_t node = 0;
        if ((t && !as_lines_char(at, ',')) || !parse_prv_count(at, THREADS_MOST, &task.threads_n) ||
            (as_lines_char(at, ':') &&
             (!as_lines_integer(at, &node) || node < 0 || node > THREADS_MOST)))
            return AS_ERR_CORRUPT;
        task.node = node ? (uint32_t)node - 1 : 0;
        if (task.threads_n > THREADS_MOST - h->threads_n)
            return AS_ERR_CORRUPT;
        h->threads_n += task.threads_n;
        AS_TRY(as_vec_push(&h->task, task));
    }
    return as_lines_char(at, ')') ? 0 : AS_ERR_CORRUPT;
}

/* Parses the applications, separated by a colon or a comma. A number without parenthesis behind
 * them is that of the communicators; their lines repeat it. */
static int parse_prv_applications(struct as_view *at, struct as_prv_header *h)
{
    uint32_t n;
    if (!parse_prv_count(at, THREADS_MOST, &n) || !as_lines_char(at, ':'))
        return AS_ERR_CORRUPT;
    for (uint32_t i = 0; i < n; i++) {
        if (i && !as_lines_char(at, ':') && !as_lines_char(at, ','))
            return AS_ERR_CORRUPT;
        AS_TRY(parse_prv_application(at, h));
    }
    return 0;
}

/* Parses the date in "#Paraver (09/10/2019 at 16:09)" as UTC. Returns ns since 1970, or 0 without a
 * date. */
static int64_t date_in(struct as_view line)
{
    char text[64];
    struct tm tm = {0};
    const char *open = line.n ? memchr(line.p, '(', line.n) : NULL;
    const size_t rest = open ? line.n - (size_t)(open - line.p) : 0;
    snprintf(text, sizeof text, "%.*s", (int)(rest < sizeof text ? rest : sizeof text - 1),
             open ? open : "");
    const char *end = strptime(text, "(%d/%m/%Y at %H:%M)", &tm);
    const int64_t seconds = end ? (int64_t)timegm(&tm) : 0;
    return seconds > 0 && seconds < INT64_MAX / 1000000000 ? seconds * 1000000000 : 0;
}

static int read_head(struct as_prv_file *f, struct as_view line, struct as_error *err)
{
    const char *paren = line.n ? memchr(line.p, ')', line.n) : NULL;
    if (!as_view_starts(line, "#Paraver") || !paren)
        return refuse_line(f, "is not a Paraver header (#Paraver (date):...)", err);
    struct as_view at = {paren + 1, line.n - (size_t)(paren + 1 - line.p)};
    f->header.start_ns = date_in(line);
    if (!as_lines_char(&at, ':') || !parse_prv_duration(&at, &f->header))
        return refuse_line(f, "the header has no trace length after the date", err);
    int rc = parse_prv_nodes(&at, &f->header);
    if (rc == AS_ERR_CORRUPT)
        return refuse_line(f, "the header has no list of nodes after the length", err);
    if (rc == 0)
        rc = parse_prv_applications(&at, &f->header);
    if (rc == AS_ERR_CORRUPT)
        return refuse_line(f, "the header has no valid list of applications", err);
    return rc < 0 ? as_error_nomem(err, f->path) : 0;
}

/* Parses "c:application:number:n:task:task...". */
static int parse_prv_comm(struct as_prv_file *f, struct as_view at)
{
    struct as_prv_header *h = &f->header;
    struct as_prv_group group = {0};
    int64_t application, n, task;
    at.p++, at.n--;
    if (!as_lines_char(&at, ':') || !as_lines_integer(&at, &application) || application < 1 ||
        (uint64_t)application > h->application.n || !as_lines_char(&at, ':') ||
        !as_lines_integer(&at, &group.number) || !as_lines_char(&at, ':') ||
        !as_lines_integer(&at, &n))
        return AS_ERR_CORRUPT;
    const uint32_t first = h->application.at[application - 1];
    group.application = (uint32_t)application - 1;
    int rc = 0;
    while (rc == 0 && as_lines_char(&at, ':')) {
        if (!as_lines_integer(&at, &task) || task < 1 || (uint64_t)task > h->task.n - first)
            rc = AS_ERR_CORRUPT;
        else
            rc = as_vec_push(&group.member, first + (uint64_t)task - 1);
    }
    if (rc == 0 && group.member.n != (uint64_t)n)
        rc = AS_ERR_CORRUPT;
    if (rc == 0)
        rc = as_vec_push(&h->group, group);
    if (rc < 0)
        as_vec_fini(&group.member);
    return rc;
}

static void note_bad(struct as_prv_file *f, const char *why)
{
    if (f->bad.lines_n++)
        return;
    f->bad.first_line = as_lines_number(f->lines);
    f->bad.why = why;
}

static int read_groups(struct as_prv_file *f, struct as_error *err)
{
    int rc;
    while ((rc = as_lines_next(f->lines, &f->kept, err)) > 0) {
        const char first = f->kept.n ? *f->kept.p : '#';
        f->has_kept = first != 'c' && first != 'i' && first != '#';
        if (f->has_kept)
            return 0;
        const int taken = first == 'c' ? parse_prv_comm(f, f->kept) : 0;
        if (taken == AS_ERR_NOMEM)
            return as_error_nomem(err, f->path);
        if (taken < 0)
            note_bad(f, "a communicator with unknown tasks");
    }
    return rc;
}

static int read_header(struct as_prv_file *f, struct as_error *err)
{
    struct as_view line;
    int rc = as_lines_next(f->lines, &line, err);
    if (rc > 0 && as_view_starts(line, "new format"))
        rc = as_lines_next(f->lines, &line, err);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: is empty", f->path);
    AS_TRY(read_head(f, line, err));
    as_prv_quick_init(&f->quick, f->header.unit_ns);
    return read_groups(f, err);
}

int as_prv_file_open(const char *path, struct as_prv_file **out, struct as_error *err)
{
    return as_prv_file_open_digested(path, NULL, out, err);
}

int as_prv_file_open_digested(const char *path, struct as_stream_digest *digest,
                              struct as_prv_file **out, struct as_error *err)
{
    struct as_prv_file *f = *out = as_calloc(1, sizeof *f);
    if (f)
        f->path = as_malloc(strlen(path) + 1);
    if (!f || !f->path) {
        as_prv_file_close(out);
        return as_error_nomem(err, path);
    }
    memcpy(f->path, path, strlen(path) + 1);
    int rc = as_lines_open_digested(path, digest, &f->lines, err);
    if (rc == 0)
        rc = read_header(f, err);
    if (rc < 0)
        as_prv_file_close(out);
    return rc < 0 ? rc : 0;
}

void as_prv_file_close(struct as_prv_file **file)
{
    struct as_prv_file *f = *file;
    *file = NULL;
    if (!f)
        return;
    as_lines_close(&f->lines);
    as_vec_foreach (&f->header.group, group)
        as_vec_fini(&group->member);
    as_vec_fini(&f->header.group);
    as_vec_fini(&f->header.cpus_n);
    as_vec_fini(&f->header.application);
    as_vec_fini(&f->header.task);
    as_vec_fini(&f->line.value);
    as_free(f->path);
    as_free(f);
}

const struct as_prv_header *as_prv_file_header(const struct as_prv_file *f)
{
    return &f->header;
}

struct as_prv_bad as_prv_file_bad(const struct as_prv_file *f)
{
    return f->bad;
}

void as_prv_bad_append(const struct as_prv_bad *bad, struct as_str *out)
{
    const unsigned long long first = bad->first_line, cut = bad->cut_line;
    if (bad->lines_n == 1)
        as_str_appendf(out, "line %llu is left out: %s", first, bad->why);
    else if (bad->lines_n)
        as_str_appendf(out, "%llu lines are left out; the first is line %llu: %s",
                       (unsigned long long)bad->lines_n, first, bad->why);
    if (cut && cut != first)
        as_str_appendf(out, "; the file ends inside line %llu", cut);
}

/* ---- Body ------------------------------------------------------------------------------------ */

static bool parse_prv_field(struct as_view *at, int64_t *out)
{
    return as_lines_char(at, ':') && as_lines_integer(at, out);
}

static bool parse_prv_time(const struct as_prv_file *f, struct as_view *at, int64_t *out)
{
    return parse_prv_field(at, out) && !__builtin_mul_overflow(*out, f->header.unit_ns, out) &&
           *out < INT64_MAX / 16 && *out >= 0;
}

/* Parses ":cpu:application:task:thread". */
static bool parse_prv_thread(struct as_prv_file *f, struct as_view *at, uint32_t *out,
                             uint32_t *cpu)
{
    const struct as_prv_header *h = &f->header;
    const char *begin = at->p;
    int64_t processor, application, task, thread;
    if (!parse_prv_field(at, &processor) || !parse_prv_field(at, &application) ||
        !parse_prv_field(at, &task) || !parse_prv_field(at, &thread) || application < 1 ||
        (uint64_t)application > h->application.n || task < 1 || thread < 1)
        return false;
    const uint32_t first = h->application.at[application - 1];
    if ((uint64_t)task > h->task.n - first)
        return false;
    const struct as_prv_task *of = &h->task.at[first + task - 1];
    if (of->application != application - 1 || thread > of->threads_n)
        return false;
    *out = of->first_thread + (uint32_t)thread - 1;
    *cpu = processor > 0 && processor < UINT32_MAX ? (uint32_t)processor : 0;
    as_prv_quick_note(&f->quick, (struct as_view){begin + 1, (size_t)(at->p - begin) - 1}, *out,
                      *cpu);
    return true;
}

static const char *read_state(struct as_prv_file *f, struct as_view at)
{
    struct as_prv_line_read *line = &f->line;
    if (!parse_prv_time(f, &at, &line->ns) || !parse_prv_field(&at, &line->end_ns))
        return "a state without begin and end";
    if (line->end_ns >= 0 &&
        (__builtin_mul_overflow(line->end_ns, f->header.unit_ns, &line->end_ns) ||
         line->end_ns >= INT64_MAX / 16 || line->end_ns < line->ns))
        return "a state that ends before it begins";
    return parse_prv_field(&at, &line->state) && at.n == 0 ? NULL : "a state without its number";
}

static const char *read_events(struct as_prv_file *f, struct as_view at, bool *no_memory)
{
    struct as_prv_line_read *line = &f->line;
    line->value.n = 0;
    if (!parse_prv_time(f, &at, &line->ns))
        return "events without a time";
    while (at.n) {
        int64_t type, value;
        if (!parse_prv_field(&at, &type) || !as_lines_char(&at, ':') ||
            !as_lines_wrapped(&at, &value))
            return "an event that is not a pair of type and value";
        *no_memory |= as_vec_push(&line->value, type) < 0 || as_vec_push(&line->value, value) < 0;
    }
    return line->value.n ? NULL : "an event without type and value";
}

static const char *read_message(struct as_prv_file *f, struct as_view at)
{
    struct as_prv_line_read *line = &f->line;
    if (!parse_prv_time(f, &at, &line->ns) || !parse_prv_time(f, &at, &line->physical_send_ns))
        return "a communication without the times of sending";
    if (!parse_prv_thread(f, &at, &line->receiver, &line->receiver_cpu))
        return "a communication to a thread that the header does not have";
    if (!parse_prv_time(f, &at, &line->logical_receive_ns) ||
        !parse_prv_time(f, &at, &line->physical_receive_ns))
        return "a communication without the times of receiving";
    return parse_prv_field(&at, &line->size_b) && parse_prv_field(&at, &line->tag) && at.n == 0
               ? NULL
               : "a communication without size and tag";
}

/* Parses a line. Returns NULL, or what is wrong. Sets `*pass` for a line that is not of the
 * body. */
static const char *read_line(struct as_prv_file *f, struct as_view at, bool *pass, bool *no_memory)
{
    const char first = at.n ? *at.p : '#';
    *pass = first == '#' || first == '4' || first == 'c' || first == 'i';
    if (*pass)
        return NULL;
    if (first < '1' || first > '3')
        return "is not a Paraver record";
    at.p++, at.n--;
    f->line.kind = (enum as_prv_line)(first - '0');
    if (!parse_prv_thread(f, &at, &f->line.thread, &f->line.cpu))
        return "has a thread that the header does not have";
    if (first == '1')
        return read_state(f, at);
    return first == '2' ? read_events(f, at, no_memory) : read_message(f, at);
}

void as_prv_file_keep_others(struct as_prv_file *f)
{
    f->keeps_others = true;
}

/* Reads the next line with the fast reader. Returns false if it is not a usual one. */
static bool read_quickly(struct as_prv_file *f)
{
    const size_t n =
        f->has_kept ? 0 : as_prv_quick_line(&f->quick, as_lines_ahead(f->lines), &f->line);
    if (n)
        as_lines_pass(f->lines, n);
    return n;
}

/* Returns true if a line without a record is to be returned. */
static bool is_other_line(struct as_prv_file *f, struct as_view line)
{
    if (!f->keeps_others || line.n == 0 || *line.p == '4')
        return false;
    f->line.kind = AS_PRV_LINE_OTHER;
    f->line.text = line;
    return true;
}

int as_prv_file_next(struct as_prv_file *f, const struct as_prv_line_read **out,
                     struct as_error *err)
{
    for (;;) {
        struct as_view line = f->kept;
        bool pass, no_memory = false;
        if (read_quickly(f)) {
            *out = &f->line;
            return 1;
        }
        const int rc = f->has_kept ? 1 : as_lines_next(f->lines, &line, err);
        f->has_kept = false;
        if (rc <= 0)
            return rc;
        const char *wrong = read_line(f, line, &pass, &no_memory);
        if (no_memory)
            return as_error_nomem(err, f->path);
        if (wrong && as_lines_is_open(f->lines)) {
            wrong = "the file ends inside it; copy or make the file again";
            f->bad.cut_line = as_lines_number(f->lines);
        }
        if (wrong)
            note_bad(f, wrong);
        if (wrong || (pass && !is_other_line(f, line)))
            continue;
        *out = &f->line;
        return 1;
    }
}
