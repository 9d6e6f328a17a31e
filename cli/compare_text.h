/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as text. */
#ifndef AS_CLI_COMPARE_TEXT_H
#define AS_CLI_COMPARE_TEXT_H

#include "compared.h"

#define AS_SIDES_MOST 16

int as_compare_show(struct as_cli *cli, const struct as_comparison *it, struct as_error *err);

#endif
