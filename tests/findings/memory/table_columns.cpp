/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The statistics walk down the columns of a table with one vector for each row.
 * place: column_mean column_spread describe
 * finding: strided_walk array_access memory_latency cache_latency
 * false: scalar_chain calls_in_loop
 * flags: -O2 -g
 * arguments: 20000 160 32
 * repair: One walk over the rows collects the sums of all columns.
 * clock: cpu */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Row = std::vector<double>;

struct Summary {
    double mean, spread;
};

static std::vector<Row> read_table(int row_n, int column_n)
{
    std::vector<Row> table;
    unsigned state = 1;

    for (int r = 0; r < row_n; r++) {
        Row row(column_n);
        for (double &value : row) {
            state = state * 1664525u + 1013904223u;
            value = state >> 16;
        }
        table.push_back(row);
    }
    return table;
}

static double column_mean(const std::vector<Row> &table, size_t column)
{
    double sum = 0;

    for (const Row &row : table) /* HERE */
        sum += row[column];      /* HERE */
    return sum / table.size();
}

static double column_spread(const std::vector<Row> &table, size_t column, double mean)
{
    double sum = 0;

    for (const Row &row : table)                            /* HERE */
        sum += (row[column] - mean) * (row[column] - mean); /* HERE */
    return std::sqrt(sum / table.size());
}

static std::vector<Summary> describe(const std::vector<Row> &table)
{
    std::vector<Summary> all(table[0].size());

#ifdef REPAIRED
    for (const Row &row : table)
        for (size_t c = 0; c < all.size(); c++)
            all[c].mean += row[c];
    for (Summary &one : all)
        one.mean /= table.size();
    for (const Row &row : table)
        for (size_t c = 0; c < all.size(); c++)
            all[c].spread += (row[c] - all[c].mean) * (row[c] - all[c].mean);
    for (Summary &one : all)
        one.spread = std::sqrt(one.spread / table.size());
#else
    for (size_t c = 0; c < all.size(); c++) {
        all[c].mean = column_mean(table, c);
        all[c].spread = column_spread(table, c, all[c].mean);
    }
#endif
    return all;
}

static void shift(std::vector<Row> &table, int by)
{
    for (size_t r = 0; r < table.size(); r += 16)
        table[r][by % table[r].size()] += by;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    std::vector<Row> table = read_table(atoi(argv[1]), atoi(argv[2]));
    double checksum = 0;

    for (int round = 0; round < atoi(argv[3]); round++) {
        for (const Summary &one : describe(table))
            checksum += one.mean + one.spread;
        shift(table, round);
    }
    printf("checksum %.6f\n", checksum);
}
