/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that is waited for, files and memory, each so many times: filter_io FILE ... The lock is
 * given back when its word says that another waits (glibc's: 2). */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_it(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(int argc, char **argv)
{
    char *volatile block;
    char byte = 'x';
    pthread_t thread;
    if (argc < 2)
        return 2;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, wait_for_it, NULL);
    while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
        usleep(1000);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 30; i++) {
        if (write(fd, &byte, 1) != 1 || pread(fd, &byte, 1, i) != 1)
            return 1;
        block = malloc(16384);
        *block = 1;
        free(block);
        block = calloc(1, 16384);
        free(block);
    }
    close(fd);
    return 0;
}
