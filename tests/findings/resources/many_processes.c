/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A new process computes the name of each file, which costs far more than the name.
 * place: name_of_file sum_names posix_spawn popen
 * finding: short_processes
 * words: (?i)\bfork|\bspawn|process(es)? (start|creat)|(start|creat)\w* .*process|exec
 * false: input_output waiting page_faults parallel_overhead load_imbalance lock_contention
 * flags: -O2 -g
 * arguments: 900
 * repair: The program finds the name itself.
 * clock: wall */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void path_of(char *path, size_t size, int i)
{
    snprintf(path, size, "archive/%04d/run%02d/data-%d.txt", i % 1000, i % 17, i);
}

/* Copies the last part of a path. */
static void name_of_file(const char *path, char *name, size_t size)
{
#ifdef REPAIRED
    const char *slash = strrchr(path, '/');

    snprintf(name, size, "%s\n", slash ? slash + 1 : path);
#else
    char command[256];

    snprintf(command, sizeof command, "basename '%s'", path);
    FILE *output = popen(command, "r"); /* HERE */

    if (!output || !fgets(name, (int)size, output))
        abort();
    pclose(output); /* HERE */
#endif
}

static unsigned hash_of(const char *text)
{
    unsigned hash = 5381;

    for (int round = 0; round < 20000; round++)
        for (const char *at = text; *at; at++)
            hash = hash * 33 + (unsigned char)*at;
    return hash;
}

static unsigned sum_names(int n)
{
    char path[128], name[128];
    unsigned sum = 0;

    for (int i = 0; i < n; i++) {
        path_of(path, sizeof path, i);
        name_of_file(path, name, sizeof name);
        sum += hash_of(name);
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    printf("checksum %u\n", sum_names(atoi(argv[1])));
    return 0;
}
