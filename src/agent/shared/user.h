/* SPDX-License-Identifier: Apache-2.0 */
/* What libassay.a, linked into a program, calls in the agent where it is there. */
#ifndef AS_AGENT_USER_H
#define AS_AGENT_USER_H

#include <stddef.h>
#include <stdint.h>

#define AS_AGENT_HOOKS_VERSION 1u

struct as_agent_hooks {
    uint32_t version;
    void (*begin)(const char *name);
    void (*end)(const char *name);
    void (*event)(const char *name, double value);
    void (*datum)(const char *name, double value);
    void (*measure)(int on);
    int (*is_measured)(void);
};

/* Programs keep the library that they were linked with: version 1 has this layout. */
_Static_assert(sizeof(struct as_agent_hooks) == 56, "layout of version 1");
_Static_assert(offsetof(struct as_agent_hooks, begin) == 8, "layout of version 1");
_Static_assert(offsetof(struct as_agent_hooks, is_measured) == 48, "layout of version 1");

#endif
