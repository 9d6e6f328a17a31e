/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Stores of bytes may change the members of the images, so nothing is vectorised.
 * place: blend
 * finding: reloads
 * words: (?i)overlap|alias|restrict|local (variable|cop)
 * false: memory_bandwidth memory_latency scalar_chain
 * flags: -O3 -g
 * arguments: 640 480 2500
 * repair: The loop works with local pointers that do not alias.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Image {
    uint8_t *pixels;
    int width, height, pitch;
};

struct Fader {
    Image background, sprite, result;
    int opacity;

    __attribute__((noinline)) void blend();
    long brightness() const;
};

void Fader::blend()
{
#ifdef REPAIRED
    const int width = result.width, part = opacity;

    for (int y = 0; y < result.height; y++) {
        const uint8_t *__restrict from = background.pixels + y * background.pitch;
        const uint8_t *__restrict over = sprite.pixels + y * sprite.pitch;
        uint8_t *__restrict to = result.pixels + y * result.pitch;

        for (int x = 0; x < width; x++)
            to[x] = static_cast<uint8_t>((from[x] * (256 - part) + over[x] * part) >> 8);
    }
#else
    for (int y = 0; y < result.height; y++)
        for (int x = 0; x < result.width; x++)    /* HERE */
            result.pixels[y * result.pitch + x] = /* HERE */
                (background.pixels[y * background.pitch + x] * (256 - opacity) +
                 sprite.pixels[y * sprite.pitch + x] * opacity) >>
                8;
#endif
}

long Fader::brightness() const
{
    long sum = 0;

    for (int i = 0; i < result.pitch * result.height; i += 61)
        sum += result.pixels[i];
    return sum;
}

static Image image_of(std::vector<uint8_t> &memory, int width, int height, int seed)
{
    memory.resize(width * height);
    for (size_t i = 0; i < memory.size(); i++)
        memory[i] = static_cast<uint8_t>(i * seed >> 3);
    return {memory.data(), width, height, width};
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int width = atoi(argv[1]), height = atoi(argv[2]);
    std::vector<uint8_t> memory[3];
    Fader fader = {image_of(memory[0], width, height, 3), image_of(memory[1], width, height, 5),
                   image_of(memory[2], width, height, 7), 0};
    long checksum = 0;

    for (int frame = 0; frame < atoi(argv[3]); frame++) {
        fader.opacity = frame % 257;
        fader.blend();
        checksum += fader.brightness();
    }
    printf("checksum %ld\n", checksum);
}
