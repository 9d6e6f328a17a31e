/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of advice, filled from the row of a statement. */
#ifndef AS_ADVISE_FILL_H
#define AS_ADVISE_FILL_H

#include <stdbool.h>

#include "base/str.h"
#include "experiment/experiment.h"

/* Appends `text`, each {column} replaced. */
void as_fill_text(struct as_str *out, struct as_rows *rows, const char *text);

/* So too a command, whose columns become words of a shell; {experiment} stays. False where a part
 * of it is not known: then nothing can be typed. */
bool as_fill_command(struct as_str *out, struct as_rows *rows, const char *command);

#endif
