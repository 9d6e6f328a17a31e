/* SPDX-License-Identifier: Apache-2.0 */
/* How `assay roofline` shows a roofline. */
#ifndef AS_CLI_ROOFLINE_VIEW_H
#define AS_CLI_ROOFLINE_VIEW_H

#include "cli.h"
#include "roofline/roofline.h"

/* Errors: NOMEM. */
int as_roofline_text(struct as_cli *cli, const struct as_roofline *it, struct as_error *err);
/* Appends the points and roofs as characters, 76 columns wide; nothing without a point to draw. The
 * first rows of the table have letters. */
void as_roofline_plot(const struct as_roofline *it, const size_t *row, size_t row_n,
                      struct as_str *out);
void as_roofline_csv(struct as_cli *cli, const struct as_roofline *it);
void as_roofline_json(struct as_cli *cli, const struct as_experiment *experiment,
                      const struct as_roofline *it);

/* "3.28G": four characters and a prefix. */
void as_roofline_amount(char *out, size_t out_b, double value);

#endif
