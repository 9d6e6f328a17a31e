// SPDX-License-Identifier: Apache-2.0
/* cause: The nodes of the mesh have numbers in random order. Neighbouring edges fetch them from
 * all over the memory.
 * place: accumulate
 * finding: memory_latency cache_latency array_access
 * flags: -O2 -g
 * arguments: 900 14
 * repair: The nodes are renumbered in the order of their first use by the edges before the
 * iteration starts.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace
{

struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    float weight;
};

struct Node {
    float state[3];
    float rate[3];
};

class Random
{
  public:
    explicit Random(std::uint32_t seed) : s_(seed)
    {
    }
    std::uint32_t operator()()
    {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 17;
        s_ ^= s_ << 5;
        return s_;
    }

  private:
    std::uint32_t s_;
};

class Mesh
{
  public:
    explicit Mesh(unsigned side) : nodes_(std::size_t{side} * side)
    {
        std::vector<std::uint32_t> label = labels(nodes_.size());
        build(side, label);
#ifdef REPAIRED
        renumber();
#endif
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            Node &n = nodes_[edges_[e].from];
            n.state[0] = static_cast<float>(e % 17);
            n.state[1] = static_cast<float>(e % 29);
            n.state[2] = static_cast<float>(e % 5);
        }
    }

    __attribute__((noinline)) void accumulate()
    {
        for (const Edge &e : edges_) {
            Node &a = nodes_[e.from]; /* HERE */
            Node &b = nodes_[e.to];   /* HERE */
            for (int k = 0; k < 3; ++k) {
                float f = e.weight * (b.state[k] - a.state[k]);
                a.rate[k] += f;
                b.rate[k] -= f;
            }
        }
    }

    __attribute__((noinline)) void update(float dt)
    {
        for (Node &n : nodes_)
            for (int k = 0; k < 3; ++k) {
                n.state[k] += dt * n.rate[k];
                n.rate[k] = 0.0f;
            }
    }

    double moment() const
    {
        double sum = 0.0;
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            const Node &n = nodes_[edges_[e].to];
            sum += (e % 7) * (n.state[0] + 2.0 * n.state[1] - n.state[2]);
        }
        return sum;
    }

  private:
    // Stands for the numbers that the mesh generator has handed out.
    static std::vector<std::uint32_t> labels(std::size_t n)
    {
        std::vector<std::uint32_t> label(n);
        std::iota(label.begin(), label.end(), 0u);
        Random rng(2463534242u);
        for (std::size_t i = n - 1; i > 0; --i)
            std::swap(label[i], label[rng() % (i + 1)]); /* HERE */
        return label;
    }

    void build(unsigned side, const std::vector<std::uint32_t> &label)
    {
        edges_.reserve(3 * nodes_.size());
        for (unsigned y = 0; y < side; ++y)
            for (unsigned x = 0; x < side; ++x) {
                std::uint32_t at = label[y * side + x];
                float w = 0.125f * static_cast<float>(1 + (x * 3 + y) % 4);
                if (x + 1 < side)
                    edges_.push_back({at, label[y * side + x + 1], w});
                if (y + 1 < side)
                    edges_.push_back({at, label[(y + 1) * side + x], w});
                if (x + 1 < side && y + 1 < side)
                    edges_.push_back({at, label[(y + 1) * side + x + 1], w});
            }
    }

#ifdef REPAIRED
    void renumber()
    {
        const std::uint32_t none = ~0u;
        std::vector<std::uint32_t> number(nodes_.size(), none);
        std::uint32_t next = 0;
        for (Edge &e : edges_)
            for (std::uint32_t *n : {&e.from, &e.to}) {
                if (number[*n] == none)
                    number[*n] = next++;
                *n = number[*n];
            }
    }
#endif

    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
};

} // namespace

int main(int argc, char **argv)
{
    unsigned side = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 300;
    int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    Mesh mesh(side);
    for (int s = 0; s < steps; ++s) {
        mesh.accumulate();
        mesh.update(0.0625f);
    }
    std::printf("meshflux %.6f\n", mesh.moment());
    return 0;
}
