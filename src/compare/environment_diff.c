/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds differences between runs other than their code: machine, environment, threads and ranks,
 * sampling, libraries, and external load on one side only. A side has a fact if all of its runs
 * agree on it; otherwise the fact varies.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "compare/differs.h"
#include "launch/launch.h"

/*
 * A library with samples on one side only counts as a difference from this number of samples on.
 * With fewer, its absence on the other side may be chance.
 */
#define SEEN AS_FEW_SAMPLES
/* External load from this share of the usable CPUs on is too high, as in the check `quiet_host`. */
#define BUSY 0.2

/*
 * Reads topic, name, title, text and number of samples, or NULL if no sampling is involved. Facts
 * of the host without effect on speed, and its load at the start, are left out.
 */
static const char fact_sql[] =
    "WITH r AS (SELECT * FROM run WHERE run_id = ?1),"
    " h AS (SELECT * FROM host WHERE host_id IN (SELECT host_id FROM r)),"
    " p AS (SELECT * FROM process WHERE run_id = ?1),"
    " m AS (SELECT m.*, t.inclusive_n AS n FROM object_time t JOIN module m ON"
    "  m.module_id = t.object_id WHERE t.run_id = ?1 AND t.object_kind = 'module'),"
    " main AS (SELECT module_id FROM m WHERE kind = 'executable' ORDER BY n DESC LIMIT 1) "
    "SELECT 'run', 'command', 'Command', command, NULL FROM r UNION ALL "
    "SELECT 'run', 'launcher', 'Launcher', launcher, NULL FROM r UNION ALL "
    "SELECT 'run', 'ranks', 'Ranks', nullif(count(DISTINCT rank), 0), NULL FROM p UNION ALL "
    "SELECT 'run', 'threads', 'Working threads', nullif(count(*), 0), NULL FROM thread"
    " JOIN p USING (process_id) WHERE ifnull(role, 'worker') = 'worker' UNION ALL "
    "SELECT 'run', 'usable_cpus', 'Usable CPUs', usable_milli_cpu_n / 1000.0, NULL"
    " FROM r UNION ALL "
    "SELECT 'sampling', 'event', 'Sampled by', event, NULL FROM r UNION ALL "
    "SELECT 'sampling', 'rate_hz', 'Samples per second', rate_hz, NULL FROM r UNION ALL "
    "SELECT 'sampling', 'call_stacks', 'Call stacks', call_stacks, NULL FROM r UNION ALL "
    "SELECT 'sampling', 'scope', 'Sampled code', scope, NULL FROM r UNION ALL "
    "SELECT 'sampling', 'assay_version', 'Version of assay', assay_version, NULL FROM r UNION ALL "
    "SELECT 'machine', 'host', 'Host', name, NULL FROM h UNION ALL "
    "SELECT 'machine', 'cpu_model', 'Processor', cpu_model, NULL FROM h UNION ALL "
    "SELECT 'machine', 'sockets', 'Sockets', socket_n, NULL FROM h UNION ALL "
    "SELECT 'machine', 'cores', 'Cores', core_n, NULL FROM h UNION ALL "
    "SELECT 'machine', 'cpus', 'Processors', cpu_n, NULL FROM h UNION ALL "
    "SELECT 'machine', 'numa_nodes', 'Nodes of memory', numa_n, NULL FROM h UNION ALL "
    "SELECT 'machine', 'memory', 'Memory', printf('%.1f GiB', memory_b / 1073741824.0), NULL"
    " FROM h WHERE memory_b IS NOT NULL UNION ALL "
    "SELECT 'machine', 'base_hz', 'Base frequency', printf('%.2f GHz', base_hz / 1e9), NULL"
    " FROM h WHERE base_hz IS NOT NULL UNION ALL "
    "SELECT 'machine', 'max_hz', 'Highest frequency', printf('%.2f GHz', max_hz / 1e9), NULL"
    " FROM h WHERE max_hz IS NOT NULL UNION ALL "
    "SELECT 'machine', 'hypervisor', 'Hypervisor', hypervisor, NULL FROM h UNION ALL "
    "SELECT 'machine', 'os', 'System', os, NULL FROM h UNION ALL "
    "SELECT 'machine', 'kernel', 'Kernel', kernel, NULL FROM h UNION ALL "
    "SELECT 'machine', f.name, replace(f.name, '_', ' '), f.value, NULL FROM host_fact f"
    " JOIN h USING (host_id) WHERE f.name != 'load_average' UNION ALL "
    "SELECT 'environment', name, name, value, NULL FROM run_environment WHERE run_id = ?1"
    " UNION ALL "
    "SELECT 'environment', '', 'Other variables', environment_digest, NULL FROM r UNION ALL "
    "SELECT iif(module_id IN main, 'program', 'library'), CASE WHEN module_id IN main THEN "
    "'program'"
    "  WHEN instr(name, '.so') THEN substr(name, 1, instr(name, '.so') + 2) ELSE name END,"
    " CASE WHEN module_id IN main THEN 'Program' WHEN instr(name, '.so') THEN"
    "  substr(name, 1, instr(name, '.so') + 2) ELSE name END,"
    " name || ifnull(' ' || substr(build_id, 1, 12), ifnull(', ' || size_b || ' bytes', '')), n"
    " FROM m WHERE kind IN ('executable', 'shared')";

