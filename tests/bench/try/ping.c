/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from one CPU: two processes that wait for each other through pipes. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int to[2], back[2];
    char byte = 0;
    if (pipe(to) != 0 || pipe(back) != 0)
        return 1;
    if (fork() == 0) {
        for (int i = 0; i < 40000; i++)
            if (read(to[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
                _exit(1);
        _exit(0);
    }
    for (int i = 0; i < 40000; i++)
        if (write(to[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    wait(NULL);
    puts("done");
    return 0;
}
