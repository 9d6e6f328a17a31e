/* SPDX-License-Identifier: Apache-2.0 */
/* Own CPU time is that of this process and of all children that have ended: what they started and
 * did not wait for counts as another process. */
#include "external_load.h"

#include <sys/resource.h>

#include "base/clock.h"

#define WARNING                                                                                    \
    "other processes used %.2f of %.3g CPUs: timings are unreliable; repeat on a quiet "           \
    "machine, or on reserved CPUs (a batch job, taskset)"

static int64_t own_ns(void)
{
    int64_t sum = 0;
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (size_t i = 0; i < sizeof whose / sizeof *whose; i++) {
        struct rusage usage;
        if (getrusage(whose[i], &usage) == 0)
            sum += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
                   (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
    }
    return sum;
}

void as_external_begin(struct as_external_watch *load)
{
    *load = (struct as_external_watch){.own_ns = own_ns(), .wall_ns = as_monotonic_ns()};
    as_host_load_read(NULL, 0, &load->begun);
}

void as_external_load_print(struct as_cli *cli, struct as_external_watch *load)
{
    struct as_host_load now;
    if (load->is_said || as_given(&cli->args, AS_OPTION_PID))
        return;
    load->is_said = true;
    as_host_load_read(NULL, 0, &now);
    const struct as_external_load others = as_external_load_of(
        &load->begun, &now, as_monotonic_ns() - load->wall_ns, own_ns() - load->own_ns);
    if (!others.is_high)
        return;
    if (cli->format != AS_FORMAT_TEXT) {
        as_cli_note(cli, WARNING, others.used_cpu_n, others.able_cpu_n);
        return;
    }
    struct as_str text = {0};
    as_str_appendf(&text, WARNING, others.used_cpu_n, others.able_cpu_n);
    as_cli_wrapped(cli, "", "%s", as_str_z(&text));
    as_cli_print(cli, "\n");
    as_str_fini(&text);
}
