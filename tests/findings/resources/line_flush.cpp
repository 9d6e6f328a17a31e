/* SPDX-License-Identifier: Apache-2.0 */
/* cause: std::endl flushes the file after each line, which makes a system call of each.
 * place: write_event write_report endl flush
 * finding: input_output system_calls
 * false: memory_management copying compression waiting
 * flags: -O2 -g
 * arguments: 700000
 * repair: Lines end in a newline without a flush.
 * clock: cpu */
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

struct Event {
    long time, channel, energy;
};

static Event event_of(long i)
{
    return {i * 25, i % 16, (i * 7919) % 4096};
}

static void write_event(std::ostream &to, const Event &event)
{
    to << event.time << ' ' << event.channel << ' ' << event.energy;
#ifdef REPAIRED
    to << '\n';
#else
    to << std::endl; /* HERE */
#endif
}

static void write_report(std::ostream &to, long n)
{
    to << "time channel energy\n";
    for (long i = 0; i < n; i++)
        write_event(to, event_of(i)); /* HERE */
}

static long sum_report(const std::string &path)
{
    std::ifstream report(path);
    std::string heading;
    Event event;
    long sum = 0;

    std::getline(report, heading);
    while (report >> event.time >> event.channel >> event.energy)
        sum += event.time ^ event.channel ^ event.energy;
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const char *directory = getenv("TMPDIR");
    std::string path = std::string(directory ? directory : "/tmp") + "/report-XXXXXX";

    close(mkstemp(path.data()));
    {
        std::ofstream report(path);
        write_report(report, atol(argv[1]));
    }
    printf("checksum %ld\n", sum_report(path));
    unlink(path.c_str());
}
