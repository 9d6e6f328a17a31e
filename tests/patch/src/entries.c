/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with several entries, and loops with a header too short for a jump. Also loops that jump
 * tables leave, and loops with calls that return to the header. Prints its results. Prints to
 * standard error, for each, "entered FUNCTION INSTANCES ALL": of its innermost loop, and of all
 * loops in it.
 */
#include <stdio.h>

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n"
#define END(name)      ".size " name ", . - " name "\n"

#ifdef MANY /* so many loops before all others that these have no word of the thread */
long many(long n);
__asm__(".text\n" FUNCTION("many") "    mov %rdi, %rax\n"
                                   ".rept 140\n"
                                   "    mov $3, %ecx\n"
                                   "1:  lea 1(%rax,%rax,2), %rax\n"
                                   "    dec %ecx\n"
                                   "    jne 1b\n"
                                   ".endr\n"
                                   "    ret\n" END("many"));
#endif

/* rdi: how often its second half runs; rsi: it begins there. */
long two_ways(long n, long half);
__asm__(".text\n" FUNCTION("two_ways") "    xor %eax, %eax\n"
                                       "    test %rsi, %rsi\n"
                                       "    jne 2f\n"
                                       "1:  lea 3(%rax,%rax,2), %rax\n"
                                       "    add %rdi, %rax\n"
                                       "2:  xor $0x55, %rax\n"
                                       "    lea 1(%rax), %rax\n"
                                       "    dec %rdi\n"
                                       "    jg 1b\n"
                                       "    ret\n" END("two_ways"));

/* Another function jumps into the middle. */
long first_half(long n);
long other_half(long n);
__asm__(".text\n" FUNCTION("first_half") "    xor %eax, %eax\n"
                                         "1:  lea 7(%rax,%rax,4), %rax\n"
                                         "    add %rdi, %rax\n"
                                         ".Lmiddle:\n"
                                         "    xor $0x33, %rax\n"
                                         "    dec %rdi\n"
                                         "    jg 1b\n"
                                         "    ret\n" END("first_half")
        /**/ FUNCTION("other_half") "    mov $99, %eax\n"
                                    "    jmp .Lmiddle\n" END("other_half"));

/* A loop of four bytes, in a loop: rdi times rsi. */
long narrow_in(long n, long m);
__asm__(".text\n" FUNCTION("narrow_in") "    xor %eax, %eax\n"
                                        "1:  mov %esi, %ecx\n"
                                        "2:  dec %ecx\n"
                                        "    jne 2b\n"
                                        "    lea 5(%rax,%rcx), %rax\n"
                                        "    dec %rdi\n"
                                        "    jne 1b\n"
                                        "    ret\n" END("narrow_in"));

/* The same in none. */
long narrow_alone(long n);
__asm__(".text\n" FUNCTION("narrow_alone") "    mov %rdi, %rcx\n"
                                           "    mov $3, %eax\n"
                                           "    add %rdi, %rax\n"
                                           "2:  dec %ecx\n"
                                           "    jne 2b\n"
                                           "    lea 5(%rax,%rcx), %rax\n"
                                           "    ret\n" END("narrow_alone"));

/* A call at the end of the loop returns to its header. */
long returned(long n);
__asm__(".text\n" FUNCTION("plus_two") "    lea 2(%rax), %rax\n"
                                       "    ret\n" END("plus_two")
        /**/ FUNCTION("returned") "    xor %eax, %eax\n"
                                  "    jmp 1f\n"
                                  "0:  lea 1(%rax,%rax), %rax\n"
                                  "    call plus_two\n"
                                  "1:  add %rdi, %rax\n"
                                  "    dec %rdi\n"
                                  "    jns 0b\n"
                                  "    ret\n" END("returned"));

