/* SPDX-License-Identifier: Apache-2.0 */
/* finding: pointer_chase; flags: -O2; repair: an array in place of the list;
 * says: follows pointers: each load needs the address that the last iteration loaded */
#include "program.h"

#define N 1024

struct node {
    struct node *next;
    long value;
};

static struct node node[N];

static long follow(const struct node *at)
{
    long all = 0;

    for (; at; at = at->next)
        all += at->value;
    return all;
}

__attribute__((unused)) static long add(const long *value)
{
    long all = 0;

    for (int i = 0; i < N; i++)
        all += value[i];
    return all;
}

int main(void)
{
    static long value[N];
    long all = 0;

    for (int i = 0; i < N; i++) {
        node[i].next = i + 1 < N ? &node[i + 1] : NULL;
        node[i].value = value[i] = i;
    }
    for (int round = 0; round < 400000; round++) {
        value[round % N]++;
        node[round % N].value++;
#ifdef REPAIRED
        all += add(value);
#else
        all += follow(node);
#endif
    }
    return done((double)all + (double)follow(node));
}
