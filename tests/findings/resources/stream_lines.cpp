/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each line is parsed by a string stream of its own, which costs more than the numbers.
 * place: parse_line read_trajectory basic_istringstream basic_stringbuf basic_ios locale _M_extract
 * place: num_get _M_extract_float _M_extract_int ios_base
 * finding: formatted_text
 * words: (?i)stringstream|iostream|istream|\blocale|from_chars|\bstrto|string stream
 * false: memory_latency memory_bandwidth page_faults waiting scalar_chain input_output
 * flags: -O2 -g
 * arguments: 4000 240
 * repair: The numbers are converted in place by from_chars.
 * clock: cpu */
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

/* Reads the trajectory of a protein and computes how far its atoms move. */

struct Atom {
    int serial = 0, residue = 0;
    double x = 0, y = 0, z = 0;
};

using Frame = std::vector<Atom>;

/* Returns a frame as a text with a line for each atom. */
static std::string text_of_frame(int atom_n, int frame)
{
    std::string text;
    char line[96];
    unsigned state = 77u + static_cast<unsigned>(frame);

    for (int i = 0; i < atom_n; i++) {
        state = state * 1664525u + 1013904223u;
        double shift = 0.001 * (state >> 22);
        snprintf(line, sizeof line, "%d %d %.3f %.3f %.3f\n", i + 1, i / 8 + 1, 0.5 * i + shift,
                 40 - 0.25 * i + shift, 10 + shift);
        text += line;
    }
    return text;
}

#ifdef REPAIRED
template <class T> static bool read_number(const char *&at, const char *end, T &number)
{
    while (at < end && *at == ' ')
        at++;
    std::from_chars_result found = std::from_chars(at, end, number);
    at = found.ptr;
    return found.ec == std::errc();
}

static bool parse_line(const std::string &line, Atom &atom)
{
    const char *at = line.data(), *end = at + line.size();

    return read_number(at, end, atom.serial) && read_number(at, end, atom.residue) &&
           read_number(at, end, atom.x) && read_number(at, end, atom.y) &&
           read_number(at, end, atom.z);
}
#else
static bool parse_line(const std::string &line, Atom &atom)
{
    std::istringstream stream(line); /* HERE */

    stream >> atom.serial >> atom.residue >> atom.x >> atom.y >> atom.z; /* HERE */
    return !stream.fail();
}
#endif

/* Takes the next line of a text; returns false at its end. */
static bool next_line(const std::string &text, size_t &at, std::string &line)
{
    size_t end = text.find('\n', at);

    if (end == std::string::npos)
        return false;
    line.assign(text, at, end - at);
    at = end + 1;
    return true;
}

static bool parse_frame(const std::string &text, Frame &frame)
{
    std::string line;
    size_t at = 0;
    Atom atom;

    frame.clear();
    while (next_line(text, at, line)) {
        if (!parse_line(line, atom)) /* HERE */
            return false;
        frame.push_back(atom);
    }
    return true;
}

/* Returns the mean square of the distances between two frames. */
static double mean_square(const Frame &first, const Frame &second)
{
    double total = 0;

    for (size_t i = 0; i < first.size(); i++) {
        double dx = second[i].x - first[i].x, dy = second[i].y - first[i].y,
               dz = second[i].z - first[i].z;
        total += dx * dx + dy * dy + dz * dz;
    }
    return total / static_cast<double>(first.size());
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    enum { STORED = 4 };
    std::vector<std::string> stored;
    Frame first, frame;
    double total = 0;

    for (int i = 0; i < STORED; i++)
        stored.push_back(text_of_frame(atoi(argv[1]), i));
    for (int i = 0; i < atoi(argv[2]); i++) {
        if (!parse_frame(stored[static_cast<size_t>(i % STORED)], frame)) {
            fprintf(stderr, "stream_lines: a line is damaged\n");
            return 1;
        }
        if (i == 0)
            first = frame;
        total += mean_square(first, frame);
    }
    printf("%zu atoms, sum of mean squares %.9f\n", frame.size(), total);
}
