// SPDX-License-Identifier: Apache-2.0
/* cause: Names without a unit are common in the data. Each of them is found out by an
 * exception.
 * place: factor convert
 * finding: exceptions
 * flags: -O2 -g
 * arguments: 7000000
 * repair: The name is sought with find, which tells the absence by its result.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

class Units
{
  public:
    Units()
    {
        const char *base[] = {"m", "g", "s", "A", "K", "mol", "cd", "Pa", "J", "W", "V", "N"};
        const char *prefix[] = {"", "k", "M", "G", "m", "u", "n", "p"};
        const double scale[] = {1.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 1e-12};
        for (const char *b : base)
            for (int k = 0; k < 8; ++k)
                table_.emplace(std::string(prefix[k]) + b, scale[k]);
    }

    __attribute__((noinline)) double factor(const std::string &name) const
    {
#ifdef REPAIRED
        auto it = table_.find(name);
        return it == table_.end() ? 1.0 : it->second;
#else
        try {
            return table_.at(name);           /* HERE */
        } catch (const std::out_of_range &) { /* HERE */
            return 1.0;
        }
#endif
    }

  private:
    std::unordered_map<std::string, double> table_;
};

struct Quantity {
    double value;
    std::string unit;
};

// A table column as it comes from a survey: most entries have a
// physical unit, the others are plain counts with a label of their own.
std::vector<Quantity> column(std::size_t n)
{
    static const char *known[] = {"km", "mg", "s", "mA", "K", "kPa", "MJ", "GW"};
    static const char *labels[] = {"persons", "pieces", "percent", "shares"};
    std::vector<Quantity> out;
    std::uint32_t s = 31u;
    for (std::size_t i = 0; i < n; ++i) {
        s = s * 1664525u + 1013904223u;
        double v = static_cast<double>(s >> 16) / 64.0;
        bool label = (s >> 10) % 9 == 0;
        out.push_back({v, label ? labels[s >> 30] : known[s >> 29]});
    }
    return out;
}

struct Moments {
    double sum = 0.0;
    double squares = 0.0;
    long count = 0;

    void add(double v)
    {
        sum += v;
        squares += v * v;
        ++count;
    }
};

std::size_t bucket(const std::string &unit)
{
    std::uint32_t h = 2166136261u;
    for (unsigned char c : unit)
        h = (h ^ c) * 16777619u;
    return (h ^ h >> 15) % 16;
}

__attribute__((noinline)) void convert(const Units &units, const std::vector<Quantity> &in,
                                       std::vector<Moments> &out)
{
    for (const Quantity &q : in) {
        double si = q.value * units.factor(q.unit); /* HERE */
        out[bucket(q.unit)].add(si);
    }
}

} // namespace

int main(int argc, char **argv)
{
    long entries = argc > 1 ? std::atol(argv[1]) : 20000;
    const std::size_t length = 10000;
    Units units;
    std::vector<Quantity> data = column(length);
    std::vector<Moments> moments(16);
    for (long done = 0; done < entries; done += static_cast<long>(length))
        convert(units, data, moments);
    double sum = 0.0;
    long count = 0;
    for (const Moments &m : moments)
        if (m.count) {
            sum += m.sum / static_cast<double>(m.count);
            count += m.count;
        }
    std::printf("unitlookup %ld %.9e\n", count, sum);
    return 0;
}
