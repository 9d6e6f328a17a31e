/* SPDX-License-Identifier: Apache-2.0 */
/* What libassay.a, linked into a program, calls in the agent where it is there. */
#ifndef AS_AGENT_USER_H
#define AS_AGENT_USER_H

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

#endif
