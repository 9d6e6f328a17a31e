/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The regular expression is compiled again for each line of the accounting file.
 * place: parse_line summarise basic_regex regex _Compiler _M_compile __compile_nfa
 * finding: library_calls memory_management copying calls_in_loop
 * words: (?i)regex|regular expression|compil|memory management|alloc|static
 * false: memory_latency memory_bandwidth divisions page_faults input_output waiting
 * flags: -O2 -g
 * arguments: 30000
 * repair: The expression is compiled once.
 * clock: cpu */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace
{

struct Event {
    std::string queue;
    long job = 0, seconds = 0;
};

std::vector<std::string> accounting_lines(long n)
{
    static const char *const queues[] = {"long", "short", "gpu", "debug"};
    std::vector<std::string> lines;
    std::uint32_t s = 3u;

    for (long i = 0; i < n; i++) {
        s = s * 1664525u + 1013904223u;
        const char *state = (s >> 29) ? "end" : "start";
        lines.push_back(std::string(state) + " job=" + std::to_string(100000 + i) + " queue=" +
                        queues[s >> 20 & 3] + " wall=" + std::to_string(s >> 16 & 4095));
    }
    return lines;
}

// Returns false if the line is not the end of a job.
__attribute__((noinline)) bool parse_line(const std::string &line, Event &event)
{
#ifdef REPAIRED
    static
#endif
        const std::regex pattern("end job=([0-9]+) queue=([a-z]+) wall=([0-9]+)"); /* HERE */
    std::smatch match;

    if (!std::regex_match(line, match, pattern))
        return false;
    event.job = std::stol(match[1]);
    event.queue = match[2];
    event.seconds = std::stol(match[3]);
    return true;
}

std::map<std::string, long> summarise(const std::vector<std::string> &lines)
{
    std::map<std::string, long> seconds;
    Event event;

    for (const std::string &line : lines)
        if (parse_line(line, event))
            seconds[event.queue] += event.seconds * (event.job % 7 + 1);
    return seconds;
}

} // namespace

int main(int argc, char **argv)
{
    const long lines = argc > 1 ? std::atol(argv[1]) : 100;

    std::printf("job_events");
    for (const auto &[queue, seconds] : summarise(accounting_lines(lines)))
        std::printf(" %s %ld", queue.c_str(), seconds);
    std::printf("\n");
    return 0;
}
