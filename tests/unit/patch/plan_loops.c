/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of loops that are taken or refused for their reasons. It is never run, and never built
 * under a sanitizer, which would add loops and branches to what is planned.
 */

/* Each is one loop; what it is called says what is expected of it. */
#define FUNCTION(name, text)                                                                       \
    __asm__(".text\n.p2align 5\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" text    \
            "\n.size " #name ",.-" #name "\n.p2align 5\n")
FUNCTION(taken_plain, "1: imul $3,%rax,%rax\n add $2,%rdi\n cmp %rsi,%rdi\n jb 1b\n ret");
FUNCTION(taken_down, "1: add (%rdx),%rax\n dec %edi\n jnz 1b\n nop\n ret");
FUNCTION(taken_free, "1: add (%rdi),%rax\n mov (%rdi),%rdi\n mov %eax,%ecx\n test %rdi,%rdi\n"
                     " jnz 1b\n xor %ecx,%ecx\n xor %r8d,%r8d\n ret");
FUNCTION(taken_memory, "1: add (%rdi),%rax\n mov (%rdi),%rdi\n test %rdi,%rdi\n jnz 1b\n ret");
FUNCTION(taken_call, "push %rbx\n1: lea (%rbx),%rdi\n nopl (%rax)\n call taken_down\n add $1,%rbx\n"
                     " cmp $9,%rbx\n jb 1b\n pop %rbx\n ret");
FUNCTION(taken_exits,
         "1: imul $3,%rax,%rax\n cmp %rax,(%rdx)\n je 2f\n add $1,%rdi\n cmp %rsi,%rdi\n"
         " jb 1b\n2: ret");
FUNCTION(counted_diamond, "1: test $1,%dil\n jz 2f\n add $3,%rax\n jmp 3f\n2: add $5,%rax\n"
                          "3: imul $3,%rax,%rax\n dec %rdi\n jnz 1b\n ret");
FUNCTION(counted_call, "push %rbx\n1: add $1000,%rax\n call taken_down\n test %ebx,%ebx\n jz 2f\n"
                       " nopl (%rax)\n2: dec %ebx\n jnz 1b\n pop %rbx\n ret");
FUNCTION(taken_loop, "mov %rdi,%rcx\n1: add $3,%rax\n add $1,%rdx\n loop 1b\n ret");
FUNCTION(taken_entered, "test %rsi,%rsi\n jz 2f\n1: add $3,%rax\n add $1,%rdx\n2: add $5,%rax\n"
                        " dec %rdi\n jnz 1b\n ret");
/* The same with code before and after the loop. */
FUNCTION(carried_narrow, "1: dec %edi\n jnz 1b\n ret");
FUNCTION(carried_call, "push %rbx\n1: add $1000,%rax\n call taken_down\n dec %ebx\n jnz 1b\n"
                       " pop %rbx\n ret");
FUNCTION(carried_header, "push %rbx\n add $1000,%rax\n jmp 2f\n1: add $5,%rax\n"
                         " call taken_down\n2: add $1,%rax\n dec %ebx\n jnz 1b\n pop %rbx\n ret");
/* Four bytes, with room elsewhere in the loop. */
FUNCTION(hopped_header, "jmp 1f\n2: add $1000,%rax\n add $1000,%rdx\n1: dec %edi\n jns 2b\n"
                        " call taken_down\n add $1000,%rax\n ret");
FUNCTION(refused_narrow, "1: dec %edi\n jnz 1b\n call taken_down\n ret");
FUNCTION(refused_unreached, "add $1000,%rax\n ret\n1: add $1000,%rax\n dec %edi\n jnz 1b\n ret");
FUNCTION(refused_branch, "1: xbegin 2f\n add $3,%rax\n2: dec %rdi\n jnz 1b\n ret");
FUNCTION(refused_call, "push %rbx\n1: add $1000,%rax\n call taken_down\n dec %ebx\n jnz 1b\n"
                       " call taken_down\n add $8,%rsp\n ret");
FUNCTION(refused_entered, "test %rsi,%rsi\n jz 2f\n1: add $3,%rax\n add $1,%rdx\n2: dec %edi\n"
                          " jnz 1b\n call taken_down\n cld\n call taken_down\n ret");
/* A call comes back to the next, which is made where it stands: no jump is needed there. */
FUNCTION(carried_calls, "test %rsi,%rsi\n jz 2f\n1: add $3,%rax\n add $1,%rdx\n2: dec %edi\n"
                        " jnz 1b\n call taken_down\n call taken_down\n ret");
/* The last function in a section has no code behind it that a jump could use. */
FUNCTION(behind_all, "xor %eax,%eax\n ret");

int main(void)
{
    return 0;
}
