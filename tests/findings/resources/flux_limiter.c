/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The settings are asked from the environment again for each face. getenv compares all
 * variables each time.
 * place: setting limited_flux advect getenv strtod __GI_getenv ____strtod_l_internal strncmp
 * place: __strtod_l __strncmp_avx2 __strncmp_evex __strncmp_sse42
 * finding: library_calls formatted_text copying calls_in_loop
 * words: (?i)getenv|environment|strtod|\bcalls?\b|outside (of )?the loop|before the loop
 * false: memory_latency memory_bandwidth divisions page_faults system_calls
 * flags: -O2 -g
 * variables: MODEL_ROOT=/srv/model MODEL_GRID=r2b6 MODEL_LEVELS=90 MODEL_NUDGING=off
 * variables: MODEL_CALENDAR=proleptic MODEL_RESTART=1 MODEL_TIMERS=0 MODEL_LOG=quiet
 * variables: MODEL_OUTPUT=netcdf MODEL_AEROSOL=climatology MODEL_OZONE=cmip MODEL_LAKES=1
 * variables: MODEL_COUPLER=none MODEL_PARTITION=2x1 MODEL_THETA=1.6
 * arguments: 4000 4500
 * repair: The settings are read once before the first step.
 * clock: cpu */
#include <stdio.h>
#include <stdlib.h>

struct settings {
    double theta, floor;
};

struct tracer {
    int n;
    double *value, *flux;
};

static double setting(const char *name, double otherwise)
{
    const char *text = getenv(name); /* HERE */

    return text ? strtod(text, NULL) : otherwise; /* HERE */
}

static struct settings read_settings(void)
{
    struct settings s = {setting("MODEL_THETA", 1.5), setting("MODEL_FLOOR", 0.0)};

    return s;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Flux through the right face of a cell, by a slope that makes no new extremes. */
static double __attribute__((noinline))
limited_flux(const double *v, double courant, const struct settings *s)
{
    double left = v[0] - v[-1], right = v[1] - v[0], slope = 0;

    if (left > 0 && right > 0)
        slope = least(s->theta * least(left, right), (left + right) / 2);
    else if (left < 0 && right < 0)
        slope = -least(-s->theta * (left > right ? left : right), -(left + right) / 2);
    if (v[0] < s->floor)
        slope = 0;
    return courant * (v[0] + (1 - courant) / 2 * slope);
}

static void advect(struct tracer *t, double courant, const struct settings *given)
{
    for (int i = 2; i < t->n - 2; i++) { /* HERE */
#ifdef REPAIRED
        t->flux[i] = limited_flux(&t->value[i], courant, given);
#else
        struct settings current = read_settings(); /* HERE */

        (void)given;
        t->flux[i] = limited_flux(&t->value[i], courant, &current);
#endif
    }
    for (int i = 3; i < t->n - 2; i++)
        t->value[i] += t->flux[i - 1] - t->flux[i];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200, steps = argc > 2 ? atoi(argv[2]) : 10;
    struct tracer t = {n, calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
    struct settings settings = read_settings();
    double sum = 0;

    if (!t.value || !t.flux)
        return 2;
    for (int i = n / 8; i < n / 4; i++)
        t.value[i] = 1 + 0.5 * (i % 16) / 16.0;
    for (int s = 0; s < steps; s++)
        advect(&t, 0.4, &settings);
    for (int i = 0; i < n; i++)
        sum += t.value[i] * (i + 1);
    printf("flux_limiter %.9e\n", sum);
    free(t.value);
    free(t.flux);
    return 0;
}
