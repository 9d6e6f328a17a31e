/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the remarks read from compilers' records, a line each, for tests/vector/suite.py: records
 * FILE... */
#include <inttypes.h>
#include <stdio.h>

#include "quality/remarks.h"

int main(int argc, char **argv)
{
    struct as_remarks *remarks = NULL;
    struct as_error err = {0};
    int rc = as_remarks_new(&remarks, &err);

    for (int i = 1; i < argc && rc == 0; i++)
        rc = as_remarks_add(remarks, argv[i], &err);
    for (size_t i = 0; rc == 0 && i < remarks->n; i++) {
        const struct as_remark *at = &remarks->at[i];

        printf("%s\t%" PRIu32 "\t%s\t%d\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%s\n", at->file,
               at->line, at->kind == AS_REMARK_DONE ? "done" : "missed", at->vector, at->width_b,
               at->lanes, at->pass, at->function, at->text);
    }
    if (rc < 0)
        fprintf(stderr, "%s\n", err.text);
    as_remarks_free(&remarks);
    return rc < 0;
}
