/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Missing values are common, and the parser throws an exception for each.
 * place: parse_number parse_or read_column
 * finding: exceptions
 * words: (?i)exception|throw|unwind|catch
 * false: memory_management copying scalar_chain lock_contention no_debug
 * flags: -O2 -g
 * arguments: 400000
 * repair: The parser returns an empty value without an exception.
 * clock: cpu */
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

static std::vector<std::string> column_of(long n)
{
    std::vector<std::string> fields;

    for (long i = 0; i < n; i++)
        fields.push_back(i % 3 ? std::to_string(i * 31 % 100000) : "n/a");
    return fields;
}

#ifdef REPAIRED
static std::optional<long> parse_number(const std::string &text)
{
    long value;
    const char *end = text.data() + text.size();

    if (std::from_chars(text.data(), end, value).ec != std::errc())
        return std::nullopt;
    return value;
}

static long parse_or(const std::string &text, long otherwise)
{
    return parse_number(text).value_or(otherwise);
}
#else
static long parse_number(const std::string &text)
{
    long value;
    const char *end = text.data() + text.size();

    if (std::from_chars(text.data(), end, value).ec != std::errc())
        throw std::invalid_argument("not a number: " + text); /* HERE */
    return value;
}

static long parse_or(const std::string &text, long otherwise)
{
    try {
        return parse_number(text); /* HERE */
    } catch (const std::invalid_argument &) {
        return otherwise; /* HERE */
    }
}
#endif

static long read_column(const std::vector<std::string> &fields)
{
    long sum = 0;

    for (const std::string &field : fields)
        sum += parse_or(field, -1);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    std::vector<std::string> fields = column_of(atol(argv[1]));
    long checksum = 0;

    for (int round = 0; round < 8; round++) {
        checksum += read_column(fields);
        fields[round * 3 + 1] = "n/a";
    }
    printf("checksum %ld\n", checksum);
}
