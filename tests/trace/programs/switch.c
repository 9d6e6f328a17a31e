/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does as its arguments say, in order: a number writes so many bytes, which is what the trace shows
 * of it; "off" and "on" switch the trace; "signal" sends USR2 to the process, "handler" has one for
 * it, "handled N" fails unless that was called N times; "make F" and "remove F" are of a file;
 * "rest MS" waits; "fork" goes on in a child, and the parent waits for it.
 */
#define _GNU_SOURCE
#include <assay/assay.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static char bytes[4096];

static void count_signal(int number)
{
    (void)number;
    handled++;
}

static void make_file(const char *path)
{
    if (mknod(path, S_IFREG | 0600, 0) < 0)
        exit(3);
}

static int does_alone(const char *word, int sink)
{
    if (strcmp(word, "off") == 0)
        assay_off();
    else if (strcmp(word, "on") == 0)
        assay_on();
    else if (strcmp(word, "signal") == 0)
        raise(SIGUSR2);
    else if (strcmp(word, "handler") == 0)
        signal(SIGUSR2, count_signal);
    else if (atoi(word) > 0)
        return write(sink, bytes, (size_t)atoi(word)) > 0;
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    const int sink = open("/dev/null", O_WRONLY);
    for (int i = 1; i < argc; i++) {
        if (does_alone(argv[i], sink))
            continue;
        if (strcmp(argv[i], "fork") == 0) {
            int status;
            if (fork() > 0)
                return wait(&status) < 0 || status != 0;
            continue;
        }
        const char *word = argv[i++];
        if (i >= argc)
            return 2;
        if (strcmp(word, "handled") == 0 && handled != atoi(argv[i]))
            return 4;
        if (strcmp(word, "rest") == 0)
            usleep(1000 * (useconds_t)atoi(argv[i]));
        if (strcmp(word, "make") == 0)
            make_file(argv[i]);
        if (strcmp(word, "remove") == 0)
            unlink(argv[i]);
    }
    return 0;
}
