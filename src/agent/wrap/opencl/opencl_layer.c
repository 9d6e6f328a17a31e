/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of the layer for the ICD loader, and wrappers. Calls within a recorded call are not
 * recorded: a runtime makes them for itself.
 */
#include <string.h>

#include "agent/wrap/opencl/opencl.h"

#define AS_OPENCL_TYPES
#include "opencl_made.h"
#undef AS_OPENCL_TYPES

#define LAYER_API_VERSION 0x4240u
#define LAYER_NAME        0x4241u
#define LAYER_API         100u

static void *layer_table[AS_OPENCL_TABLE_N];

/* ---- Sizes --------------------------------------------------------------------------------- */

/* Returns the bytes of a box of rows and slices. */
static uint64_t bytes_of(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t bytes_of_image(void *image, const size_t *region)
{
    size_t element_b = 0;
    AS_OPENCL_REAL(as_opencl_info_type, clGetImageInfo)
    (image, AS_CL_IMAGE_ELEMENT_SIZE, sizeof element_b, &element_b, NULL);
    return bytes_of(region) * element_b;
}

/* ---- The wrappers ------------------------------------------------------------------------- */

#define AS_OPENCL_WRAPPERS
#include "opencl_made.h"
#undef AS_OPENCL_WRAPPERS

/* ---- The loader --------------------------------------------------------------------------- */

__attribute__((visibility("default"))) int32_t clGetLayerInfo(uint32_t name, size_t size_b,
                                                              void *value, size_t *value_b);
__attribute__((visibility("default"))) int32_t
clInitLayer(uint32_t entries_n, void *const *target, uint32_t *layer_n, const void *const **layer);

static int32_t copy_info(const void *from, size_t n, size_t size_b, void *value, size_t *value_b)
{
    if (value && size_b < n)
        return AS_CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, n);
    if (value_b)
        *value_b = n;
    return 0;
}

int32_t clGetLayerInfo(uint32_t name, size_t size_b, void *value, size_t *value_b)
{
    static const char text[] = "assay";
    const uint32_t api = LAYER_API;
    if (name == LAYER_API_VERSION)
        return copy_info(&api, sizeof api, size_b, value, value_b);
    return name == LAYER_NAME ? copy_info(text, sizeof text, size_b, value, value_b)
                              : AS_CL_INVALID_VALUE;
}

/* Entries that are not wrapped, or that the tracer does not want, are those behind the layer. */
int32_t clInitLayer(uint32_t entries_n, void *const *target, uint32_t *layer_n,
                    const void *const **layer)
{
    if (!target || !layer_n || !layer)
        return AS_CL_INVALID_VALUE;
    const uint32_t n = entries_n < AS_OPENCL_TABLE_N ? entries_n : AS_OPENCL_TABLE_N;
    memcpy(as_opencl_target, target, n * sizeof *target);
    as_opencl_calls_begin();
    as_wrapped_begin(AS_TRACER_OPENCL);
    if (as_wrapped_hooks)
        fill_table(layer_table);
    for (uint32_t i = 0; i < AS_OPENCL_TABLE_N; i++)
        if (!layer_table[i] || !as_opencl_target[i])
            layer_table[i] = as_opencl_target[i];
    *layer_n = n;
    *layer = (const void *const *)layer_table;
    return 0;
}
