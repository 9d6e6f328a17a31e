/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expectations written by hand from the manuals, so that the golden pairs are not only a mirror of
 * the code: class, element, lanes, operations, and the registers read and written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "facts.h"

struct expectation {
    const char *text, *hex, *insn_class, *element;
    unsigned lanes, flops, intops;
    const char *read, *written; /* registers at full width; "*" = not looked at */
};

/* clang-format off */
static const struct expectation table[] = {
    {"add eax,ebx", "01 d8", "add", "int32", 1, 0, 1, "rax rbx", "rax"},
    {"add al,bl", "00 d8", "add", "int8", 1, 0, 1, "rax rbx", "rax"},
    {"add qword ptr [rdi+rsi*8],rcx", "48 01 0c f7", "add", "int64", 1, 0, 1, "rdi rsi rcx", ""},
    {"sub rsp,16", "48 83 ec 10", "add", "int64", 1, 0, 1, "rsp", "rsp"},
    {"xor eax,eax", "31 c0", "logic", "int32", 1, 0, 1, "", "rax"},
    {"xor eax,ecx", "31 c8", "logic", "int32", 1, 0, 1, "rax rcx", "rax"},
    {"sub rdx,rdx", "48 29 d2", "add", "int64", 1, 0, 1, "", "rdx"},
    {"adc rax,rbx", "48 11 d8", "add", "int64", 1, 0, 1, "rax rbx", "rax"},
    {"sbb eax,eax", "19 c0", "add", "int32", 1, 0, 1, "rax", "rax"},
    {"inc ecx", "ff c1", "add", "int32", 1, 0, 1, "rcx", "rcx"},
    {"neg r8", "49 f7 d8", "add", "int64", 1, 0, 1, "r8", "r8"},
    {"not r9d", "41 f7 d1", "logic", "int32", 1, 0, 1, "r9", "r9"},
    {"imul eax,ebx", "0f af c3", "mul", "int32", 1, 0, 1, "rax rbx", "rax"},
    {"imul rax,rbx,7", "48 6b c3 07", "mul", "int64", 1, 0, 1, "rbx", "rax"},
    {"mul rcx", "48 f7 e1", "mul", "int64", 1, 0, 1, "rax rcx", "rax rdx"},
    {"imul ecx", "f7 e9", "mul", "int32", 1, 0, 1, "rax rcx", "rax rdx"},
    {"mulx rax,rbx,rcx", "c4 e2 e3 f6 c1", "mul", "int64", 1, 0, 1, "rcx rdx", "rax rbx"},
    {"div rcx", "48 f7 f1", "div", "int64", 1, 0, 1, "rax rdx rcx", "rax rdx"},
    {"idiv ecx", "f7 f9", "div", "int32", 1, 0, 1, "rax rdx rcx", "rax rdx"},
    {"lea rax,[rbx+rcx*4+8]", "48 8d 44 8b 08", "lea", "int64", 1, 0, 1, "rbx rcx", "rax"},
    {"mov eax,ebx", "89 d8", "move", "int32", 1, 0, 0, "rbx", "rax"},
    {"mov al,bl", "88 d8", "move", "int8", 1, 0, 0, "rax rbx", "rax"},
    {"mov ax,bx", "66 89 d8", "move", "int16", 1, 0, 0, "rax rbx", "rax"},
    {"mov rax,[rbx]", "48 8b 03", "move", "int64", 1, 0, 0, "rbx", "rax"},
    {"mov [rbx],rax", "48 89 03", "move", "int64", 1, 0, 0, "rax rbx", ""},
    {"mov rax,fs:[rcx]", "64 48 8b 01", "move", "int64", 1, 0, 0, "rcx fs", "rax"},
    {"movzx eax,bl", "0f b6 c3", "extend", "int32", 1, 0, 0, "rbx", "rax"},
    {"movsxd rax,ecx", "48 63 c1", "extend", "int64", 1, 0, 0, "rcx", "rax"},
    {"cdqe", "48 98", "extend", "int64", 1, 0, 0, "rax", "rax"},
    {"cdq", "99", "extend", "int32", 1, 0, 0, "rax", "rdx"},
    {"cqo", "48 99", "extend", "int64", 1, 0, 0, "rax", "rdx"},
    {"push rbx", "53", "push", "int64", 1, 0, 0, "rbx rsp", "rsp"},
    {"pop rbx", "5b", "pop", "int64", 1, 0, 0, "rsp", "rbx rsp"},
    {"leave", "c9", "pop", "int64", 1, 0, 0, "rbp rsp", "rbp rsp"},
    {"xchg rax,rbx", "48 93", "exchange", "int64", 1, 0, 0, "rax rbx", "rax rbx"},
    {"lock xadd [rdi],eax", "f0 0f c1 07", "exchange", "int32", 1, 0, 1, "rax rdi", "rax"},
    {"lock cmpxchg [rdi],ecx", "f0 0f b1 0f", "exchange", "int32", 1, 0, 0, "rax rcx rdi", "rax"},
    {"cmp eax,ebx", "39 d8", "compare", "int32", 1, 0, 1, "rax rbx", ""},
    {"test rcx,rcx", "48 85 c9", "compare", "int64", 1, 0, 1, "rcx", ""},
    {"shl eax,cl", "d3 e0", "shift", "int32", 1, 0, 1, "rax rcx", "rax"},
    {"sar rdx,3", "48 c1 fa 03", "shift", "int64", 1, 0, 1, "rdx", "rdx"},
    {"shld eax,ebx,4", "0f a4 d8 04", "shift", "int32", 1, 0, 1, "rax rbx", "rax"},
    {"shlx rax,rbx,rcx", "c4 e2 f1 f7 c3", "shift", "int64", 1, 0, 1, "rbx rcx", "rax"},
    {"rorx eax,ebx,5", "c4 e3 7b f0 c3 05", "shift", "int32", 1, 0, 1, "rbx", "rax"},
    {"bt eax,ebx", "0f a3 d8", "bit", "int32", 1, 0, 1, "rax rbx", ""},
    {"bts rax,5", "48 0f ba e8 05", "bit", "int64", 1, 0, 1, "rax", "rax"},
    {"popcnt eax,ebx", "f3 0f b8 c3", "bit", "int32", 1, 0, 1, "rbx", "rax"},
    {"lzcnt rax,rbx", "f3 48 0f bd c3", "bit", "int64", 1, 0, 1, "rbx", "rax"},
    {"tzcnt rax,rbx", "f3 48 0f bc c3", "bit", "int64", 1, 0, 1, "rbx", "rax"},
    {"bsf eax,ebx", "0f bc c3", "bit", "int32", 1, 0, 1, "rax rbx", "rax"},
    {"pdep rax,rbx,rcx", "c4 e2 e3 f5 c1", "bit", "int64", 1, 0, 1, "rbx rcx", "rax"},
    {"andn rax,rbx,rcx", "c4 e2 e0 f2 c1", "logic", "int64", 1, 0, 1, "rbx rcx", "rax"},
    {"blsr eax,ebx", "c4 e2 78 f3 cb", "bit", "int32", 1, 0, 1, "rbx", "rax"},
    {"cmovz rax,rbx", "48 0f 44 c3", "select", "int64", 1, 0, 0, "rax rbx", "rax"},
    {"cmovl eax,ebx", "0f 4c c3", "select", "int32", 1, 0, 0, "rax rbx", "rax"},
    {"setnz al", "0f 95 c0", "select", "int8", 1, 0, 0, "rax", "rax"},
    {"movsb", "a4", "string", "int8", 1, 0, 0, "rsi rdi", "rsi rdi"},
    {"rep movsq", "f3 48 a5", "string", "int64", 1, 0, 0, "rsi rdi rcx", "rsi rdi rcx"},
    {"rep stosd", "f3 ab", "string", "int32", 1, 0, 0, "rax rdi rcx", "rdi rcx"},
    {"lodsq", "48 ad", "string", "int64", 1, 0, 0, "rsi", "rax rsi"},
    {"repne scasb", "f2 ae", "string", "int8", 1, 0, 1, "rax rdi rcx", "rdi rcx"},
    {"cmpsd", "a7", "string", "int32", 1, 0, 1, "rsi rdi", "rsi rdi"},
    {"call rax", "ff d0", "call", "-", 0, 0, 0, "rax rip rsp", "rip rsp"},
    {"jmp rax", "ff e0", "jump", "-", 0, 0, 0, "rax", "rip"},
    {"ret", "c3", "return", "-", 0, 0, 0, "rsp", "rip rsp"},
    {"jne .", "75 fe", "branch", "-", 0, 0, 0, "rip", "rip"},
    {"pause", "f3 90", "nop", "-", 0, 0, 0, "", ""},
    {"pause to Intel, xchg r8,rax to AMD", "f3 49 90", "nop", "-", 0, 0, 0, "rax r8", "rax r8"},
    {"nop dword ptr [rax+rax]", "0f 1f 04 00", "nop", "-", 0, 0, 0, "rax", ""},
    {"ud2", "0f 0b", "trap", "-", 0, 0, 0, "", ""},
    {"cpuid", "0f a2", "time", "-", 0, 0, 0, "rax rcx", "rax rcx rdx rbx"},
    {"rdtsc", "0f 31", "time", "-", 0, 0, 0, "", "rax rdx"},
    {"mfence", "0f ae f0", "fence", "-", 0, 0, 0, "", ""},
    {"prefetcht0 [rax]", "0f 18 08", "prefetch", "-", 0, 0, 0, "rax", ""},
    {"clflush [rax]", "0f ae 38", "cache", "-", 0, 0, 0, "rax", ""},
    {"rdrand eax", "0f c7 f0", "random", "int32", 1, 0, 0, "", "rax"},
    {"addss xmm0,xmm1", "f3 0f 58 c1", "add", "f32", 1, 1, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"addsd xmm0,[rax]", "f2 0f 58 00", "add", "f64", 1, 1, 0, "zmm0 rax mxcsr", "zmm0"},
    {"addps xmm0,xmm1", "0f 58 c1", "add", "f32", 4, 4, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"mulpd xmm2,xmm3", "66 0f 59 d3", "mul", "f64", 2, 2, 0, "zmm2 zmm3 mxcsr", "zmm2"},
    {"divss xmm0,xmm1", "f3 0f 5e c1", "div", "f32", 1, 1, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"sqrtsd xmm0,xmm1", "f2 0f 51 c1", "sqrt", "f64", 1, 1, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"sqrtpd xmm0,xmm1", "66 0f 51 c1", "sqrt", "f64", 2, 2, 0, "zmm1 mxcsr", "zmm0"},
    {"rcpps xmm0,xmm1", "0f 53 c1", "rcp", "f32", 4, 4, 0, "zmm1", "zmm0"},
    {"rsqrtss xmm0,xmm1", "f3 0f 52 c1", "rsqrt", "f32", 1, 1, 0, "zmm0 zmm1", "zmm0"},
    {"maxps xmm0,xmm1", "0f 5f c1", "minmax", "f32", 4, 4, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"haddps xmm0,xmm1", "f2 0f 7c c1", "add", "f32", 4, 4, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"dpps xmm0,xmm1,0xf1", "66 0f 3a 40 c1 f1", "dot", "f32", 4, 8, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"movss xmm0,[rax]", "f3 0f 10 00", "move", "f32", 1, 0, 0, "rax", "zmm0"},
    {"movss xmm0,xmm1", "f3 0f 10 c1", "move", "f32", 1, 0, 0, "zmm0 zmm1", "zmm0"},
    {"movaps xmm0,xmm1", "0f 28 c1", "move", "f32", 4, 0, 0, "zmm1", "zmm0"},
    {"movups [rax],xmm1", "0f 11 08", "move", "f32", 4, 0, 0, "rax zmm1", ""},
    {"movhps xmm0,[rax]", "0f 16 00", "move", "f32", 2, 0, 0, "rax zmm0", "zmm0"},
    {"movd xmm0,eax", "66 0f 6e c0", "move", "int32", 1, 0, 0, "rax", "zmm0"},
    {"movq rax,xmm0", "66 48 0f 7e c0", "move", "int64", 1, 0, 0, "zmm0", "rax"},
    {"movntps [rax],xmm0", "0f 2b 00", "move", "f32", 4, 0, 0, "rax zmm0", ""},
    {"xorps xmm0,xmm0", "0f 57 c0", "logic", "f32", 4, 0, 0, "", "zmm0"},
    {"pxor xmm1,xmm1", "66 0f ef c9", "logic", "int32", 4, 0, 4, "", "zmm1"},
    {"pcmpeqd xmm0,xmm0", "66 0f 76 c0", "compare", "int32", 4, 0, 4, "", "zmm0"},
    {"paddd xmm0,xmm1", "66 0f fe c1", "add", "int32", 4, 0, 4, "zmm0 zmm1", "zmm0"},
    {"pmaddwd xmm0,xmm1", "66 0f f5 c1", "dot", "int32", 4, 0, 12, "zmm0 zmm1", "zmm0"},
    {"psadbw xmm0,xmm1", "66 0f f6 c1", "sad", "int64", 2, 0, 32, "zmm0 zmm1", "zmm0"},
    {"pshufd xmm0,xmm1,0x1b", "66 0f 70 c1 1b", "shuffle", "int32", 4, 0, 0, "zmm1", "zmm0"},
    {"shufps xmm0,xmm1,0", "0f c6 c1 00", "shuffle", "f32", 4, 0, 0, "zmm0 zmm1", "zmm0"},
    {"blendvps xmm1,xmm2,xmm0", "66 0f 38 14 ca", "select", "f32", 4, 0, 0, "zmm0 zmm1 zmm2", "zmm1"},
    {"pextrd eax,xmm0,1", "66 0f 3a 16 c0 01", "extract", "int32", 1, 0, 0, "zmm0", "rax"},
    {"pinsrd xmm0,eax,1", "66 0f 3a 22 c0 01", "insert", "int32", 1, 0, 0, "rax zmm0", "zmm0"},
    {"movmskps eax,xmm0", "0f 50 c0", "extract", "f32", 4, 0, 0, "zmm0", "rax"},
    {"cvtsi2sd xmm0,rax", "f2 48 0f 2a c0", "convert", "f64", 1, 0, 0, "rax zmm0 mxcsr", "zmm0"},
    {"cvttsd2si rax,xmm0", "f2 48 0f 2c c0", "convert", "int64", 1, 0, 0, "zmm0 mxcsr", "rax"},
    {"cvtps2pd xmm0,xmm1", "0f 5a c1", "convert", "f64", 2, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"cvtpd2ps xmm0,xmm1", "66 0f 5a c1", "convert", "f32", 2, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"ucomisd xmm0,xmm1", "66 0f 2e c1", "compare", "f64", 1, 0, 0, "zmm0 zmm1 mxcsr", ""},
    {"roundsd xmm0,xmm1,1", "66 0f 3a 0b c1 01", "round", "f64", 1, 0, 0, "zmm0 zmm1 mxcsr", "zmm0"},
    {"aesenc xmm0,xmm1", "66 0f 38 dc c1", "crypto", "int8", 16, 0, 0, "zmm0 zmm1", "zmm0"},
    {"ldmxcsr [rax]", "0f ae 10", "state", "-", 0, 0, 0, "rax", "mxcsr"},
    {"vaddps ymm0,ymm1,ymm2", "c5 f4 58 c2", "add", "f32", 8, 8, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vaddsd xmm0,xmm1,xmm2", "c5 f3 58 c2", "add", "f64", 1, 1, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmadd231ps ymm0,ymm1,ymm2", "c4 e2 75 b8 c2", "fma", "f32", 8, 16, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmadd213sd xmm0,xmm1,[rax]", "c4 e2 f1 a9 00", "fma", "f64", 1, 2, 0, "zmm0 zmm1 rax mxcsr", "zmm0"},
    {"vfnmsub132pd xmm0,xmm1,xmm2", "c4 e2 f1 9e c2", "fma", "f64", 2, 4, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vxorps ymm3,ymm3,ymm3", "c5 e4 57 db", "logic", "f32", 8, 0, 0, "", "zmm3"},
    {"vpxor xmm3,xmm4,xmm5", "c5 d9 ef dd", "logic", "int32", 4, 0, 4, "zmm4 zmm5", "zmm3"},
    {"vbroadcastss ymm0,[rax]", "c4 e2 7d 18 00", "broadcast", "f32", 8, 0, 0, "rax", "zmm0"},
    {"vinsertf128 ymm0,ymm1,xmm2,1", "c4 e3 75 18 c2 01", "insert", "f64", 4, 0, 0, "zmm1 zmm2", "zmm0"},
    {"vextractf128 xmm0,ymm1,1", "c4 e3 7d 19 c8 01", "extract", "f64", 2, 0, 0, "zmm1", "zmm0"},
    {"vperm2f128 ymm0,ymm1,ymm2,1", "c4 e3 75 06 c2 01", "shuffle", "f64", 4, 0, 0, "zmm1 zmm2", "zmm0"},
    {"vmaskmovps ymm0,ymm1,[rax]", "c4 e2 75 2c 00", "move", "f32", 8, 0, 0, "zmm1 rax", "zmm0"},
    {"vgatherdpd ymm0,[rax+xmm1*8],ymm2", "c4 e2 ed 92 04 c8", "gather", "f64", 4, 0, 0, "zmm0 zmm1 zmm2 rax", "zmm0 zmm2"},
    {"vcvtph2ps ymm0,xmm1", "c4 e2 7d 13 c1", "convert", "f32", 8, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"vcvtdq2pd ymm0,xmm1", "c5 fe e6 c1", "convert", "f64", 4, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"vpmovzxbd ymm0,xmm1", "c4 e2 7d 31 c1", "convert", "int32", 8, 0, 0, "zmm1", "zmm0"},
    {"vpsllvd ymm0,ymm1,ymm2", "c4 e2 75 47 c2", "shift", "int32", 8, 0, 8, "zmm1 zmm2", "zmm0"},
    {"vpermilps ymm0,ymm1,5", "c4 e3 7d 04 c1 05", "shuffle", "f32", 8, 0, 0, "zmm1", "zmm0"},
    {"vtestps ymm0,ymm1", "c4 e2 7d 0e c1", "compare", "f32", 8, 0, 0, "zmm0 zmm1", ""},
    {"{vex} vpdpbusd ymm0,ymm1,ymm2", "c4 e2 75 50 c2", "dot", "int32", 8, 0, 64, "zmm0 zmm1 zmm2", "zmm0"},
    {"vaddps zmm0,zmm1,zmm2", "62 f1 74 48 58 c2", "add", "f32", 16, 16, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vaddpd zmm0{k1},zmm1,zmm2", "62 f1 f5 49 58 c2", "add", "f64", 8, 8, 0, "zmm0 zmm1 zmm2 k1 mxcsr", "zmm0"},
    {"vaddpd zmm0{k1}{z},zmm1,zmm2", "62 f1 f5 c9 58 c2", "add", "f64", 8, 8, 0, "zmm1 zmm2 k1 mxcsr", "zmm0"},
    {"vmulps zmm17,zmm18,dword ptr [rax]{1to16}", "62 e1 6c 50 59 08", "mul", "f32", 16, 16, 0, "zmm18 rax mxcsr", "zmm17"},
    {"vfmadd231pd zmm0,zmm1,zmm2", "62 f2 f5 48 b8 c2", "fma", "f64", 8, 16, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmaddsub213ps zmm0,zmm1,zmm2", "62 f2 75 48 a6 c2", "fma", "f32", 16, 32, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vdivpd zmm0,zmm1,zmm2", "62 f1 f5 48 5e c2", "div", "f64", 8, 8, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vrcp14ps zmm0,zmm1", "62 f2 7d 48 4c c1", "rcp", "f32", 16, 16, 0, "zmm1 mxcsr", "zmm0"},
    {"vrsqrt14sd xmm0,xmm1,xmm2", "62 f2 f5 08 4f c2", "rsqrt", "f64", 1, 1, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vpternlogd zmm0,zmm1,zmm2,0x96", "62 f3 75 48 25 c2 96", "logic", "int32", 16, 0, 16, "zmm0 zmm1 zmm2", "zmm0"},
    {"vpxord zmm3,zmm3,zmm3", "62 f1 65 48 ef db", "logic", "int32", 16, 0, 16, "", "zmm3"},
    {"vcmpps k1,zmm1,zmm2,1", "62 f1 74 48 c2 ca 01", "compare", "f32", 16, 0, 0, "zmm1 zmm2 mxcsr", "k1"},
    {"vpcmpd k1{k2},zmm1,zmm2,3", "62 f3 75 4a 1f ca 03", "compare", "int32", 16, 0, 16, "zmm1 zmm2 k2", "k1"},
    {"vp2intersectd k2,zmm1,zmm2", "62 f2 77 48 68 d2", "compare", "int32", 16, 0, 16, "zmm1 zmm2", "k2 k3"},
    {"vp2intersectq k3,zmm1,zmm2", "62 f2 f7 48 68 da", "compare", "int64", 8, 0, 8, "zmm1 zmm2", "k2 k3"},
    {"vblendmps zmm0{k1},zmm1,zmm2", "62 f2 75 49 65 c2", "select", "f32", 16, 0, 0, "zmm1 zmm2 k1", "zmm0"},
    {"vcompressps [rax]{k1},zmm0", "62 f2 7d 49 8a 00", "compress", "f32", 16, 0, 0, "rax zmm0 k1", ""},
    {"vpermt2d zmm0,zmm1,zmm2", "62 f2 75 48 7e c2", "shuffle", "int32", 16, 0, 0, "zmm0 zmm1 zmm2", "zmm0"},
    {"vgatherdps zmm0{k1},[rax+zmm1*4]", "62 f2 7d 49 92 04 88", "gather", "f32", 16, 0, 0, "zmm0 zmm1 rax k1", "zmm0 k1"},
    {"vgatherqps ymm0{k1},[rax+zmm1*4]", "62 f2 7d 49 93 04 88", "gather", "f32", 8, 0, 0, "zmm0 zmm1 rax k1", "zmm0 k1"},
    {"vscatterdpd [rax+ymm1*8]{k1},zmm0", "62 f2 fd 49 a2 04 c8", "scatter", "f64", 8, 0, 0, "zmm0 zmm1 rax k1", "k1"},
    {"vcvtps2pd zmm0,ymm1", "62 f1 7c 48 5a c1", "convert", "f64", 8, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"vcvtpd2ps ymm0,zmm1", "62 f1 fd 48 5a c1", "convert", "f32", 8, 0, 0, "zmm1 mxcsr", "zmm0"},
    {"vpmovdb xmm0,zmm1", "62 f2 7e 48 31 c8", "convert", "int8", 16, 0, 0, "zmm1", "zmm0"},
    {"vpdpbusd zmm0,zmm1,zmm2", "62 f2 75 48 50 c2", "dot", "int32", 16, 0, 128, "zmm0 zmm1 zmm2", "zmm0"},
    {"vpdpwssd zmm0,zmm1,zmm2", "62 f2 75 48 52 c2", "dot", "int32", 16, 0, 64, "zmm0 zmm1 zmm2", "zmm0"},
    {"vpmadd52luq zmm0,zmm1,zmm2", "62 f2 f5 48 b4 c2", "fma", "int64", 8, 0, 16, "zmm0 zmm1 zmm2", "zmm0"},
    {"vdpbf16ps zmm0,zmm1,zmm2", "62 f2 76 48 52 c2", "dot", "f32", 16, 64, 0, "zmm0 zmm1 zmm2", "zmm0"},
    {"vcvtneps2bf16 ymm0,zmm1", "62 f2 7e 48 72 c1", "convert", "bf16", 16, 0, 0, "zmm1", "zmm0"},
    {"vaddph zmm0,zmm1,zmm2", "62 f5 74 48 58 c2", "add", "f16", 32, 32, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmadd231sh xmm0,xmm1,xmm2", "62 f6 75 08 b9 c2", "fma", "f16", 1, 2, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmaddcph zmm0,zmm1,zmm2", "62 f6 76 48 56 c2", "fma", "f16", 32, 128, 0, "zmm0 zmm1 zmm2 mxcsr", "zmm0"},
    {"vfmulcsh xmm0,xmm1,xmm2", "62 f6 76 08 d7 c2", "mul", "f16", 1, 6, 0, "zmm1 zmm2 mxcsr", "zmm0"},
    {"kandw k1,k2,k3", "c5 ec 41 cb", "mask", "int16", 1, 0, 1, "k2 k3", "k1"},
    {"kxorw k1,k1,k1", "c5 f4 47 c9", "mask", "int16", 1, 0, 1, "", "k1"},
    {"kmovq rax,k1", "c4 e1 fb 93 c1", "mask", "int64", 1, 0, 0, "k1", "rax"},
    {"kortestw k1,k2", "c5 f8 98 ca", "mask", "int16", 1, 0, 1, "k1 k2", ""},
    {"vpmovm2d zmm0,k1", "62 f2 7e 48 38 c1", "mask", "int32", 16, 0, 0, "k1", "zmm0"},
    {"tdpbf16ps tmm0,tmm1,tmm2", "c4 e2 6a 5c c1", "tile", "f32", 256, 16384, 0, "tmm0 tmm1 tmm2 tilecfg", "tmm0"},
    {"tdpbssd tmm0,tmm1,tmm2", "c4 e2 6b 5e c1", "tile", "int32", 256, 0, 32768, "tmm0 tmm1 tmm2 tilecfg", "tmm0"},
    {"tileloadd tmm3,[rax+rbx]", "c4 e2 7b 4b 1c 18", "tile", "int32", 256, 0, 0, "rax rbx tilecfg", "tmm3"},
    {"fadd st,st(1)", "d8 c1", "add", "f80", 1, 1, 0, "st0 st1 x87cw x87sw", "st0 x87sw"},
    {"fmul st(2),st", "dc ca", "mul", "f80", 1, 1, 0, "st0 st2 x87cw x87sw", "st2 x87sw"},
    {"fsqrt", "d9 fa", "sqrt", "f80", 1, 1, 0, "st0 x87cw x87sw", "st0 x87sw"},
    {"fchs", "d9 e0", "abs", "f80", 1, 0, 0, "st0 x87cw x87sw", "st0 x87sw"},
    {"fsin", "d9 fe", "transcendental", "f80", 1, 1, 0, "st0 x87cw x87sw", "st0 x87sw"},
    {"vzeroupper", "c5 f8 77", "state", "-", 0, 0, 0, "*", "*"},
    {"paddb mm0,mm1", "0f fc c1", "add", "int8", 8, 0, 8, "st0 st1", "st0 x87sw"},
};
/* clang-format on */

static bool named(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

/* Counts and prints where `set` and the named registers differ. */
static int differences(const struct expectation *e, const char *what, const char *list,
                       const struct as_regset *set)
{
    int n = 0;
    for (unsigned r = 0; r < AS_REG_COUNT && strcmp(list, "*"); r++) {
        const char *name = as_reg_name(r, 64);
        if (named(list, name) != as_regset_has(*set, r)) {
            print_message("%s: %s: %s\n", e->text, what, name);
            n++;
        }
    }
    return n;
}

static int number(const struct expectation *e, const char *what, unsigned expected, unsigned got)
{
    if (expected == got)
        return 0;
    print_message("%s: %s: expected %u, got %u\n", e->text, what, expected, got);
    return 1;
}

static int word(const struct expectation *e, const char *what, const char *expected,
                const char *got)
{
    if (!strcmp(expected, got))
        return 0;
    print_message("%s: %s: expected %s, got %s\n", e->text, what, expected, got);
    return 1;
}

static int check(const struct expectation *e)
{
    static const char *const elements[] = {"-", "int", "f16", "bf16", "f32", "f64", "f80", "bcd"};
    uint8_t bytes[16];
    struct as_code code;
    struct as_effects effects;
    char element[16];
    size_t n = facts_bytes(e->hex, bytes, sizeof bytes);
    assert_int_equal(as_decode(bytes, n, 0x1000, &code, NULL), 0);
    assert_int_equal(code.n, 1);
    const struct as_form *form = as_form_get(code.insn[0].form);
    as_insn_effects(&code.insn[0], &effects);
    if (form->element == AS_ELEMENT_INT)
        snprintf(element, sizeof element, "int%d", form->element_b * 8);
    else
        snprintf(element, sizeof element, "%s", elements[form->element]);
    int bad = word(e, "class", e->insn_class, as_class_name(form->insn_class));
    bad += word(e, "element", e->element, element);
    bad += number(e, "lanes", e->lanes, form->lanes);
    bad += number(e, "flops", e->flops, form->flops);
    bad += number(e, "intops", e->intops, form->intops);
    bad += differences(e, "read", e->read, &effects.read);
    bad += differences(e, "written", e->written, &effects.written);
    as_code_free(&code);
    return bad;
}

static void expectations(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        bad += check(&table[i]);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(expectations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
