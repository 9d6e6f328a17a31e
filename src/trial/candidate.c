/* SPDX-License-Identifier: Apache-2.0 */
/* Turns rules into candidates; see candidate.h, and tools/gen-advice.py for the form of rules. */
#include "trial/candidate.h"

#include "campaign/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/shell.h"
#include "base/str.h"

/* ---- Lists of words ------------------------------------------------------------------------ */

/* Finds the next word of a text, separated by blanks or `separator`; false at the end. */
static bool next_of(const char **at, char separator, const char **word, size_t *n)
{
    const char blanks[] = {separator, '\0'};

    *at += strspn(*at, blanks);
    *word = *at;
    *n = strcspn(*at, blanks);
    *at += *n;
    return *n > 0;
}

static bool has_word(const char *list, const char *word, size_t n)
{
    for (const char *at = list, *it; next_of(&at, ' ', &it, &(size_t){0});)
        if (strncmp(it, word, n) == 0 && (it[n] == ' ' || it[n] == '\0'))
            return true;
    return false;
}

/* Returns true if a word of the list starts with one of the parts of "a|b". */
static bool has_beginning(const char *list, const char *any, size_t any_n)
{
    char copy[256];
    const char *word;
    size_t n;

    snprintf(copy, sizeof copy, "%.*s", (int)any_n, any);
    for (const char *at = copy; next_of(&at, '|', &word, &n);)
        for (const char *in = list, *it; next_of(&in, ' ', &it, &(size_t){0});)
            if (strncmp(it, word, n) == 0)
                return true;
    return false;
}

/* ---- Conditions ---------------------------------------------------------------------------- */