/* Reads the external load, and the number of usable CPUs. */
static const char load_sql[] =
    "SELECT (ifnull(r.others_time_s, 0) + ifnull(r.steal_time_s, 0)) / r.wall_s,"
    " ifnull(r.usable_cpu_n, h.cpu_n) FROM v_runs r LEFT JOIN run x USING (run_id)"
    " LEFT JOIN host h ON h.host_id = x.host_id WHERE r.run_id = ?1 AND r.wall_s > 0"
    " AND coalesce(r.others_time_s, r.steal_time_s) IS NOT NULL";

/* ---- Facts of the sides -------------------------------------------------------------------- */

struct environment_fact {
    const char *topic, *name, *title;
    const char **text; /* one for each side, or NULL */
    uint32_t *run_n;   /* number of runs of each side with this text */
    int64_t *seen_n;   /* maximum number of samples in a run; INT64_MAX without sampling */
};

struct environment_comparison {
    struct as_arena *arena;
    struct as_set *set;
    size_t n, side; /* number of sides; the current one */
    AS_VEC(struct environment_fact) fact;
    struct {
        double taken_cpus, usable; /* in the run with the highest load; `usable` 0 if unknown */
    } * load;
};

static struct environment_fact *fact_of(struct environment_comparison *w, const char *topic,
                                        const char *name, const char *title)
{
    as_vec_foreach (&w->fact, it)
        if (strcmp(it->topic, topic) == 0 && strcmp(it->name, name) == 0)
            return it;
    const struct environment_fact it = {.topic = as_set_text(w->arena, topic),
                                        .name = as_set_text(w->arena, name),
                                        .title = as_set_text(w->arena, title),
                                        .text = as_arena_array(w->arena, const char *, w->n),
                                        .run_n = as_arena_array(w->arena, uint32_t, w->n),
                                        .seen_n = as_arena_array(w->arena, int64_t, w->n)};
    if (!it.topic || !it.name || !it.title || !it.text || !it.run_n || !it.seen_n ||
        as_vec_push(&w->fact, it) < 0)
        return NULL;
    return &w->fact.at[w->fact.n - 1];
}

static int add_environment_fact(struct environment_comparison *w, struct as_rows *rows)
{
    const char *name = as_rows_text(rows, 1), *text = as_rows_text(rows, 3);
    const bool is_sampled = as_rows_kind(rows, 4) != AS_SQL_CELL_NULL;
    const int64_t seen = is_sampled ? as_rows_integer(rows, 4) : INT64_MAX;
    const char *topic = as_rows_text(rows, 0);
    if (!text || !name ||
        (strcmp(topic, "environment") == 0 && as_launch_variable_is_of_rank(name)))
        return 0;
    struct environment_fact *it = fact_of(w, topic, name, as_rows_text(rows, 2));
    if (!it)
        return AS_ERR_NOMEM;
    const char **there = &it->text[w->side];
    it->run_n[w->side]++;
    it->seen_n[w->side] = seen > it->seen_n[w->side] ? seen : it->seen_n[w->side];
    if (*there && strcmp(*there, text) != 0)
        *there = AS_VARIES;
    else if (!*there)
        *there = as_set_text(w->arena, text);
    return *there ? 0 : AS_ERR_NOMEM;
}

static int note_external_load(struct environment_comparison *w, struct as_rows *rows)
{
    const double taken = as_rows_real(rows, 0), usable = as_rows_real(rows, 1);
    if (usable > 0 && taken >= w->load[w->side].taken_cpus) {
        w->load[w->side].taken_cpus = taken;
        w->load[w->side].usable = usable;
    }
    return 0;
}

static int read_run(struct environment_comparison *w, struct as_experiment *experiment,
                    const char *sql, int64_t run_id,
                    int (*take)(struct environment_comparison *, struct as_rows *),
                    struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        if (take(w, rows) < 0) {
            rc = as_error_nomem(err, "what differs around a run");
            break;
        }
    as_rows_close(&rows);
    return rc;
}

