/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts loops with data outside of the first-level cache: the bytes that an iteration moves,
 * divided by the measured bandwidth of the machine. The bandwidth is known for four ratios of reads
 * to writes. Between them, the cycles per byte are interpolated. Hardware prefetching overlaps
 * computation and data movement, so the prediction is the maximum of both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "machine/machine.h"
#include "predict/internal.h"

const char *as_predict_level_name(enum as_predict_level level)
{
    static const char *const name[] = {"L1", "L2", "L3", "RAM"};
    return (unsigned)level < AS_PREDICT_LEVELS ? name[level] : "?";
}

/* ---- Traffic -------------------------------------------------------------------------------- */

/* Returns the number of cache lines in which accesses of one array begin, for steps that skip
 * lines. */
static double lines_of(const struct as_streams *streams, uint32_t array, double line_b)
{
    double lines = 0;
    for (size_t i = 0; i < streams->n; i++) {
        const struct as_memory_stream *a = &streams->at[i];
        bool seen = a->array != array || a->stride == AS_STRIDE_ZERO;
        for (size_t k = 0; k < i && !seen; k++)
            seen = streams->at[k].array == array &&
                   floor((double)streams->at[k].offset_b / line_b) ==
                       floor((double)a->offset_b / line_b); /* NOLINT: whole numbers */
        lines += seen ? 0 : 1;
    }
    return lines;
}

static bool is_first_of_array(const struct as_streams *streams, size_t i, bool *written)
{
    bool first = true;
    *written = false;
    for (size_t k = 0; k < streams->n; k++) {
        const struct as_memory_stream *other = &streams->at[k];
        if (other->array != streams->at[i].array || other->stack != streams->at[i].stack)
            continue;
        *written |= (other->access & AS_ACCESS_WRITE) != 0;
        first &= k >= i || other->stride == AS_STRIDE_ZERO;
    }
    return first;
}

static void add_indirect(const struct as_memory_stream *stream, struct as_traffic *out)
{
    const double n = stream->element_b && stream->width_b > stream->element_b
                         ? (double)stream->width_b / stream->element_b
                         : 1;
    out->gathered_n += n;
    out->gathers |= n > 1;
}

void as_traffic_of(const struct as_streams *streams, double line_b, struct as_traffic *out)
{
    *out = (struct as_traffic){0};
    for (size_t i = 0; i < streams->n; i++) {
        const struct as_memory_stream *stream = &streams->at[i];
        bool written;
        if (stream->stack || stream->stride == AS_STRIDE_ZERO)
            continue;
        if (stream->stride == AS_STRIDE_INDIRECT) {
            add_indirect(stream, out);
            continue;
        }
        if (stream->stride == AS_STRIDE_UNKNOWN) {
            out->unknown_n++;
            continue;
        }
        if (!is_first_of_array(streams, i, &written))
            continue;
        const double step = fabs((double)stream->stride_b);
        const double holes = lines_of(streams, stream->array, line_b) * line_b;
        const double moved = step > holes ? holes : step;
        *(written ? &out->written_b : &out->read_b) += moved;
    }
}

/* ---- Time ----------------------------------------------------------------------------------- */

static const char *const stored_level[] = {"L1", "L2", "L3", "memory"};

static double figure_of(const struct as_figures *figures, const char *format,
                        enum as_predict_level level, const char **lacking)
{
    static char name[64]; /* name of the last missing figure */
    char wanted[64];
    snprintf(wanted, sizeof wanted, format, stored_level[level]);
    const struct as_figure *figure = as_figures_find(figures, wanted);
    if (figure && figure->value > 0)
        return figure->value;
    memcpy(name, wanted, sizeof name);
    if (lacking)
        *lacking = name;
    return -1;
}

/* Returns the frequency in Hz of a core that runs vector code, or another known frequency. Returns
 * -1 if there is none. */
static double frequency_of(const struct as_figures *figures)
{
    for (size_t i = 0; i < figures->figure_n; i++)
        if (strncmp(figures->figure[i].name, "frequency.", 10) == 0 && figures->figure[i].value > 0)
            return figures->figure[i].value;
    return -1;
}

/* Returns the seconds per byte for the share of written bytes, or -1 if a figure is missing. */
static double seconds_of_byte(const struct as_figures *figures, enum as_predict_level level,
                              double written, const char **lacking)
{
    static const struct {
        double written;
        const char *figure;
    } known[] = {{0, "bandwidth.read.%s.core"},
                 {1. / 3, "bandwidth.triad.%s.core"},
                 {1. / 2, "bandwidth.copy.%s.core"},
                 {1, "bandwidth.write.%s.core"}};
    size_t high = 1;
    while (high < 3 && known[high].written < written)
        high++;
    const double below = figure_of(figures, known[high - 1].figure, level, lacking);
    const double above = figure_of(figures, known[high].figure, level, lacking);
    if (below < 0 || above < 0)
        return -1;
    const double at =
        (written - known[high - 1].written) / (known[high].written - known[high - 1].written);
    return (1 - at) / below + at / above;
}

bool as_predict_at(const struct as_traffic *traffic, const struct as_figures *figures,
                   enum as_predict_level level, double cycles, double *out, const char **lacking)
{
    const double bytes = traffic->read_b + traffic->written_b;
    double seconds = 0;
    *out = cycles;
    if (level == AS_PREDICT_L1)
        return true;
    const double frequency = frequency_of(figures);
    if (frequency < 0) {
        if (lacking)
            *lacking = "frequency";
        return false;
    }
    if (bytes > 0) {
        const double each = seconds_of_byte(figures, level, traffic->written_b / bytes, lacking);
        if (each < 0)
            return false;
        seconds += bytes * each;
    }
    if (traffic->gathered_n > 0) {
        const double each =
            figure_of(figures, traffic->gathers ? "gather.vector.%s.core" : "gather.scalar.%s.core",
                      level, lacking);
        if (each < 0)
            return false;
        /* The figure includes the stream of indices. */
        seconds = fmax(seconds, traffic->gathered_n * each * 1e-9);
    }
    *out = fmax(cycles, seconds * frequency);
    return true;
}
