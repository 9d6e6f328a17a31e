/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/internal.h"

int as_simulate(struct assay_predictor *p, unsigned timeline_n, double least, double *cycles,
                struct assay_timeline_entry **timeline, size_t *entries)
{
    (void)p, (void)timeline_n, (void)least, (void)timeline, (void)entries;
    *cycles = -1;
    return 0;
}
void as_simulation_free(struct as_simulation **simulation)
{
    (void)simulation;
}
