/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a run: finds variables that affect speed, and computes a digest of all that
 * may. data/launch/environment.txt has the patterns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "launch/data.h"
#include "launch/internal.h"

/* Returns true if `name`, with or without "=VALUE", matches a pattern. */
static bool fits_any(const char *name, const char *const *pattern)
{
    const size_t n = strcspn(name, "=");
    for (; *pattern; pattern++) {
        const size_t length = strlen(*pattern), star = length && (*pattern)[length - 1] == '*';
        if (star ? n >= length - 1 && memcmp(name, *pattern, length - 1) == 0
                 : n == length && memcmp(name, *pattern, n) == 0)
            return true;
    }
    return false;
}

bool as_launch_variable_matters(const char *name)
{
    return fits_any(name, as_launch_rank) ||
           (fits_any(name, as_launch_speed) && !fits_any(name, as_launch_shell));
}

bool as_launch_variable_is_of_rank(const char *name)
{
    return fits_any(name, as_launch_rank);
}

/* FNV-1a with a final mix, because plain FNV hashes of similar texts have similar sums. */
static uint64_t variable_hash(const char *text)
{
    uint64_t hash = as_fnv_mix(AS_FNV_BASIS, text, strlen(text));
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 33;
}

void as_launch_environment_digest(const char *const *environment, char out[17])
{
    uint64_t sum = 0; /* a sum does not depend on the order */
    if (!environment)
        environment = (const char *const *)environ;
    for (; *environment; environment++)
        if (!fits_any(*environment, as_launch_shell) && !fits_any(*environment, as_launch_rank))
            sum += variable_hash(*environment);
    snprintf(out, 17, "%016" PRIx64, sum);
}
