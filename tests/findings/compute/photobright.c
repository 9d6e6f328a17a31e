/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Constants and functions of double type in the single-precision kernels turn all values
 * to double and back.
 * place: tonemap weight
 * finding: conversions double_precision
 * flags: -O3 -g -fno-math-errno
 * libraries: -lm
 * arguments: 1300
 * repair: The constants and the root are of single precision.
 * clock: cpu */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH  640
#define HEIGHT 400
#define PIXELS (WIDTH * HEIGHT)

struct image {
    float *red;
    float *green;
    float *blue;
    float *light;
    float *mask;
};

static float *plane(void)
{
    float *p = aligned_alloc(64, sizeof(float) * PIXELS);
    if (!p)
        exit(2);
    return p;
}

static void expose(struct image *im)
{
    unsigned s = 4711u;
    for (int i = 0; i < PIXELS; i++) {
        s = s * 1664525u + 1013904223u;
        im->red[i] = (float)(s >> 24) / 64.0f;
        im->green[i] = (float)(s >> 16 & 255) / 64.0f;
        im->blue[i] = (float)(s >> 8 & 255) / 64.0f;
    }
}

/* Global tone curve of the luminance. */
static void __attribute__((noinline))
tonemap(const float *restrict red, const float *restrict green, const float *restrict blue,
        float *restrict light)
{
    for (int i = 0; i < PIXELS; i++) {
#ifdef REPAIRED
        float l = 0.25f * red[i] + 0.5f * green[i] + 0.25f * blue[i];
        light[i] = l * (1.0f + 0.0625f * l) / (1.0f + l);
#else
        float l = 0.25 * red[i] + 0.5 * green[i] + 0.25 * blue[i]; /* HERE */
        light[i] = l * (1.0 + 0.0625 * l) / (1.0 + l);             /* HERE */
#endif
    }
}

/* Weight of each pixel in the exposure fusion. */
static void __attribute__((noinline)) weight(const float *restrict light, float *restrict mask)
{
    for (int i = 0; i < PIXELS; i++) {
#ifdef REPAIRED
        float d = light[i] - 0.5f;
        float e = d * d;
        mask[i] = 1.0f / sqrtf(1.0f + e);
#else
        float d = light[i] - 0.5;                                  /* HERE */
        float e = d * d;
        mask[i] = 1.0 / sqrt(1.0 + e); /* HERE */
#endif
    }
}

static void scale(struct image *im, int frame)
{
    float gain = frame % 2 ? 0.5f : 2.0f;
    for (int i = 0; i < PIXELS; i++) {
        im->red[i] *= gain;
        im->green[i] *= gain;
        im->blue[i] *= gain;
    }
}

static double blend(const struct image *im)
{
    double sum = 0.0, norm = 0.0;
    for (int i = 0; i < PIXELS; i += 61) {
        sum += (double)im->light[i] * im->mask[i];
        norm += im->mask[i];
    }
    return sum / norm;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 10;
    struct image im = {plane(), plane(), plane(), plane(), plane()};
    double mean = 0.0;

    expose(&im);
    for (int f = 0; f < frames; f++) {
        tonemap(im.red, im.green, im.blue, im.light);
        weight(im.light, im.mask);
        mean += blend(&im);
        scale(&im, f);
    }
    printf("photobright %.6f\n", mean / frames);
    free(im.red);
    free(im.green);
    free(im.blue);
    free(im.light);
    free(im.mask);
    return 0;
}
