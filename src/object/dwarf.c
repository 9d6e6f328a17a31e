/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF side's door, while nothing stands behind it: no debug information anywhere.
 */
#include "object/dwarf.h"

#include <stdio.h>
#include <string.h>

int as_dwarf_open(const struct as_dwarf_input *input, struct as_dwarf **out,
                  struct assay_error *err)
{
    (void)input;
    (void)err;
    *out = NULL;
    return 0;
}

void as_dwarf_close(struct as_dwarf **dwarf)
{
    *dwarf = NULL;
}

void as_dwarf_fill_info(const struct as_dwarf *dwarf, struct assay_object_info *info)
{
    (void)dwarf;
    info->debug = ASSAY_DEBUG_NONE;
}

const uint8_t *as_dwarf_separate_image(const struct as_dwarf *dwarf, size_t *size_b)
{
    (void)dwarf;
    *size_b = 0;
    return NULL;
}

int as_dwarf_load(struct as_dwarf *dwarf, unsigned parts, unsigned jobs, struct assay_debug *out,
                  size_t *damaged_units, struct assay_error *err)
{
    (void)dwarf;
    (void)parts;
    (void)jobs;
    (void)err;
    *out = (struct assay_debug){0};
    if (damaged_units)
        *damaged_units = 0;
    return 0;
}

uint32_t as_dwarf_inline_at(const struct as_dwarf *dwarf, uint64_t address)
{
    (void)dwarf;
    (void)address;
    return ASSAY_NONE;
}

const struct assay_line *assay_debug_line_at(const struct assay_debug *debug, uint64_t address)
{
    (void)debug;
    (void)address;
    return NULL;
}

int assay_demangle(const char *name, char *buf, size_t buf_b)
{
    return snprintf(buf, buf_b, "%s", name);
}
