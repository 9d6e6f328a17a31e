/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The server asks the kernel for the age of its configuration before each request.
 * place: configuration_is_new serve
 * finding: system_calls input_output
 * words: (?i)stat.*(call it less often|keep what it gives)
 * false: scalar_chain memory_latency page_faults
 * flags: -O2 -g
 * arguments: 900000
 * repair: The age is looked up for each 1000th request.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#ifdef REPAIRED
#define REQUESTS_PER_CHECK 1000
#else
#define REQUESTS_PER_CHECK 1
#endif

struct server {
    const char *configuration;
    time_t read_at;
    uint64_t key;
    long request_n;
};

static int configuration_is_new(struct server *server)
{
    struct stat file;

    if (server->request_n++ % REQUESTS_PER_CHECK)
        return 0;
    if (stat(server->configuration, &file)) /* HERE */
        abort();
    return file.st_mtime > server->read_at;
}

static void read_configuration(struct server *server)
{
    server->read_at = time(NULL);
    server->key = 0x9e3779b97f4a7c15u;
}

static uint64_t answer(const struct server *server, uint64_t request)
{
    for (int i = 0; i < 40; i++)
        request = (request ^ (request >> 29)) * (server->key | 1);
    return request;
}

static uint64_t serve(struct server *server, uint64_t request)
{
    if (configuration_is_new(server)) /* HERE */
        read_configuration(server);
    return answer(server, request);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct server server = {.configuration = argv[0]};
    uint64_t checksum = 0;

    read_configuration(&server);
    for (long i = 0; i < atol(argv[1]); i++)
        checksum += serve(&server, (uint64_t)i);
    printf("checksum %llu\n", (unsigned long long)checksum);
    return 0;
}
