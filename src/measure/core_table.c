/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a core table file in the format of data/uarch/.
 */
#include "measure/core_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/version.h"
#include "machine/uarch_table.h"

/* Returns true if a group has its own ports instead of ports of another group. If general and
 * vector ports are separate, forms use both groups (FMUL:1 FANY:1). */
static bool are_own(const struct as_probe_rates *rates, enum as_saturated named)
{
    return rates->alu_has_vectors || named == AS_PROBE_ALU || named == AS_PROBE_FANY ||
           named == AS_PROBE_AGU || named == AS_PROBE_STD;
}

/* Appends the port names of a group. They are those of the built-in table if it has as many ports
 * under this name (`LD` for loads). So its lines and the measured ones use the same ports. On all
 * cores the ports of vector loads are some of those of all loads. */
static void append_ports(struct as_str *to, const struct as_probe_rates *rates,
                         const struct as_uarch *base, enum as_saturated home)
{
    const unsigned ports = as_probe_ports(rates, home);
    const bool are_some = (home == AS_PROBE_LDV || home == AS_PROBE_LDVZ) &&
                          ports <= as_probe_ports(rates, AS_PROBE_AGU);
    const enum as_saturated named = are_some ? AS_PROBE_AGU : home;
    const char *name = as_probe_group(named);
    int group = -1;

    if (base && named == AS_PROBE_AGU)
        group = as_uarch_group_find(base, "LD");
    if (base && are_own(rates, named) && group < 0)
        group = as_uarch_group_find(base, name);
    uint64_t theirs = group >= 0 ? base->group[group].ports : 0;
    if ((unsigned)__builtin_popcountll(theirs) != as_probe_ports(rates, named))
        theirs = 0;
    uint64_t left = rates->ports[home];
    for (unsigned i = 0; i < ports; i++) {
        as_str_appendz(to, i ? " " : "");
        if (rates->ports[home]) {
            as_str_appendz(to, rates->port[__builtin_ctzll(left)]);
            left &= left - 1;
        } else if (theirs) {
            as_str_appendz(to, base->port[__builtin_ctzll(theirs)]);
            theirs &= theirs - 1;
        } else {
            as_str_appendf(to, "%s%u", name, i);
        }
    }
}

static void append_divider(struct as_str *to, const struct as_uarch *base, const char *name)
{
    const int group = base ? as_uarch_group_find(base, name) : -1;
    const uint64_t theirs = base && group >= 0 ? base->group[group].ports : 0;

    if (base && __builtin_popcountll(theirs) == 1)
        as_str_appendf(to, "group\t%s\t%s\tm1\n", name, base->port[__builtin_ctzll(theirs)]);
    else
        as_str_appendf(to, "group\t%s\t%s0\tm1\n", name, name);
}

static void append_groups(struct as_str *to, const struct as_core_table *w)
{
    struct as_uarch *base = NULL;
    struct as_error err;

    if (w->base && as_uarch_open(w->base, &base, &err) < 0)
        base = NULL;
    for (unsigned p = AS_PROBE_ALU; p < AS_PROBES; p++) {
        const enum as_saturated home = as_probe_home(w->rates, (enum as_saturated)p);
        if (!as_probe_ports(w->rates, (enum as_saturated)p) || home != p)
            continue;
        as_str_appendf(to, "group\t%s\t", as_probe_group(home));
        append_ports(to, w->rates, base, home);
        as_str_appendz(to, "\tm1\n");
    }
    append_divider(to, base, "FDIV");
    append_divider(to, base, "IDIV");
    as_uarch_free(&base);
}

