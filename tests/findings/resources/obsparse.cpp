// SPDX-License-Identifier: Apache-2.0
/* cause: A string stream is built for each line. The numbers are read through it with the means
 * of the locale.
 * place: parse
 * finding: formatted_text
 * flags: -O2 -g
 * arguments: 4000 330
 * repair: The fields are read in place with std::from_chars.
 * clock: cpu */
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace
{

struct Observation {
    int station = 0;
    long time = 0;
    double pressure = 0.0;
    double temperature = 0.0;
    double humidity = 0.0;
};

struct Mean {
    double pressure = 0.0;
    double temperature = 0.0;
    double humidity = 0.0;
    long count = 0;
};

std::vector<std::string> report(int lines)
{
    std::vector<std::string> out;
    std::uint32_t s = 4242u;
    char text[96];
    for (int i = 0; i < lines; ++i) {
        s = s * 1664525u + 1013904223u;
        std::snprintf(text, sizeof text, "%d %d %u.%u %u.%02u %u.%u", 100 + i % 40,
                      1700000000 + i * 10, 950 + (s >> 26), (s >> 8) % 10, (s >> 20) % 30,
                      (s >> 4) % 100, (s >> 16) % 100, s % 10);
        out.emplace_back(text);
    }
    return out;
}

#ifdef REPAIRED
template <class T> bool read(const char *&at, const char *end, T &value)
{
    while (at != end && *at == ' ')
        ++at;
    auto r = std::from_chars(at, end, value);
    at = r.ptr;
    return r.ec == std::errc();
}

__attribute__((noinline)) bool parse(const std::string &line, Observation &o)
{
    const char *at = line.data(), *end = at + line.size();
    return read(at, end, o.station) && read(at, end, o.time) && read(at, end, o.pressure) &&
           read(at, end, o.temperature) && read(at, end, o.humidity);
}
#else
__attribute__((noinline)) bool parse(const std::string &line, Observation &o)
{
    std::istringstream in(line);                                        /* HERE */
    return static_cast<bool>(in >> o.station >> o.time >> o.pressure >> /* HERE */
                             o.temperature >> o.humidity);
}
#endif

bool plausible(const Observation &o)
{
    return o.pressure > 900.0 && o.pressure < 1100.0 && o.humidity <= 100.0;
}

class Climate
{
  public:
    void add(const Observation &o)
    {
        Mean &m = stations_[o.station];
        m.pressure += o.pressure;
        m.temperature += o.temperature;
        m.humidity += o.humidity;
        ++m.count;
        last_ = o.time > last_ ? o.time : last_;
    }

    void print(long rejected) const
    {
        double p = 0.0, t = 0.0, h = 0.0;
        for (const auto &[number, m] : stations_) {
            p += m.pressure / m.count;
            t += m.temperature / m.count;
            h += m.humidity / m.count;
        }
        std::printf("obsparse %zu %ld %ld %.6f %.6f %.6f\n", stations_.size(), last_, rejected, p,
                    t, h);
    }

  private:
    std::map<int, Mean> stations_;
    long last_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    int lines = argc > 1 ? std::atoi(argv[1]) : 1000;
    int passes = argc > 2 ? std::atoi(argv[2]) : 10;
    std::vector<std::string> text = report(lines);
    Climate climate;
    long rejected = 0;
    for (int p = 0; p < passes; ++p)
        for (const std::string &line : text) {
            Observation o;
            if (parse(line, o) && plausible(o))
                climate.add(o);
            else
                ++rejected;
        }
    climate.print(rejected);
    return 0;
}
