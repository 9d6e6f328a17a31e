/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the core that predictions are for.
 */
#include <cpuid.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <assay/machine.h>

#include "base/error.h"
#include "predict.h"

/* Vendor, family, model and stepping by cpuid; `vendor` has room for 13. False: there is none. */
static bool read_processor(struct assay_host *host, char *vendor)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return false;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    vendor[12] = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    const unsigned base = a >> 8 & 15;
    host->cpu_vendor = vendor;
    host->cpu_family = base == 15 ? base + (a >> 20 & 255) : base;
    host->cpu_model_number = (a >> 4 & 15) | (base == 15 || base == 6 ? a >> 12 & 0xf0 : 0);
    host->cpu_stepping = a & 15;
    return true;
}

/* The table that was measured on a core as this one; false: none, or it cannot be read (said). */
static bool open_measured(struct as_cli *cli, const struct assay_host *host,
                          struct assay_uarch **out, char *path)
{
    struct assay_error err;

    if (assay_core_table_path(host, path, PATH_MAX) && access(path, R_OK) == 0) {
        if (assay_uarch_open(path, out, &err) == 0)
            return true;
        as_cli_complain(cli, &err);
    }
    path[0] = '\0';
    return false;
}

int as_core_open(struct as_cli *cli, struct assay_uarch **out, char *measured,
                 struct assay_error *err)
{
    const char *name = cli->args.value[AS_OPTION_MACHINE];
    struct assay_host host = {0};
    char vendor[13];

    measured[0] = '\0';
    if (!name && read_processor(&host, vendor) && open_measured(cli, &host, out, measured))
        return 0;
    if (!name)
        name = assay_uarch_host();
    if (!name)
        return as_error_set(err, ASSAY_ERR_NOT_FOUND,
                            "%s: assay has no table of this machine's core; name one with "
                            "--machine (assay %s --help), or measure it with 'assay machine "
                            "--measure instructions'",
                            as_verbs[cli->args.verb].name, as_verbs[cli->args.verb].name);
    return assay_uarch_open(name, out, err);
}
