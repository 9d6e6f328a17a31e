/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each search clears the flags of the whole graph, although it visits a few nodes.
 * place: start search load_around fill memset Visited
 * finding: clearing
 * words: (?i)memset|\bclears?\b|clear(ed|ing)\b|\bzero(es|ing)\b|std::fill|initiali[sz]
 * false: memory_latency scalar_chain scalar_arithmetic memory_given_back copying page_faults
 * flags: -O2 -g
 * arguments: 1400 1000 40000 6
 * repair: A node is visited if it has the number of the search.
 * clock: cpu */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Finds the load of a street network near random points, up to some steps away. */

struct Network {
    int width, height;
    std::vector<int> first;
    std::vector<int> neighbours;
    std::vector<int> load;

    int node_n() const
    {
        return width * height;
    }
};

static void connect(Network &network, int x, int y, unsigned &state)
{
    static const int STEPS[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

    for (const auto &step : STEPS) {
        int to_x = x + step[0], to_y = y + step[1];
        state = state * 1664525u + 1013904223u;
        if (to_x < 0 || to_y < 0 || to_x >= network.width || to_y >= network.height)
            continue;
        if (state >> 29)
            network.neighbours.push_back(to_y * network.width + to_x);
    }
}

static Network make_network(int width, int height)
{
    Network network{width, height, {}, {}, {}};
    unsigned state = 5;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            network.first.push_back(static_cast<int>(network.neighbours.size()));
            network.load.push_back((x * 31 + y * 17) % 101);
            connect(network, x, y, state);
        }
    network.first.push_back(static_cast<int>(network.neighbours.size()));
    return network;
}

/* Marks the nodes of one search after the other. */
class Visited
{
  public:
    explicit Visited(int node_n) : marks(node_n, 0)
    {
    }

    void start()
    {
#ifdef REPAIRED
        current++;
#else
        std::fill(marks.begin(), marks.end(), 0); /* HERE */
#endif
    }

    bool visit(int node)
    {
        if (marks[node] == current)
            return false;
        marks[node] = current;
        return true;
    }

  private:
#ifdef REPAIRED
    std::vector<uint32_t> marks;
    uint32_t current = 0;
#else
    std::vector<uint8_t> marks;
    static constexpr uint8_t current = 1;
#endif
};

class Search
{
  public:
    explicit Search(const Network &of) : network(of), visited(of.node_n())
    {
    }

    long load_around(int source, int step_n)
    {
        visited.start(); /* HERE */
        visited.visit(source);
        front.assign(1, source);
        long load = network.load[source];
        for (int step = 0; step < step_n; step++)
            load += advance();
        return load;
    }

  private:
    /* Moves the front by one step; returns the load of the new front. */
    long advance()
    {
        long load = 0;

        next.clear();
        for (int node : front)
            for (int i = network.first[node]; i < network.first[node + 1]; i++) {
                int to = network.neighbours[i];
                if (!visited.visit(to))
                    continue;
                next.push_back(to);
                load += network.load[to];
            }
        front.swap(next);
        return load;
    }

    const Network &network;
    Visited visited;
    std::vector<int> front, next;
};

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    Network network = make_network(atoi(argv[1]), atoi(argv[2]));
    Search search(network);
    unsigned state = 11;
    long total = 0, highest = 0;

    for (int query = 0; query < atoi(argv[3]); query++) {
        state = state * 1664525u + 1013904223u;
        int source = static_cast<int>(static_cast<uint64_t>(state) * network.node_n() >> 32);
        long load = search.load_around(source, atoi(argv[4]));
        total += load;
        highest = std::max(highest, load);
    }
    printf("load %ld, at most %ld\n", total, highest);
}