static int read_side(struct environment_comparison *w, struct as_experiment *experiment,
                     struct as_error *err)
{
    as_vec_foreach (&w->set[w->side].run, it) {
        AS_TRY(read_run(w, experiment, fact_sql, it->id, add_environment_fact, err));
        AS_TRY(read_run(w, experiment, load_sql, it->id, note_external_load, err));
    }
    /* A fact of only some runs varies, unless it depends on samples. */
    as_vec_foreach (&w->fact, it)
        if (it->text[w->side] && it->run_n[w->side] < w->set[w->side].run.n &&
            it->seen_n[w->side] == INT64_MAX)
            it->text[w->side] = AS_VARIES;
    return 0;
}

/* ---- Differences --------------------------------------------------------------------------- */

/* Returns true if a missing fact means absence, as for variables. A machine may hide a fact. */
static bool tells_absence(const struct environment_fact *it)
{
    return strcmp(it->topic, "environment") == 0 || strcmp(it->topic, "library") == 0;
}

static bool is_other(const struct environment_fact *it, size_t a, size_t b)
{
    const char *x = it->text[a], *y = it->text[b];
    if (x && y)
        return strcmp(x, y) != 0;
    return (x || y) && tells_absence(it) && it->name[0] && it->seen_n[x ? a : b] >= SEEN;
}

static bool differs(const struct environment_fact *it, size_t n)
{
    for (size_t s = 1; s < n; s++)
        if (is_other(it, 0, s))
            return true;
    return false;
}

static void append_differing_fact(struct as_comparison *out, struct as_compare_fact *to,
                                  const struct environment_fact *it)
{
    to[out->fact_n++] = (struct as_compare_fact){
        .topic = it->topic, .name = it->name, .title = it->title, .text = it->text};
}

/* The digest of all variables is reported only if no recorded variable differs. */
static void append_differing_facts(struct environment_comparison *w, struct as_comparison *out,
                                   struct as_compare_fact *to)
{
    bool is_environment = false;
    as_vec_foreach (&w->fact, it) {
        const bool is_rest = it->name[0] == '\0';
        if (!differs(it, w->n) || (is_rest && is_environment))
            continue;
        is_environment |= strcmp(it->topic, "environment") == 0;
        append_differing_fact(out, to, it);
    }
}

static bool is_busy(const struct environment_comparison *w, size_t side)
{
    return w->load[side].taken_cpus >= BUSY * w->load[side].usable && w->load[side].usable > 0;
}

/* Appends the external load if it is too high on some sides only. Errors: NOMEM. */
static int append_load_fact(struct environment_comparison *w, struct as_comparison *out,
                            struct as_compare_fact *to)
{
    struct environment_fact it = {.topic = "load",
                                  .name = "others_cpus",
                                  .title = "External load",
                                  .text = as_arena_array(w->arena, const char *, w->n)};
    bool found = false;
    if (!it.text)
        return AS_ERR_NOMEM;
    for (size_t s = 0; s < w->n; s++) {
        struct as_str text = {0};
        if (!(w->load[s].usable > 0))
            continue;
        as_str_appendf(&text, "%.2f of %.3g CPUs%s", w->load[s].taken_cpus, w->load[s].usable,
                       is_busy(w, s) ? ": too busy" : "");
        it.text[s] = text.failed ? NULL : as_set_text(w->arena, as_str_z(&text));
        as_str_fini(&text);
        if (!it.text[s])
            return AS_ERR_NOMEM;
        found |= it.text[0] && is_busy(w, s) != is_busy(w, 0);
    }
    if (found)
        append_differing_fact(out, to, &it);
    return 0;
}

static int compare_environments(struct environment_comparison *w,
                                const struct as_compare_request *request, struct as_comparison *out,
                                struct as_error *err)
{
    w->load = as_arena_calloc(w->arena, w->n, sizeof *w->load, _Alignof(double));
    if (!w->load)
        return as_error_nomem(err, "what differs around a run");
    for (w->side = 0; w->side < w->n; w->side++)
        AS_TRY(read_side(w, request[w->side].experiment, err));
    struct as_compare_fact *fact = as_arena_array(w->arena, struct as_compare_fact, w->fact.n + 1);
    if (!fact || append_load_fact(w, out, fact) < 0)
        return as_error_nomem(err, "what differs around a run");
    append_differing_facts(w, out, fact);
    out->fact = fact;
    return 0;
}

int as_environments_compare(struct as_arena *arena, const struct as_compare_request *request,
                            struct as_set *set, size_t n, struct as_comparison *out,
                            struct as_error *err)
{
    struct environment_comparison w = {.arena = arena, .set = set, .n = n};
    const int rc = compare_environments(&w, request, out, err);
    as_vec_fini(&w.fact);
    return rc;
}