static bool is_in_path(const char *name, size_t n)
{
    const char *path = getenv("PATH"), *directory;
    char file[4200];
    size_t directory_n;

    for (const char *at = path ? path : ""; next_of(&at, ':', &directory, &directory_n);) {
        snprintf(file, sizeof file, "%.*s/%.*s", (int)directory_n, directory, (int)n, name);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

static bool has_feature(const char *name, size_t n)
{
    return n == 7 && strncmp(name, "avx512f", n) == 0 && __builtin_cpu_supports("avx512f");
}

static bool condition_holds(const struct as_candidate_facts *facts, const char *word, size_t n)
{
    const char *colon = memchr(word, ':', n);
    const char *what = colon ? colon + 1 : word + n;
    const size_t what_n = (size_t)(word + n - what);

    if (strncmp(word, "uses:", 5) == 0)
        return has_beginning(facts->libraries, what, what_n);
    if (strncmp(word, "launcher:", 9) == 0)
        return has_beginning(as_launch_kind_name(facts->launcher), what, what_n);
    if (strncmp(word, "command:", 8) == 0)
        return is_in_path(what, what_n);
    if (strncmp(word, "cpu:", 4) == 0)
        return has_feature(what, what_n);
    if (strncmp(word, "threads", n) == 0)
        return facts->thread_n > 1;
    return strncmp(word, "nodes", n) == 0 ? facts->numa_n > 1 : facts->cpu_n > 1;
}

static bool rule_fits(const struct as_candidate_facts *facts, const struct as_try_row *row)
{
    const char *word;
    size_t n;

    for (const char *at = row->when ? row->when : ""; next_of(&at, ' ', &word, &n);)
        if (!condition_holds(facts, word, n))
            return false;
    for (const char *at = row->compiler ? row->compiler : ""; next_of(&at, ' ', &word, &n);)
        if (has_word(facts->compilers, word, n))
            return true;
    return !row->compiler;
}

/* ---- Values -------------------------------------------------------------------------------- */

/* Returns the index of the launcher's word for the number of ranks; 0 if there is none. */
static size_t ranks_at(const struct as_candidate_facts *facts)
{
    if (facts->launcher == AS_LAUNCH_PROGRAM || facts->launcher == AS_LAUNCH_SCRIPT)
        return 0;
    for (size_t i = 1; facts->command[i] && facts->command[i + 1]; i++)
        if ((strcmp(facts->command[i], "-n") == 0 || strcmp(facts->command[i], "-np") == 0) &&
            strtol(facts->command[i + 1], NULL, 10) > 0)
            return i + 1;
    return 0;
}

/* Returns `text` with {cpus} and similar names filled in. NULL without memory, or if a number is
 * below 1. */
static const char *filled_in(const struct as_candidate_facts *facts, const char *text, size_t n,
                             struct as_arena *arena)
{
    const size_t at = ranks_at(facts);
    const int64_t ranks = at ? strtol(facts->command[at], NULL, 10) : 0;
    char number[6][24], word[512];
    const int64_t value[6] = {facts->cpu_n,     facts->core_n,    facts->cpu_n / 2,
                              facts->cpu_n * 2, facts->first_cpu, ranks / 2};
    static const char *const name[6] = {"cpus",  "cores",     "half",
                                        "twice", "first_cpu", "half_ranks"};
    struct as_setting setting[6];

    snprintf(word, sizeof word, "%.*s", (int)n, text);
    for (size_t i = 0; i < 6; i++) {
        snprintf(number[i], sizeof number[i], "%lld", (long long)value[i]);
        setting[i] = (struct as_setting){name[i], number[i]};
        if (value[i] < 1 && i != 4 && as_setting_is_in(word, name[i]))
            return NULL;
    }
    char *all = as_setting_expand(word, setting, 6);
    const char *copy = all ? as_arena_strndup(arena, all, strlen(all)) : NULL;
    free(all);
    return copy;
}

static const char *const *words_of(const struct as_candidate_facts *facts, const char *text,
                                   struct as_arena *arena)
{
    const char **out = as_arena_array(arena, const char *, strlen(text) + 2);
    const char *word;
    size_t n, made = 0;

    for (const char *at = text; out && next_of(&at, ' ', &word, &n); made++) {
        out[made] = filled_in(facts, word, n, arena);
        if (!out[made])
            return NULL;
    }
    return out;
}

/* Returns the path where the dynamic loader finds a library, or NULL. */
static const char *library_path(const char *name, struct as_arena *arena)
{
    static const char *const directory[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                            "/usr/local/lib", "/usr/lib"};
    char path[512];

    for (size_t i = 0; i < sizeof directory / sizeof *directory; i++) {
        const int n = snprintf(path, sizeof path, "%s/%s", directory[i], name);
        if (access(path, R_OK) == 0)
            return as_arena_strndup(arena, path, (size_t)n);
    }
    return NULL;
}

/* ---- Variables ----------------------------------------------------------------------------- */

static bool is_set_to(const struct as_setting *it)
{
    const char *now = getenv(it->name + strlen("env:"));
    return now && strcmp(now, it->value) == 0;
}

/* Returns the value appended to the user's value of LD_PRELOAD or GLIBC_TUNABLES; else `value`. */
static const char *joined_value(const char *name, const char *value, struct as_arena *arena)
{
    const char *now = getenv(name);
    char all[4096];

    if (!now || !now[0] || (strcmp(name, "LD_PRELOAD") != 0 && strcmp(name, "GLIBC_TUNABLES") != 0))
        return value;
    const int n = snprintf(all, sizeof all, "%s:%s", now, value);
    return as_arena_strndup(arena, all, (size_t)n < sizeof all ? (size_t)n : sizeof all - 1);
}

static bool add_variable(struct as_candidate *it, const char *name, size_t n, const char *value,
                         struct as_arena *arena)
{
    char all[256];
    const int all_n = snprintf(all, sizeof all, "env:%.*s", (int)n, name);
    struct as_setting *to = &it->variable[it->variable_n];

    to->name = as_arena_strndup(arena, all, (size_t)all_n);
    if (!to->name || !value)
        return false;
    to->value = joined_value(to->name + strlen("env:"), value, arena);
    it->variable_n++;
    return to->value != NULL;
}

static bool set_row_variables(struct as_candidate *it, const struct as_try_row *row,
                              const struct as_candidate_facts *facts, struct as_arena *arena)
{
    const char *word;
    size_t n;

    it->variable = as_arena_array(arena, struct as_setting, AS_PARTS_MOST);
    if (!it->variable)
        return false;
    if (row->preload &&
        !add_variable(it, "LD_PRELOAD", 10, library_path(row->preload, arena), arena))
        return false;
    for (const char *at = row->env ? row->env : ""; next_of(&at, ' ', &word, &n);) {
        const char *equals = memchr(word, '=', n);
        if (!add_variable(it, word, (size_t)(equals - word),
                          filled_in(facts, equals + 1, (size_t)(word + n - equals - 1), arena),
                          arena))
            return false;
    }
    return true;
}

/* Returns true if the candidate equals the unchanged program. */
static bool changes_nothing(const struct as_candidate *it, const struct as_candidate_facts *facts)
{
    const size_t at = ranks_at(facts);

    if (it->ranks && (!at || strcmp(facts->command[at], it->ranks) == 0))
        return true;
    if (it->wrap || it->launcher || it->flags || it->ranks)
        return false;
    for (size_t i = 0; i < it->variable_n; i++)
        if (!is_set_to(&it->variable[i]))
            return false;
    return true;
}

static bool is_same_change(const struct as_candidate *a, const struct as_candidate *b)
{
    if (!a->variable_n || a->variable_n != b->variable_n || a->wrap || b->wrap)
        return false;
    for (size_t i = 0; i < a->variable_n; i++)
        if (strcmp(a->variable[i].name, b->variable[i].name) != 0 ||
            strcmp(a->variable[i].value, b->variable[i].value) != 0)
            return false;
    return true;
}

/* ---- Choice -------------------------------------------------------------------------------- */

static bool is_asked_for(const struct as_candidate_facts *facts, const struct as_try_row *row)
{
    const char *word;
    size_t n;

    for (const char *at = row->finding ? row->finding : ""; next_of(&at, ' ', &word, &n);)
        if (has_word(facts->rules, word, n))
            return true;
    return false;
}

/* Makes the candidate of a rule; false if it does not apply or changes nothing. */
static bool make_candidate(const struct as_try_row *row, const struct as_candidate_facts *facts,
                           struct as_arena *arena, struct as_candidate *out)
{
    *out = (struct as_candidate){.name = row->name,
                                 .title = row->title,
                                 .group = row->group,
                                 .what = row->what,
                                 .finding = row->finding ? row->finding : "",
                                 .is_found = is_asked_for(facts, row),
                                 .flags = row->flags,
                                 .train = row->train,
                                 .merge = row->merge,
                                 .is_trained = row->train != NULL,
                                 .racer = -1};
    if (!set_row_variables(out, row, facts, arena))
        return false;
    if (row->wrap && !(out->wrap = words_of(facts, row->wrap, arena)))
        return false;
    if (row->launcher && !(out->launcher = words_of(facts, row->launcher, arena)))
        return false;
    if (row->ranks && !(out->ranks = filled_in(facts, row->ranks, strlen(row->ranks), arena)))
        return false;
    return !changes_nothing(out, facts);
}

/* Returns true if an equal candidate exists. Two rules can be equal: for example, if there are
 * as many cores as CPUs. */
static bool is_there(const as_candidate_list *all, const struct as_candidate *it)
{
    as_vec_foreach (all, other)
        if (is_same_change(other, it) ||
            (it->ranks && other->ranks && strcmp(it->ranks, other->ranks) == 0))
            return true;
    return false;
}

int as_candidates_choose(const struct as_candidate_facts *facts, unsigned what,
                         struct as_arena *arena, as_candidate_list *out, struct as_error *err)
{
    for (int first = 1; first >= 0; first--)
        for (size_t i = 0; i < as_trial_try_n; i++) {
            const struct as_try_row *row = &as_trial_try[i];
            struct as_candidate it;
            if (!(row->what & what) || is_asked_for(facts, row) != (first == 1) ||
                !rule_fits(facts, row) || !make_candidate(row, facts, arena, &it) ||
                is_there(out, &it))
                continue;
            if (as_vec_push(out, it) < 0)
                return as_error_nomem(err, "what is tried");
        }
    return 0;
}

/* ---- Commands ------------------------------------------------------------------------------ */

static size_t count_words(const char *const *words)
{
    size_t n = 0;
    while (words && words[n])
        n++;
    return n;
}

const char *const *as_candidate_words(const struct as_candidate *it,
                                      const struct as_candidate_facts *facts,
                                      const char *const *words, struct as_arena *arena)
{
    const size_t n = count_words(words), wrap_n = count_words(it->wrap),
                 launcher_n = count_words(it->launcher), ranks = ranks_at(facts);
    const char **out = as_arena_array(arena, const char *, n + wrap_n + launcher_n + 1);
    size_t at = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < wrap_n; i++)
        out[at++] = it->wrap[i];
    for (size_t i = 0; i < n; i++) {
        out[at++] = it->ranks && i == ranks ? it->ranks : words[i];
        for (size_t k = 0; i == 0 && k < launcher_n; k++)
            out[at++] = it->launcher[k];
    }
    return out;
}

const char *as_candidate_type(const struct as_candidate *it, const struct as_candidate_facts *facts,
                              const char *build, struct as_arena *arena)
{
    const char *const *words = as_candidate_words(it, facts, facts->command, arena);
    struct as_str out = {0};

    if (!words)
        return NULL;
    if (build)
        as_str_appendf(&out, "%s && ", build);
    for (size_t i = 0; i < it->variable_n; i++) {
        as_str_appendf(&out, "%s=", it->variable[i].name + strlen("env:"));
        as_shell_word(&out, it->variable[i].value);
        as_str_appendz(&out, " ");
    }
    for (size_t i = 0; words[i]; i++) {
        as_str_appendz(&out, i ? " " : "");
        as_shell_word(&out, words[i]);
    }
    const char *copy = out.failed ? NULL : as_arena_strndup(arena, as_str_z(&out), out.n);
    as_str_fini(&out);
    return copy;
}

/* ---- Combinations -------------------------------------------------------------------------- */

static const char *joined(const char *a, const char *b, const char *between, struct as_arena *arena)
{
    struct as_str all = {0};

    if (!a || !a[0])
        return b;
    as_str_appendf(&all, "%s%s%s", a, between, b);
    const char *copy = all.failed ? NULL : as_arena_strndup(arena, as_str_z(&all), all.n);
    as_str_fini(&all);
    return copy;
}

static bool add_part(struct as_candidate *to, const struct as_candidate *part,
                     struct as_arena *arena)
{
    to->name = joined(to->name, part->name, "+", arena);
    to->title = joined(to->title, part->title, "; ", arena);
    to->what |= part->what;
    if (part->flags)
        to->flags = joined(to->flags, part->flags, " ", arena);
    const char *train = part->train ? part->train : part->flags;
    if (train)
        to->train = joined(to->train, train, " ", arena);
    to->is_trained |= part->train != NULL;
    to->merge = part->merge ? part->merge : to->merge;
    to->wrap = part->wrap ? part->wrap : to->wrap;
    to->launcher = part->launcher ? part->launcher : to->launcher;
    to->ranks = part->ranks ? part->ranks : to->ranks;
    for (size_t i = 0; i < part->variable_n; i++)
        to->variable[to->variable_n++] = part->variable[i];
    return to->name && to->title && (!part->flags || to->flags);
}

int as_candidates_join(const as_candidate_list *all, const uint32_t *part, size_t part_n,
                       struct as_arena *arena, struct as_candidate *out, struct as_error *err)
{
    *out = (struct as_candidate){
        .name = "", .title = "", .group = "", .finding = "", .racer = -1, .part_n = part_n};
    out->variable = as_arena_array(arena, struct as_setting, AS_PARTS_MOST * AS_PARTS_MOST);
    bool is_fine = out->variable != NULL;
    for (size_t i = 0; i < part_n && is_fine; i++) {
        out->part[i] = part[i];
        is_fine = add_part(out, &all->at[part[i]], arena);
    }
    /* Without training, `train` is not needed: the build has all options of the parts. */
    if (!out->is_trained)
        out->train = NULL;
    return is_fine ? 0 : as_error_nomem(err, "what is tried");
}
