/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each small tile of an image is computed by a new thread.
 * place: render_pair render async pthread_create clone clone3
 * finding: parallel_overhead system_calls kernel_time short_threads
 * words: (?i)thread\w*.*(creat|start|spawn|pool)|(creat|start|spawn)\w* .*thread|\bclone|pool
 * false: load_imbalance lock_contention memory_bandwidth memory_latency input_output false_sharing
 * flags: -O2 -g -pthread
 * arguments: 64 30000 120
 * repair: Two threads live for the whole image and share its tiles.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

/* Computes how fast points of the plane escape; an image is a sequence of tiles. */

struct View {
    int tile_width, tile_n, max_step;
};

struct Point {
    double x, y;
};

/* Returns the centre of a tile: a spiral around the interesting region. */
static Point centre_of(const View &view, int tile)
{
    double part = static_cast<double>(tile) / view.tile_n;

    return {-0.1 - 0.9 * part, 0.2 + 0.8 * part * (1 - part)};
}

static int steps_to_escape(Point at, int max_step)
{
    double x = 0, y = 0;

    for (int step = 0; step < max_step; step++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4)
            return step;
        y = 2 * x * y + at.y;
        x = xx - yy + at.x;
    }
    return max_step;
}

/* Returns the sum of the steps of all points of a tile. */
static long compute_tile(const View &view, int tile)
{
    Point centre = centre_of(view, tile);
    long total = 0;

    for (int i = 0; i < view.tile_width; i++)
        total += steps_to_escape({centre.x + 0.001 * i, centre.y}, view.max_step);
    return total;
}

#ifdef REPAIRED
static void render_part(const View &view, int first, std::vector<long> &steps)
{
    for (int tile = first; tile < view.tile_n; tile += 2)
        steps[static_cast<size_t>(tile)] = compute_tile(view, tile);
}

static void render(const View &view, std::vector<long> &steps)
{
    std::thread other(render_part, std::ref(view), 1, std::ref(steps));

    render_part(view, 0, steps);
    other.join();
}
#else
/* Computes two tiles at once, one for each CPU. */
static void render_pair(const View &view, int tile, std::vector<long> &steps)
{
    auto first = std::async(std::launch::async, compute_tile, view, tile);      /* HERE */
    auto second = std::async(std::launch::async, compute_tile, view, tile + 1); /* HERE */

    steps[static_cast<size_t>(tile)] = first.get();
    steps[static_cast<size_t>(tile) + 1] = second.get();
}

static void render(const View &view, std::vector<long> &steps)
{
    for (int tile = 0; tile + 1 < view.tile_n; tile += 2)
        render_pair(view, tile, steps); /* HERE */
}
#endif

static long total_of(const std::vector<long> &steps)
{
    long total = 0;

    for (long of_tile : steps)
        total += of_tile;
    return total;
}

/* Returns a code of all tiles in their order. */
static uint64_t code_of(const std::vector<long> &steps)
{
    uint64_t code = 0;

    for (long of_tile : steps)
        code = (code ^ static_cast<uint64_t>(of_tile)) * 0x100000001b3u;
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    View view{atoi(argv[1]), atoi(argv[2]) / 2 * 2, atoi(argv[3])};
    std::vector<long> steps(static_cast<size_t>(view.tile_n), -1);

    render(view, steps);
    for (long of_tile : steps)
        if (of_tile < 0) {
            fprintf(stderr, "thread_tasks: a tile is missing\n");
            return 1;
        }
    printf("%ld steps, code %016llx\n", total_of(steps),
           static_cast<unsigned long long>(code_of(steps)));
}
