/* SPDX-License-Identifier: Apache-2.0 */
/* cause: qsort brings all 49 values of a window into order, although only the median is needed.
 * place: window_median despeckle qsort qsort_r msort_with_tmp msort_with_tmp.part.0 by_value
 * place: _quicksort __qsort_r
 * finding: library_calls pointer_calls calls_in_loop
 * words: (?i)qsort|sort|comparison|median|select|callback|\bcalls?\b|inline
 * false: memory_bandwidth memory_latency cache_latency divisions page_faults
 * flags: -O2 -g
 * arguments: 160 56
 * repair: The median is selected by partitions of the part that contains it.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SPAN   7
#define WINDOW (SPAN * SPAN)

struct radar_image {
    int side;
    uint16_t *echo, *clean;
};

#ifndef REPAIRED
static int by_value(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}
#endif

/* Returns the median of a window and changes the order of its values. */
static uint16_t __attribute__((noinline)) window_median(uint16_t *v)
{
#ifdef REPAIRED
    int low = 0, high = WINDOW - 1, middle = WINDOW / 2;

    while (low < high) {
        uint16_t pivot = v[middle];
        int i = low, j = high;

        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                uint16_t t = v[i];

                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (j < middle)
            low = i;
        if (i > middle)
            high = j;
    }
#else
    qsort(v, WINDOW, sizeof *v, by_value); /* HERE */
#endif
    return v[WINDOW / 2];
}

static void despeckle(struct radar_image *image)
{
    int side = image->side, edge = SPAN / 2;
    uint16_t window[WINDOW];

    for (int y = edge; y < side - edge; y++)
        for (int x = edge; x < side - edge; x++) {
            int n = 0;

            for (int dy = -edge; dy <= edge; dy++)
                for (int dx = -edge; dx <= edge; dx++)
                    window[n++] = image->echo[(y + dy) * side + x + dx];
            image->clean[y * side + x] = window_median(window);
        }
}

static void receive(struct radar_image *image, uint32_t *seed)
{
    for (int i = 0; i < image->side * image->side; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        image->echo[i] = (uint16_t)(*seed >> 17);
    }
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 64, sweeps = argc > 2 ? atoi(argv[2]) : 2;
    size_t pixels = (size_t)side * (size_t)side;
    struct radar_image image = {side, calloc(pixels, 2), calloc(pixels, 2)};
    uint32_t seed = 77u, h = 2166136261u;

    if (!image.echo || !image.clean)
        return 2;
    for (int s = 0; s < sweeps; s++) {
        receive(&image, &seed);
        despeckle(&image);
        for (size_t i = 0; i < pixels; i++)
            h = (h ^ image.clean[i]) * 16777619u;
    }
    printf("despeckle %08x\n", h);
    free(image.echo);
    free(image.clean);
    return 0;
}
