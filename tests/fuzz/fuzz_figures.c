/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the bytes are a file of figures of a machine. The figures read are complete, are
 * written, and read again as the same.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/figures.h"

static void check_figures(const struct as_figures *f)
{
    for (size_t i = 0; i < f->figure_n; i++) {
        FUZZ_CHECK(isfinite(f->figure[i].value) && isfinite(f->figure[i].spread));
        FUZZ_CHECK(as_figures_find(f, f->figure[i].name) == &f->figure[i]);
        FUZZ_CHECK(*as_figure_confidence(&f->figure[i]));
    }
    for (size_t i = 0; i < f->point_n; i++)
        FUZZ_CHECK(f->point[i].curve && isfinite(f->point[i].x) && isfinite(f->point[i].y));
    for (size_t i = 0; i < f->finding_n; i++)
        FUZZ_CHECK(f->finding[i].name && f->finding[i].text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_figures *first, *second;
    struct as_error err;
    struct as_str text = {0};
    char *copy = malloc(size_b + 1);

    FUZZ_CHECK(copy);
    if (size_b)
        memcpy(copy, bytes, size_b);
    copy[size_b] = 0;
    if (as_figures_parse(copy, "input", &first, &err) == 0) {
        check_figures(first);
        as_figures_append(&text, first);
        FUZZ_CHECK(!text.failed);
        FUZZ_CHECK(as_figures_parse(text.p, "written", &second, &err) == 0);
        FUZZ_CHECK(second->figure_n == first->figure_n && second->point_n == first->point_n);
        FUZZ_CHECK(second->fact_n == first->fact_n && second->group_n == first->group_n);
        FUZZ_CHECK(second->finding_n == first->finding_n);
        as_figures_free(&second);
        as_figures_free(&first);
    } else {
        FUZZ_CHECK(!first && err.text[0]);
    }
    as_str_fini(&text);
    free(copy);
    return 0;
}
