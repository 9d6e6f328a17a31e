/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of a core as a file, in the format of data/uarch/.
 */
#include "measure/core_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <assay/version.h>

#include "base/error.h"

static void append_head(const struct as_core_table *w, struct as_str *to)
{
    const struct assay_host *h = w->host;
    struct assay_meter_state state;
    const time_t now = time(NULL);
    char date[32] = "";
    struct tm utc;

    assay_meter_state_get(w->meter, &state);
    if (w->base)
        as_str_appendf(to, "like\t%s\n", w->base);
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    as_str_appendf(to, "core\t%s\t%s, measured\n",
                   h->microarchitecture ? h->microarchitecture : "host",
                   h->microarchitecture_words ? h->microarchitecture_words : "this processor");
    as_str_appendf(to, "match\t%s\t%" PRId64 "\t%" PRId64 "\n", h->cpu_vendor ? h->cpu_vendor : "?",
                   h->cpu_family, h->cpu_model_number);
    as_str_appendf(to, "source\tm1\tmeasured on %s (%s, %s clock) by assay %s, %s\n",
                   h->cpu_model ? h->cpu_model : "?", h->hypervisor ? h->hypervisor : "bare metal",
                   state.clock, ASSAY_VERSION, date);
    as_str_appendf(to, "source\tnoisy\tas m1, while others used the core: of little trust\n");
    as_parameters_append(to, w->parameters, w->base != NULL);
    for (unsigned p = AS_PROBE_ALU; p < AS_PROBES; p++) {
        const unsigned ports = as_probe_ports(w->rates, (enum as_saturated)p);
        if (ports == 0)
            continue;
        as_str_appendf(to, "group\t%s\t", as_probe_group((enum as_saturated)p));
        for (unsigned i = 0; i < ports; i++)
            as_str_appendf(to, "%s%s%u", i ? " " : "", as_probe_group((enum as_saturated)p), i);
        as_str_appendz(to, "\tm1\n");
    }
}

/* What the table of the program has is better than what was measured while others used the core. */
static bool is_better_unsaid(const struct as_core_table *w, const char *line)
{
    return w->base && strncmp(line, "form\t", 5) == 0 && strstr(line, "\tnoisy") != NULL;
}

/* The head and the lines, as one file in the place of the old one. */
int as_core_table_finish(const struct as_core_table *w, const char *part, const char *path,
                         struct assay_error *err)
{
    char whole[PATH_MAX], line[512];
    struct as_str head = {0};

    if (snprintf(whole, sizeof whole, "%s.%ld", path, (long)getpid()) >= (int)sizeof whole)
        return as_error_set(err, ASSAY_ERR_IO, "%s: the name is too long", path);
    append_head(w, &head);
    FILE *from = fopen(part, "re"), *to = fopen(whole, "we");
    bool good = from && to && !head.failed && fputs(as_str_z(&head), to) >= 0;
    while (good && fgets(line, sizeof line, from))
        good = fprintf(to, "%s%s", is_better_unsaid(w, line) ? "# noisy: " : "", line) >= 0;
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
    return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s", path, strerror(why));
}
