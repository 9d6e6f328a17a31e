/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each frame allocates a large buffer, which goes back to the kernel and faults again.
 * place: render compose Canvas
 * finding: memory_given_back page_faults
 * words: (?i)reuse|use it again|keep
 * false: memory_management copying memory_bandwidth memory_pace
 * flags: -O2 -g
 * arguments: 3000 1600 70
 * repair: One buffer serves all frames.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <memory>

struct Canvas {
    std::unique_ptr<double[]> pixels;
    size_t width, height;

    Canvas(size_t width, size_t height)
        : pixels(new double[width * height]), width(width), height(height) /* HERE */
    {
    }
};

static void render(Canvas &canvas, int frame)
{
    for (size_t y = 0; y < canvas.height; y++) {
        double *row = &canvas.pixels[y * canvas.width];
        for (size_t x = 0; x < canvas.width; x++)
            row[x] = static_cast<double>((x ^ y) + frame); /* HERE */
    }
}

static double brightness(const Canvas &canvas)
{
    double sum = 0;

    for (size_t i = 0; i < canvas.width * canvas.height; i += 509)
        sum += canvas.pixels[i];
    return sum;
}

static double compose(size_t width, size_t height, int frame)
{
#ifdef REPAIRED
    static Canvas canvas(width, height);
#else
    Canvas canvas(width, height); /* HERE */
#endif

    render(canvas, frame);
    return brightness(canvas);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    double checksum = 0;

    for (int frame = 0; frame < atoi(argv[3]); frame++)
        checksum += compose(atol(argv[1]), atol(argv[2]), frame);
    printf("checksum %.0f\n", checksum);
}
