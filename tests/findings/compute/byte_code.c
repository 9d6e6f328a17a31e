/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A machine for byte code takes one instruction after the other; no option helps.
 * place: execute
 * finding: nothing
 * false: scalar_branches scalar_chain scalar_gather scalar_arithmetic scalar_exit
 * false: narrow_accesses memory_latency array_access oldest_instruction_set
 * flags: -O2 -g
 * arguments: 250000
 * naive: Options that vectorise and unroll are set.
 * naive flags: -O3 -g -march=native
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PUSH,
    ADD,
    SUB,
    HALVE,
    TRIPLE,
    ODD,
    DUP,
    SWAP,
    DROP,
    JUMP,
    JUMP_IF,
    LOAD,
    STORE,
    LESS,
    STOP
};

struct machine {
    int64_t stack[64], cell[8];
    long executed;
};

static int64_t execute(struct machine *machine, const int8_t *code)
{
    int64_t *top = machine->stack, *cell = machine->cell, other;
    long executed = 0;

    for (const int8_t *at = code;; executed++) { /* HERE */
        switch (*at++) {                         /* HERE */
        case PUSH:
            *++top = *at++;
            break;
        case ADD:
            top--;
            top[0] += top[1];
            break;
        case SUB:
            top--;
            top[0] -= top[1];
            break;
        case HALVE:
            *top >>= 1;
            break;
        case TRIPLE:
            *top = 3 * *top + 1;
            break;
        case ODD:
            *top &= 1;
            break;
        case DUP:
            top[1] = top[0];
            top++;
            break;
        case SWAP:
            other = top[0];
            top[0] = top[-1];
            top[-1] = other;
            break;
        case DROP:
            top--;
            break;
        case JUMP:
            at += *at;
            break;
        case JUMP_IF:
            at += *top-- ? *at : 1;
            break;
        case LOAD:
            *++top = cell[*at++];
            break;
        case STORE:
            cell[*at++] = *top--;
            break;
        case LESS:
            top--;
            top[0] = top[0] < top[1];
            break;
        default:
            machine->executed += executed;
            return *top;
        }
    }
}

/* Counts the steps of the Collatz sequence of cell 0 in cell 1. */
/* clang-format off */
static const int8_t collatz[] = {
    PUSH, 0, STORE, 1,                       /*  0: no steps so far */
    LOAD, 0, PUSH, 1, SUB, JUMP_IF, 4,       /*  4: to 14 unless it is 1 */
    LOAD, 1, STOP,                           /* 11 */
    LOAD, 1, PUSH, 1, ADD, STORE, 1,         /* 14: one step more */
    LOAD, 0, DUP, ODD, JUMP_IF, 6,           /* 21: to 32 if it is odd */
    HALVE, STORE, 0, JUMP, -27,              /* 27: half of it, to 4 */
    TRIPLE, STORE, 0, JUMP, -32,             /* 32: three times it and one, to 4 */
};
/* clang-format on */

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct machine machine = {0};
    int64_t longest = 0;

    for (int64_t n = 1; n <= atol(argv[1]); n++) {
        machine.cell[0] = n;
        int64_t steps = execute(&machine, collatz);

        longest = steps > longest ? steps : longest;
    }
    printf("checksum %ld %ld\n", (long)longest, machine.executed);
    return 0;
}
