/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of `assay machine`: a host, its topology and its measured figures.
 */
#ifndef AS_CLI_MACHINE_PAGE_H
#define AS_CLI_MACHINE_PAGE_H

#include "cli.h"
#include "machine/machine.h"

struct as_machine_page {
    const struct as_host *host; /* NULL: a machine of a file */
    const struct as_topology *topology;
    const struct as_figures *figures; /* NULL: never measured */
};

/* The card, for people. */
int as_machine_card(struct as_cli *cli, const struct as_machine_page *page, struct as_error *err);
/* All facts, places and figures, as JSON or CSV. */
void as_machine_facts(struct as_cli *cli, const struct as_machine_page *page);
/* Figures of two machines side by side. */
int as_machine_diff(struct as_cli *cli, const struct as_figures *a, const struct as_figures *b,
                    struct as_error *err);
/* Machines that have figures here. */
int as_machine_list(struct as_cli *cli, struct as_error *err);

/* Opens figures: a file, or the name of a machine that was measured here. Errors: those of
 * as_figures_open. */
int as_machine_open(const char *name, struct as_figures **out, struct as_error *err);

/* Measures the ceilings that numbers of a run need, in ten seconds at most, where this machine has
 * none yet. Whatever hinders it is said, and nothing is lost. */
void as_machine_need(struct as_cli *cli);

/* " in 315 s, 21 of them waiting for a calm moment", of all groups; nothing where it is not known.
 */
void as_append_account(struct as_str *to, const struct as_figures *figures);

/* A figure in units of people: "105 GB/s"; "?" behind it says that it is of little trust. */
void as_figure_text(const struct as_figure *figure, char *out, size_t out_b);

#endif
