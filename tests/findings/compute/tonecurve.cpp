// SPDX-License-Identifier: Apache-2.0
/* cause: For the compiler the stores through a byte pointer may change the members. Each sample
 * reloads them.
 * place: level blend
 * finding: reloads
 * flags: -O3 -g
 * arguments: 900
 * repair: The members are copied to local variables, and the pointers are marked as free of
 * overlap.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

struct Settings {
    int gain = 256;
    int offset = 0;
    int mix = 128;
};

class Channel
{
  public:
    Channel(std::size_t samples, std::uint32_t seed)
        : store_(samples), result_(samples), count_(static_cast<int>(samples))
    {
        for (auto &v : store_) {
            seed = seed * 1664525u + 1013904223u;
            v = static_cast<std::uint8_t>(seed >> 24);
        }
        in_ = store_.data();
        out_ = result_.data();
    }

    void configure(const Settings &s)
    {
        settings_ = s;
    }

    __attribute__((noinline)) void level()
    {
#ifdef REPAIRED
        const std::uint8_t *__restrict in = in_;
        std::uint8_t *__restrict out = out_;
        const int gain = settings_.gain, offset = settings_.offset;
        const int count = count_;
        for (int i = 0; i < count; ++i)
            out[i] = clamp((in[i] * gain + offset) >> 8);
#else
        for (int i = 0; i < count_; ++i)                                        /* HERE */
            out_[i] = clamp((in_[i] * settings_.gain + settings_.offset) >> 8); /* HERE */
#endif
    }

    __attribute__((noinline)) void blend(const Channel &other)
    {
#ifdef REPAIRED
        const std::uint8_t *__restrict with = other.out_;
        std::uint8_t *__restrict out = out_;
        const int mix = settings_.mix;
        const int count = count_;
        for (int i = 0; i < count; ++i)
            out[i] = clamp((out[i] * mix + with[i] * (256 - mix)) >> 8);
#else
        for (int i = 0; i < count_; ++i)                                        /* HERE */
            out_[i] = clamp((out_[i] * settings_.mix +                          /* HERE */
                             other.out_[i] * (256 - settings_.mix)) >>
                            8);
#endif
    }

    std::uint32_t checksum() const
    {
        std::uint32_t h = 2166136261u;
        for (int i = 0; i < count_; i += 37)
            h = (h ^ out_[i]) * 16777619u;
        return h;
    }

  private:
    static std::uint8_t clamp(int v)
    {
        return static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
    }

    std::vector<std::uint8_t> store_;
    std::vector<std::uint8_t> result_;
    std::uint8_t *in_;
    std::uint8_t *out_;
    int count_;
    Settings settings_;
};

class Picture
{
  public:
    explicit Picture(std::size_t samples)
    {
        for (std::uint32_t c = 0; c < 3; ++c)
            channels_.emplace_back(samples, 17u + c * 101u);
    }

    std::uint32_t develop(int frame)
    {
        std::uint32_t h = 0;
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            Settings s;
            s.gain = 240 + (frame * 7 + static_cast<int>(c) * 5) % 64;
            s.offset = -1000 + frame % 300;
            s.mix = 90 + (frame * 11) % 100;
            channels_[c].configure(s);
            channels_[c].level();
        }
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            channels_[c].blend(channels_[(c + 1) % channels_.size()]);
            h = h * 31 + channels_[c].checksum();
        }
        return h;
    }

  private:
    std::vector<Channel> channels_;
};

} // namespace

int main(int argc, char **argv)
{
    int frames = argc > 1 ? std::atoi(argv[1]) : 20;
    Picture picture(std::size_t{320} * 240 * 2);
    std::uint32_t h = 0;
    for (int f = 0; f < frames; ++f)
        h = h * 16777619u ^ picture.develop(f);
    std::printf("tonecurve %08x\n", h);
    return 0;
}
