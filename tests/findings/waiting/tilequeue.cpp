// SPDX-License-Identifier: Apache-2.0
/* cause: The lock of the tile store is held while a tile is decoded. Only the choice of the
 * next tile needs it.
 * place: fetch decode
 * finding: lock_contention
 * flags: -O2 -g -pthread
 * arguments: 1700
 * repair: The lock covers only the choice of the next tile, and the tile is decoded after it is
 * released.
 * clock: wall */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int kSide = 256;
constexpr std::size_t kSamples = std::size_t{kSide} * kSide;

struct Tile {
    int number = -1;
    std::vector<std::int16_t> samples = std::vector<std::int16_t>(kSamples);
};

class TileStore
{
  public:
    explicit TileStore(int tiles) : tiles_(tiles)
    {
        std::uint32_t s = 5u;
        for (int k = 0; k < 4; ++k) {
            std::vector<std::uint8_t> code;
            while (code.size() < kSamples) {
                s = s * 1664525u + 1013904223u;
                code.push_back(static_cast<std::uint8_t>(s >> 24));
            }
            codes_.push_back(std::move(code));
        }
    }

    // Returns false when no tile is left.
    bool fetch(Tile &tile)
    {
#ifdef REPAIRED
        {
            std::lock_guard<std::mutex> guard(mutex_);
            if (next_ == tiles_)
                return false;
            tile.number = next_++;
        }
        decode(tile);
#else
        std::lock_guard<std::mutex> guard(mutex_); /* HERE */
        if (next_ == tiles_)
            return false;
        tile.number = next_++;
        decode(tile); /* HERE */
#endif
        return true;
    }

  private:
    // Adaptive differential code: the step width follows the signal.
    __attribute__((noinline)) void decode(Tile &tile) const
    {
        const auto &code = codes_[static_cast<std::size_t>(tile.number) % codes_.size()];
        int value = tile.number, step = 16;
        for (std::size_t i = 0; i < kSamples; ++i) {
            int c = code[i];
            for (int shift = 0; shift < 8; shift += 4) {
                int nibble = c >> shift & 15;
                int delta = ((nibble & 7) * 2 + 1) * step >> 3;
                value += (nibble & 8) ? -delta : delta;
                value = value > 32767 ? 32767 : value < -32768 ? -32768 : value;
                step = step * (230 + (nibble & 7) * 12) >> 8;
                step = step < 7 ? 7 : step > 8191 ? 8191 : step;
            }
            tile.samples[i] = static_cast<std::int16_t>(value);
        }
    }

    std::mutex mutex_;
    int tiles_;
    int next_ = 0;
    std::vector<std::vector<std::uint8_t>> codes_;
};

__attribute__((noinline)) std::uint64_t summarise(const Tile &tile)
{
    std::uint64_t energy = 0;
    for (int y = 1; y < kSide; ++y)
        for (int x = 1; x < kSide; ++x) {
            std::size_t at = static_cast<std::size_t>(y) * kSide + x;
            int d = tile.samples[at] - tile.samples[at - kSide];
            int e = tile.samples[at] - tile.samples[at - 1];
            energy += static_cast<std::uint64_t>(std::abs(d) + std::abs(e));
        }
    return energy * static_cast<std::uint64_t>(tile.number % 13 + 1);
}

void serve(TileStore &store, std::uint64_t &result)
{
    Tile tile;
    std::uint64_t sum = 0;
    while (store.fetch(tile))
        sum += summarise(tile);
    result = sum;
}

} // namespace

int main(int argc, char **argv)
{
    int tiles = argc > 1 ? std::atoi(argv[1]) : 50;
    TileStore store(tiles);
    std::uint64_t result[2] = {0, 0};
    std::thread a(serve, std::ref(store), std::ref(result[0]));
    std::thread b(serve, std::ref(store), std::ref(result[1]));
    a.join();
    b.join();
    std::printf("tilequeue %llu\n", static_cast<unsigned long long>(result[0] + result[1]));
    return 0;
}
