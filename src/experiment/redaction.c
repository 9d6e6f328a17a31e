/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory is an absolute path up to its last slash. Each directory gets a number, so that files
 * with the same name in two directories stay distinct. Names are replaced as whole words only.
 */
#include "experiment/redaction.h"

#include <ctype.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"
#include "experiment/internal.h"

#define NAME_MIN_B 2 /* shorter names would occur in any text */

struct redacted_name {
    char *name;
    unsigned host; /* number of the host, from 1; 0 = a user */
};

struct as_redaction {
    AS_VEC(struct redacted_name) name;
    AS_VEC(char *) directory;
    unsigned host_n;
};

struct as_redaction *as_redaction_new(void)
{
    return as_calloc(1, sizeof(struct as_redaction));
}

void as_redaction_free(struct as_redaction **redaction)
{
    struct as_redaction *it = *redaction;

    if (!it)
        return;
    as_vec_foreach (&it->name, name)
        as_free(name->name);
    as_vec_foreach (&it->directory, directory)
        as_free(*directory);
    as_vec_fini(&it->name);
    as_vec_fini(&it->directory);
    as_free(it);
    *redaction = NULL;
}

static char *copy_of(const char *p, size_t n)
{
    char *copy = as_malloc(n + 1);

    if (copy) {
        memcpy(copy, p, n);
        copy[n] = 0;
    }
    return copy;
}

static int add_name(struct as_redaction *it, const char *p, size_t n, unsigned host)
{
    struct redacted_name name = {.host = host};

    as_vec_foreach (&it->name, known)
        if (strlen(known->name) == n && memcmp(known->name, p, n) == 0)
            return 0;
    if (n < NAME_MIN_B)
        return 0;
    name.name = copy_of(p, n);
    if (name.name && as_vec_push(&it->name, name) == 0)
        return 0;
    as_free(name.name);
    return AS_ERR_NOMEM;
}

int as_redaction_add_host(struct as_redaction *it, const char *name)
{
    const size_t n = strlen(name), first = strcspn(name, ".");

    if (strcmp(name, "localhost") == 0)
        return 0;
    it->host_n++;
    AS_TRY(add_name(it, name, n, it->host_n));
    return add_name(it, name, first, it->host_n);
}

int as_redaction_add_user(struct as_redaction *it, const char *name)
{
    return strcmp(name, "root") == 0 ? 0 : add_name(it, name, strlen(name), 0);
}

/* ---- Words ------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

/* Returns the longest name that begins at `at` as a whole word, or NULL. */
static const struct redacted_name *name_at(const struct as_redaction *it, const char *begin,
                                           const char *at)
{
    const struct redacted_name *best = NULL;

    if (at > begin && is_of_word(at[-1]))
        return NULL;
    as_vec_foreach (&it->name, name) {
        const size_t n = strlen(name->name);

        if (strncmp(at, name->name, n) == 0 && !is_of_word(at[n]) &&
            (!best || n > strlen(best->name)))
            best = name;
    }
    return best;
}

static void append_words(const struct as_redaction *it, const char *p, size_t n, const char *begin,
                         struct as_str *out)
{
    for (const char *at = p; at < p + n;) {
        const struct redacted_name *name = name_at(it, begin, at);

        if (!name) {
            as_str_append(out, at++, 1);
        } else {
            if (name->host)
                as_str_appendf(out, "host%u", name->host);
            else
                as_str_appendz(out, "user");
            at += strlen(name->name);
        }
    }
}

/* ---- Paths ------------------------------------------------------------------------------- */

static bool is_of_path(char c)
{
    return is_of_word(c) || (c && strchr("/.+-@~%#", c));
}

/* Returns the length of the absolute path at `at` if it has at least two slashes, else 0. */
static size_t path_length(const char *begin, const char *at)
{
    size_t n = 0;
    unsigned slashes = 0;

    if (*at != '/' || (!is_of_word(at[1]) && at[1] != '.'))
        return 0;
    if (at > begin && (is_of_path(at[-1]) || at[-1] == ')' || at[-1] == ']'))
        return 0;
    for (; is_of_path(at[n]); n++)
        slashes += at[n] == '/';
    while (n && at[n - 1] == '.') /* end of a sentence */
        n--;
    return slashes > 1 ? n : 0;
}

