/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace of Paraver as large as wanted: timeline_trace PATH.prv LINES. 64 ranks compute,
 * send to the next rank and wait, with calls and counters. Lines are in the order of time. A rank
 * has 7 lines for each step of 100 us.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS           64
#define LINES_OF_A_STEP 7
#define STEP_NS         INT64_C(100000)
#define LINE_B          160

struct step_line {
    int64_t ns;
    int number; /* of the line in the step: lines of one time keep their order */
    char text[LINE_B];
};

static int compare_step_lines(const void *a, const void *b)
{
    const struct step_line *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : x->number - y->number;
}

#define ADD(time, ...)                                                                             \
    do {                                                                                           \
        line[n].ns = (time);                                                                       \
        line[n].number = n;                                                                        \
        snprintf(line[n].text, LINE_B, __VA_ARGS__);                                               \
        n++;                                                                                       \
    } while (0)

/* The lines of one rank in one step; returns the number of all lines so far. */
static int add_rank(struct step_line *line, int n, int64_t step, int rank)
{
    const int64_t begin = step * STEP_NS, end = begin + STEP_NS;
    const int64_t call = begin + 60000 + (rank * 7919 + step * 104729) % 20000;
    const int64_t size = INT64_C(1024) << step % 8;
    const int other = rank % RANKS + 1;
    char who[48];
    snprintf(who, sizeof who, "%d:1:%d:1", rank, rank);
    ADD(begin, "1:%s:%" PRId64 ":%" PRId64 ":1\n", who, begin, call);
    ADD(call, "1:%s:%" PRId64 ":%" PRId64 ":%d\n", who, call, end, step % 5 ? 3 : 13);
    ADD(begin + 1, "2:%s:%" PRId64 ":60000019:%" PRId64 "\n", who, begin + 1, step % 7 + 1);
    ADD(call, "2:%s:%" PRId64 ":50000001:%" PRId64 ":42000050:%" PRId64 ":42000059:%" PRId64 "\n",
        who, call, step % 3 + 1, call - begin, 2 * (call - begin));
    ADD(call,
        "3:%s:%" PRId64 ":%" PRId64 ":%d:1:%d:1:%" PRId64 ":%" PRId64 ":%" PRId64 ":%" PRId64 "\n",
        who, call, call + 10, other, other, end - 100, end - 50, size, step % 4);
    ADD(call + 5, "2:%s:%" PRId64 ":50100001:%" PRId64 "\n", who, call + 5, size);
    ADD(end - 1, "2:%s:%" PRId64 ":50000001:0:42000050:77:42000059:99\n", who, end - 1);
    return n;
}

static void write_head(FILE *out, int64_t steps)
{
    fprintf(out, "#Paraver (01/01/2026 at 00:00):%" PRId64 "_ns:1(%d):1:%d(", steps * STEP_NS,
            RANKS, RANKS);
    for (int rank = 0; rank < RANKS; rank++)
        fprintf(out, "%s1:1", rank ? "," : "");
    fprintf(out, "),0\n");
}

static void write_labels(const char *prv)
{
    char path[4096];
    snprintf(path, sizeof path, "%.*s.pcf", (int)(strlen(prv) - 4), prv);
    FILE *out = fopen(path, "w");
    if (!out)
        return;
    fputs("STATES\n1 Running\n3 Waiting a message\n13 Group Communication\n\nEVENT_TYPE\n"
          "0 50000001 Call\nVALUES\n0 End\n1 Send\n2 Recv\n3 Isend\n",
          out);
    fclose(out);
}

int main(int argc, char **argv)
{
    static struct step_line line[RANKS * LINES_OF_A_STEP];
    const int64_t steps = argc > 2 ? strtoll(argv[2], NULL, 10) / (RANKS * LINES_OF_A_STEP) : 0;
    FILE *out = steps > 0 && strlen(argv[1]) > 4 ? fopen(argv[1], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: timeline_trace PATH.prv LINES\n");
        return 2;
    }
    write_head(out, steps);
    for (int64_t step = 0; step < steps; step++) {
        int n = 0;
        for (int rank = 1; rank <= RANKS; rank++)
            n = add_rank(line, n, step, rank);
        qsort(line, (size_t)n, sizeof *line, compare_step_lines);
        for (int i = 0; i < n; i++)
            fputs(line[i].text, out);
    }
    write_labels(argv[1]);
    return fclose(out) != 0;
}
