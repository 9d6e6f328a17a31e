/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The order book is a linked list, and its nodes lie in memory at random.
 * place: value_of_book count_above
 * finding: memory_latency pointer_chase cache_latency
 * false: scalar_chain scalar_exit memory_bandwidth
 * flags: -O2 -g
 * arguments: 400000 12
 * repair: The orders lie in memory in the order of the list.
 * clock: cpu */
#include <stdio.h>
#include <stdlib.h>

struct order {
    long price, quantity;
    struct order *next;
};

static unsigned long seed = 88172645463325252u;

static unsigned long draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static struct order **receive_orders(long n)
{
    struct order **orders = malloc((size_t)n * sizeof *orders);

    for (long i = 0; i < n; i++) {
        orders[i] = malloc(sizeof *orders[i]);
        *orders[i] = (struct order){(long)(draw() % 10000), (long)(draw() % 50), NULL};
    }
    return orders;
}

/* Links the orders in an arbitrary order, as priorities would. */
static struct order *link_orders(struct order **orders, long n)
{
    for (long i = n - 1; i > 0; i--) {
        long other = (long)(draw() % (unsigned long)(i + 1));
        struct order *moved = orders[i];

        orders[i] = orders[other];
        orders[other] = moved;
    }
    for (long i = 0; i + 1 < n; i++)
        orders[i]->next = orders[i + 1];
    return orders[0];
}

#ifdef REPAIRED
/* Copies the list into one array; the links lead from each element to the next. */
static struct order *pack_orders(const struct order *list, long n)
{
    struct order *packed = malloc((size_t)n * sizeof *packed);

    for (long i = 0; i < n; i++, list = list->next) {
        packed[i] = *list;
        packed[i].next = i + 1 < n ? &packed[i + 1] : NULL;
    }
    return packed;
}
#endif

static long value_of_book(const struct order *list)
{
    long value = 0;

    for (; list; list = list->next)            /* HERE */
        value += list->price * list->quantity; /* HERE */
    return value;
}

static long count_above(const struct order *list, long price)
{
    long n = 0;

    for (; list; list = list->next) /* HERE */
        n += list->price > price;   /* HERE */
    return n;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long n = atol(argv[1]), checksum = 0;
    struct order **orders = receive_orders(n);
    struct order *book = link_orders(orders, n);

#ifdef REPAIRED
    book = pack_orders(book, n);
#endif
    for (int round = 0; round < atoi(argv[2]); round++) {
        checksum += value_of_book(book) + count_above(book, round * 500);
        book->quantity++;
    }
    printf("checksum %ld\n", checksum);
    return 0;
}
