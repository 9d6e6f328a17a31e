/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of symbols that a linker can make: strong and weak aliases, hidden and weak symbols, and an
 * indirect function (ifunc). Also constructors and destructors, thread-local data, and a function
 * in a section of its own. The last are a body without a size, and code pointers in .init_array.
 */
#include <stdio.h>

__thread int tls_counter = 3;  /* TLS, initialised (.tdata) */
static __thread long tls_zero; /* TLS, zero (.tbss) */
int plain_object = 7;          /* OBJECT */
const double table_object[4] = {1, 2, 3, 4};

__attribute__((noinline)) int original(int x) /* line:original */
{
    return x * 3 + tls_counter;
}
int strong_alias(int x) __attribute__((alias("original")));
int weak_alias(int x) __attribute__((weak, alias("original")));

__attribute__((weak, noinline)) int weak_function(int x) /* line:weak_function */
{
    return x - 1;
}
extern int never_defined(int x) __attribute__((weak)); /* undefined and weak */

__attribute__((visibility("hidden"), noinline)) int
hidden_function(int x) /* line:hidden_function */
{
    tls_zero += x;
    return (int)tls_zero;
}

__attribute__((noinline)) static int local_function(int x) /* line:local_function */
{
    return x ^ plain_object;
}

static int pick_generic(int x) /* line:pick_generic */
{
    return x + 1;
}
static int pick_popcnt(int x) /* line:pick_popcnt */
{
    return __builtin_popcount((unsigned)x);
}
__attribute__((used)) static int (*resolve_pick(void))(int) /* line:resolve_pick */
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("popcnt") ? pick_popcnt : pick_generic;
}
int pick(int x) __attribute__((ifunc("resolve_pick")));

__attribute__((constructor)) static void before_main(void) /* line:before_main */
{
    plain_object++;
}
__attribute__((destructor)) static void after_main(void) /* line:after_main */
{
    plain_object--;
}

__attribute__((section("own_text"), noinline)) int in_own_section(int x) /* line:in_own_section */
{
    return x + 11;
}

/* Hand-written code: a symbol with type and no size, and a label without type inside it. */
__asm__(".text\n"
        ".globl sizeless\n"
        ".type sizeless, @function\n"
        "sizeless:\n"
        "  lea 1(%rdi), %eax\n"
        "untyped_label:\n"
        "  ret\n");
int sizeless(int x);

int main(int argc, char **argv) /* line:main */
{
    (void)argv;
    int sum = original(argc) + strong_alias(argc) + weak_alias(argc) + weak_function(argc);
    sum += hidden_function(argc) + local_function(argc) + pick(argc) + in_own_section(argc);
    sum += sizeless(argc) + (never_defined ? never_defined(argc) : 0);
    printf("%d %g\n", sum, table_object[argc & 3]);
    return 0;
}