/* A header of four bytes before a call, and room elsewhere in the loop. */
long hopped(long n);
__asm__(".text\n" FUNCTION("hopped") "    xor %eax, %eax\n"
                                     "    jmp 1f\n"
                                     "2:  lea 3(%rax,%rax,2), %rax\n"
                                     "    add $1000, %rax\n"
                                     "1:  dec %edi\n"
                                     "    jns 2b\n"
                                     "    call plus_two\n"
                                     "    add $1000, %rax\n"
                                     "    ret\n" END("hopped"));

/* So a return: two bytes before code outside. */
long hop_back(long n, long other);
__asm__(".text\n" FUNCTION("hop_back") "    xor %eax, %eax\n"
                                       "    test %rsi, %rsi\n"
                                       "    jne 2f\n"
                                       "1:  lea 5(%rax,%rax,4), %rax\n"
                                       "    add $1000, %rax\n"
                                       "    dec %rdi\n"
                                       "    js 3f\n"
                                       "    call plus_two\n"
                                       "    jmp 1b\n"
                                       "2:  mov $1000, %eax\n"
                                       "3:  add $2000, %rax\n"
                                       "    ret\n" END("hop_back"));

/* Branches that have a short form only. */
long counted(long n);
__asm__(".text\n" FUNCTION("counted") "    mov %rdi, %rcx\n"
                                      "    xor %eax, %eax\n"
                                      "    jrcxz 3f\n"
                                      "1:  lea 1(%rax,%rax,2), %rax\n"
                                      "    test $1, %al\n"
                                      "    je 2f\n"
                                      "    add $11, %rax\n"
                                      "2:  loop 1b\n"
                                      "3:  ret\n" END("counted"));

/* A table leads out of the loop, and back to where it begins. */
__attribute__((noinline, noclone)) static long tabled(const unsigned char *p)
{
    long s = p[1] * 77L + p[2];
    for (;;) {
        switch (*p++) {
        case 0:
            s += 3;
            break;
        case 1:
            s = s * 5 + 1;
            break;
        case 2:
            s ^= 0x1234;
            break;
        case 3:
            break;
        case 4:
            s -= p[0];
            break;
        case 5:
            s <<= 1;
            break;
        case 6:
            return s;
        case 7:
            return s * 77 + 100000;
        default:
            s++;
        }
    }
}

/* The loop that all others stand in is entered once. */
int main(void)
{
    static unsigned char code[64];
    unsigned long s = 0;
    for (int round = 0; round < 300; round++) {
        s = s * 31 + (unsigned long)two_ways(5 + round % 7, round % 3 == 0);
        s = s * 31 + (unsigned long)first_half(4 + round % 5);
        s = s * 31 + (unsigned long)other_half(1 + round % 6);
        s = s * 31 + (unsigned long)narrow_in(3, 2 + round % 4);
        s = s * 31 + (unsigned long)narrow_alone(1 + round % 9);
        s = s * 31 + (unsigned long)returned(2 + round % 3);
        s = s * 31 + (unsigned long)hopped(round % 5);
        s = s * 31 + (unsigned long)hop_back(round % 5, round % 2);
        s = s * 31 + (unsigned long)counted(round % 8);
        for (int i = 0; i < 63; i++)
            code[i] = (unsigned char)((i * 7 + round) % 6);
        code[40 + round % 20] = (unsigned char)(6 + round % 2);
        s = s * 31 + (unsigned long)tabled(code);
#ifdef MANY
        if (round < 10)
            s = s * 31 + (unsigned long)many(round);
#endif
    }
    printf("%lx\n", s);
    fprintf(stderr, "entered two_ways 300 300\nentered first_half 600 600\n"
                    "entered narrow_in 900 1200\nentered narrow_alone 300 300\n"
                    "entered hopped 300 300\nentered hop_back 150 150\n"
                    "entered returned 300 300\nentered counted 262 262\n"
                    "entered tabled 300 300\n");
#ifdef MANY
    fprintf(stderr, "entered many 1400 1400\n");
#endif
    return 0;
}
