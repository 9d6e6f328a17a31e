/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Literals of double precision convert each pixel of single precision to double and back.
 * place: map_tones luminance curve develop
 * finding: conversions filled_by_conversions double_precision
 * false: memory_latency memory_bandwidth scalar_calls page_faults copying
 * flags: -O3 -g
 * arguments: 512 96 6500
 * repair: All literals are of single precision.
 * clock: cpu */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Develops raw images: brightness, tone curve and colours. */

#ifdef REPAIRED
#define LITERAL(x) x##f
#else
#define LITERAL(x) x
#endif

struct Image {
    int width, height;
    std::vector<float> red, green, blue;

    Image(int w, int h) : width(w), height(h), red(pixel_n()), green(pixel_n()), blue(pixel_n())
    {
    }

    size_t pixel_n() const
    {
        return static_cast<size_t>(width) * static_cast<size_t>(height);
    }
};

static void expose(Image &image)
{
    unsigned state = 21;

    for (size_t i = 0; i < image.pixel_n(); i++) {
        state = state * 1664525u + 1013904223u;
        image.red[i] = static_cast<float>(state >> 8 & 255) / 256;
        image.green[i] = static_cast<float>(state >> 16 & 255) / 256;
        image.blue[i] = static_cast<float>(state >> 24) / 256;
    }
}

static inline float luminance(float red, float green, float blue)
{
    return LITERAL(0.2126) * red + LITERAL(0.7152) * green + LITERAL(0.0722) * blue; /* HERE */
}

/* A polynomial for the tone curve of the film. */
static inline float curve(float x)
{
    return x * (LITERAL(1.85) + x * (LITERAL(-1.4) + x * (LITERAL(0.75) - LITERAL(0.2) * x)));
}

static void map_tones(const float *__restrict from_red, const float *__restrict from_green,
                      const float *__restrict from_blue, float *__restrict red,
                      float *__restrict green, float *__restrict blue, size_t pixel_n)
{
    for (size_t i = 0; i < pixel_n; i++) { /* HERE */
        float grey = luminance(from_red[i], from_green[i], from_blue[i]);
        float tone = curve(grey);                                       /* HERE */
        float warmth = LITERAL(0.9) + LITERAL(0.1) * tone;              /* HERE */
        red[i] = tone + LITERAL(0.8) * warmth * (from_red[i] - grey);   /* HERE */
        green[i] = tone + LITERAL(0.8) * (from_green[i] - grey);        /* HERE */
        blue[i] = tone + LITERAL(0.8) * (from_blue[i] - grey) / warmth; /* HERE */
    }
}

static void develop(const Image &raw, Image &developed)
{
    map_tones(raw.red.data(), raw.green.data(), raw.blue.data(), developed.red.data(),
              developed.green.data(), developed.blue.data(), raw.pixel_n());
}

/* Adds some of the developed image to the raw one, so that no pass is superfluous. */
static void feed_back(Image &raw, const Image &developed, size_t row)
{
    size_t first = row % static_cast<size_t>(raw.height) * static_cast<size_t>(raw.width);

    for (size_t i = first; i < first + static_cast<size_t>(raw.width); i++)
        raw.red[i] = 0.5f * (raw.red[i] + developed.red[i]);
}

static double mean_of(const std::vector<float> &channel)
{
    double total = 0;

    for (float value : channel)
        total += static_cast<double>(value);
    return total / static_cast<double>(channel.size());
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    Image raw(atoi(argv[1]), atoi(argv[2])), developed(raw.width, raw.height);

    expose(raw);
    for (int frame = 0; frame < atoi(argv[3]); frame++) {
        develop(raw, developed);
        feed_back(raw, developed, static_cast<size_t>(frame));
    }
    printf("means %.3f %.3f %.3f\n", mean_of(developed.red), mean_of(developed.green),
           mean_of(developed.blue));
}
