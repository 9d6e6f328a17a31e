/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The rows of the image are 4096 bytes apart, so a column falls into few cache sets.
 * place: remove_stripe remove_stripes Image
 * finding: set_conflicts
 * false: scalar_chain scalar_arithmetic memory_bandwidth
 * flags: -O2 -g
 * arguments: 512 400
 * repair: Each row is longer by one cache line.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef REPAIRED
static constexpr size_t padding = 8;
#else
static constexpr size_t padding = 0;
#endif

class Image
{
  public:
    Image(size_t height, size_t width)
        : height(height), width(width), pitch(width + padding), pixels(height * pitch)
    {
    }

    double &at(size_t row, size_t column)
    {
        return pixels[row * pitch + column];
    }

    const size_t height, width;

  private:
    const size_t pitch;
    std::vector<double> pixels;
};

/* Subtracts the mean of a column: detectors of a push-broom camera differ in their offset. */
static void remove_stripe(Image &image, size_t column)
{
    double sum = 0;

    for (size_t row = 0; row < image.height; row++) /* HERE */
        sum += image.at(row, column);               /* HERE */
    sum /= static_cast<double>(image.height);
    for (size_t row = 0; row < image.height; row++) /* HERE */
        image.at(row, column) -= sum;               /* HERE */
}

static void remove_stripes(Image &image)
{
    for (size_t column = 0; column < image.width; column++)
        remove_stripe(image, column);
}

static void expose(Image &image, int shot)
{
    for (size_t row = shot % 16; row < image.height; row += 16)
        for (size_t column = 0; column < image.width; column++)
            image.at(row, column) += static_cast<double>((row ^ column) % 32);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t n = strtoul(argv[1], nullptr, 10);
    Image image(n, n);
    double checksum = 0;

    for (int shot = 0; shot < atoi(argv[2]); shot++) {
        expose(image, shot);
        remove_stripes(image);
        checksum += image.at(shot % n, n / 2);
    }
    printf("checksum %.6f\n", checksum);
}