static bool is_of_system(const char *path)
{
    static const char *const known[] = {"/usr/lib", "/usr/include/", "/usr/bin/",
                                        "/lib/",    "/lib64/",       "/bin/",
                                        "/proc/",   "/sys/",         "/dev/"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(path, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* Adds the user name in a path of a home directory, because it may occur in other texts too. */
static void note_home(struct as_redaction *it, const char *path, size_t n)
{
    static const char *const known[] = {"home/", "users/", "Users/"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t from = strlen(known[i]) + 1;
        size_t to = from;

        if (n <= from || path[0] != '/' || strncmp(path + 1, known[i], from - 1) != 0)
            continue;
        while (to < n && path[to] != '/')
            to++;
        (void)add_name(it, path + from, to - from, 0);
    }
}

/* Returns the number of a directory, from 1, or 0 without memory. */
static size_t number_of(struct as_redaction *it, const char *p, size_t n)
{
    for (size_t i = 0; i < it->directory.n; i++)
        if (strlen(it->directory.at[i]) == n && memcmp(it->directory.at[i], p, n) == 0)
            return i + 1;
    char *copy = copy_of(p, n);
    if (copy && as_vec_push(&it->directory, copy) == 0)
        return it->directory.n;
    as_free(copy);
    return 0;
}

static void append_path(struct as_redaction *it, const char *path, size_t n, struct as_str *out)
{
    const char *last = memrchr(path, '/', n);

    note_home(it, path, n);
    as_str_appendf(out, "dir%zu/", number_of(it, path, (size_t)(last - path)));
    append_words(it, last + 1, n - (size_t)(last + 1 - path), path, out);
}

void as_redaction_append(struct as_redaction *it, const char *text, struct as_str *out)
{
    const char *from = text;

    for (const char *at = text; *at;) {
        const size_t n = path_length(text, at);

        if (!n || is_of_system(at)) {
            at += n ? n : 1;
            continue;
        }
        append_words(it, from, (size_t)(at - from), text, out);
        append_path(it, at, n, out);
        from = at += n;
    }
    append_words(it, from, strlen(from), text, out);
}

/* ---- Experiments ------------------------------------------------------------------------- */

static int add_hosts(struct as_experiment *experiment, struct as_redaction *it,
                     struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(experiment, "SELECT name FROM host ORDER BY host_id", &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *name = as_rows_text(rows, 0);

        if (name && as_redaction_add_host(it, name) < 0) {
            rc = as_error_nomem(err, "the names of hosts");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* Adds the current user, and the owners of home directories in the experiment's paths. */
static int add_users(struct as_experiment *experiment, struct as_redaction *it,
                     struct as_error *err)
{
    static const char homes[] =
        "SELECT cwd FROM run WHERE cwd IS NOT NULL UNION SELECT path FROM module UNION SELECT path"
        " FROM source_file UNION SELECT exe FROM process WHERE exe IS NOT NULL";
    const struct passwd *user = getpwuid(geteuid());
    struct as_rows *rows;
    int rc;

    if (user && as_redaction_add_user(it, user->pw_name) < 0)
        return as_error_nomem(err, "the name of the user");
    AS_TRY(as_rows_open(experiment, homes, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *path = as_rows_text(rows, 0);

        if (path)
            note_home(it, path, strlen(path));
    }
    as_rows_close(&rows);
    return rc;
}

int as_experiment_redact(struct as_experiment *experiment, struct as_error *err)
{
    struct as_redaction *it = as_redaction_new();
    int rc = it ? 0 : as_error_nomem(err, experiment->db_path);

    if (rc == 0)
        rc = add_hosts(experiment, it, err);
    if (rc == 0)
        rc = add_users(experiment, it, err);
    if (rc < 0)
        as_redaction_free(&it);
    as_redaction_free(&experiment->redaction);
    experiment->redaction = it;
    return rc;
}

bool as_experiment_is_redacted(const struct as_experiment *experiment)
{
    return experiment->redaction;
}

const char *as_experiment_shown_path(const struct as_experiment *experiment)
{
    return experiment->redaction ? "experiment" : experiment->path;
}
