/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches that become jump tables: dense, with holes, from a negative case on, and over a masked
 * value without a bound. Others are of characters, two in one function, in loops, and of 64-bit
 * values. The last is an interpreter with computed goto. `main` runs every case.
 */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

volatile long sink;

#define CASE(n)                                                                                    \
    case n:                                                                                        \
        sink = sink * 3 + 17 * n;                                                                  \
        break;

APART long dense(int x)
{
    switch (x) {
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    }
    return sink;
}

APART long holes(unsigned x)
{
    switch (x) {
        CASE(10)
        CASE(11) CASE(13) CASE(14) CASE(17) CASE(18) CASE(19) CASE(22) CASE(23) default : sink = 99;
    }
    return sink;
}

APART long negative(long x)
{
    switch (x) {
        CASE(-4)
        CASE(-3) CASE(-2) CASE(-1) CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) default : return -1;
    }
    return sink;
}

APART long masked(unsigned long x)
{
    switch (x & 7) {
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
    }
    return sink;
}

APART long letter(unsigned char x)
{
    switch (x) {
        CASE('a')
        CASE('b') CASE('c') CASE('d') CASE('f') CASE('g') CASE('h') CASE('j') default : sink -= 5;
    }
    return sink;
}

APART long two(int x, int y)
{
    switch (x) {
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5)
    }
    sink ^= 3;
    switch (y) {
        CASE(100) CASE(101) CASE(102) CASE(103) CASE(104) CASE(105) CASE(106) default : sink = 1;
    }
    return sink;
}

APART long words(const unsigned char *text, int n)
{
    for (int i = 0; i < n; i++) {
        switch (text[i]) { /* LOOP words single 1 entered=1 times=40 */
            CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) case 6 : if (sink & 1) continue;
            sink++;
            break;
        case 7:
            if (i > 100)
                goto done;
            break;
        default:
            sink--;
        }
    }
done:
    return sink;
}

/* Two loops deep; the cases leave the inner one in different ways. */
APART long grid(const unsigned char *text, int n)
{
    for (int i = 0; i < n; i++) {     /* LOOP grid outermost 1 entered=1 times=6 */
        for (int j = 0; j < n; j++) { /* LOOP grid innermost 2 entered=6 */
            switch (text[i + j]) {
                CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) case 8 : sink = i;
                goto next;
            case 9:
                sink += 2;
                continue;
            }
            sink ^= j;
        }
    next:
        sink += 3;
    }
    return sink;
}

/* Labels as values: every jump may go to every label, so it is one loop. LOOPS interpret 1 - */
APART long interpret(const unsigned char *code)
{
    static void *const operation[] = {&&halt, &&add, &&twice, &&flip, &&less};
    long value = 1;
    goto *operation[*code++];
add:
    value += 5;
    goto *operation[*code++];
twice:
    value *= 2;
    goto *operation[*code++];
flip:
    value = ~value;
    sink = value;
    goto *operation[*code++];
less:
    value--;
    goto *operation[*code++];
halt:
    return value;
}

int main(void)
{
    static unsigned char text[40], code[32];
    for (int i = 0; i < 40; i++) {
        text[i] = (unsigned char)(i % 11); /* LOOP main single 1 entered=1 times=40 */
        sink = i;
    }
    for (int i = 0; i < 31; i++) {
        code[i] = (unsigned char)(1 + i * 7 % 4); /* LOOP main single 1 entered=1 times=31 */
        sink = i;
    }
    for (int i = -6; i < 128; i++) {
        sink ^= dense(i); /* LOOP main single 1 entered=1 times=134 */
        sink ^= holes((unsigned)i);
        sink ^= negative(i);
        sink ^= masked((unsigned long)i);
        sink ^= letter((unsigned char)i);
        sink ^= two(i, 110 - i);
    }
    sink ^= words(text, 40);
    sink ^= grid(text, 6);
    sink ^= interpret(code);
    return 0;
}