static void append_head(const struct as_core_table *w, struct as_str *to)
{
    const struct as_host *h = w->host;
    struct as_meter_state state;
    const time_t now = time(NULL);
    char date[32] = "";
    struct tm utc;

    as_meter_state_get(w->meter, &state);
    if (w->base)
        as_str_appendf(to, "like\t%s\n", w->base);
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    as_str_appendf(to, "core\t%s\t%s, measured\n",
                   h->microarchitecture ? h->microarchitecture : "host",
                   h->microarchitecture_words ? h->microarchitecture_words : "this processor");
    as_str_appendf(to, "match\t%s\t%" PRId64 "\t%" PRId64 "\n", h->cpu_vendor ? h->cpu_vendor : "?",
                   h->cpu_family, h->cpu_model_number);
    as_str_appendf(to, "source\tm1\tmeasured on %s (%s, %s clock%s%s) by assay %s, %s\n",
                   h->cpu_model ? h->cpu_model : "?", h->hypervisor ? h->hypervisor : "bare metal",
                   state.clock, *state.uncounted ? "; counter " : "", state.uncounted, AS_VERSION,
                   date);
    as_str_appendf(to, "source\tnoisy\tas m1, while others used the core: of little trust\n");
    as_str_appendf(
        to, "source\thalf\tas m1, a latency by half of a move between register files and "
            "back\n"
            "source\tbeside\tas m1, but for the ports of what it computes beside a load or a "
            "store\n");
    as_parameters_append(to, w->parameters, w->base != NULL);
    const struct as_parameter *late = as_parameter_find(w->parameters, "bypass.fadd");
    if (late && late->value > 0)
        as_str_appendf(to, "bypass\tfadd\t!fadd\t%.4g\tm1\n", late->value);
    append_groups(to, w);
}

/* Returns the key of a "form" line; empty for other lines. */
static struct as_view key_of(const char *line)
{
    const char *key = line + 5, *end = strncmp(line, "form\t", 5) == 0 ? strchr(key, '\t') : NULL;
    return end ? (struct as_view){key, (size_t)(end - key)} : (struct as_view){0};
}

static bool has_line(const struct as_uarch_text *base, struct as_view key)
{
    struct as_view text = {base->text, base->text_b}, line;

    while (as_view_split(&text, '\n', &line)) {
        if (as_view_starts(line, "like\t")) {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)(line.n - 5), line.p + 5);
            const struct as_uarch_text *other = as_uarch_text_find(name);
            if (other && has_line(other, key))
                return true;
        }
        if (line.n > key.n + 5 && as_view_starts(line, "form\t") && line.p[5 + key.n] == '\t' &&
            memcmp(line.p + 5, key.p, key.n) == 0)
            return true;
    }
    return false;
}

/* Returns why a line is commented out, or NULL. The built-in table is better than a line with
 * external load. It is also better than a latency from no chain or half a chain. */
static const char *why_unsaid(const struct as_uarch_text *base, const char *line)
{
    const struct as_view key = key_of(line);

    if (!base || !key.n)
        return NULL;
    if (strstr(line, "\tnoisy"))
        return "noisy";
    const bool is_partly =
        strstr(line, "\testimated") || strstr(line, "\thalf ") || strstr(line, "\tbeside ");
    return is_partly && has_line(base, key) ? "partly" : NULL;
}

/* Writes the head and the lines as one file in place of the old one. */
int as_core_table_finish(const struct as_core_table *w, const char *part, const char *path,
                         struct as_error *err)
{
    char whole[PATH_MAX], line[512];
    struct as_str head = {0};
    const struct as_uarch_text *base = w->base ? as_uarch_text_find(w->base) : NULL;

    if (snprintf(whole, sizeof whole, "%s.%ld", path, (long)getpid()) >= (int)sizeof whole)
        return as_error_set(err, AS_ERR_IO, "%s: the name is too long", path);
    append_head(w, &head);
    FILE *from = fopen(part, "re"), *to = fopen(whole, "we");
    bool good = from && to && !head.failed && fputs(as_str_z(&head), to) >= 0;
    while (good && fgets(line, sizeof line, from)) {
        const char *why = why_unsaid(base, line);
        good = (!why || fprintf(to, "# %s: ", why) > 0) && fputs(line, to) >= 0;
    }
    if (from)
        fclose(from);
    if (to && fclose(to) != 0)
        good = false;
    as_str_fini(&head);
    if (good && rename(whole, path) == 0) {
        unlink(part);
        return 0;
    }
    const int why = errno;
    unlink(whole);
    return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(why));
}
