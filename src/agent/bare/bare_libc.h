/* SPDX-License-Identifier: Apache-2.0 */
/* The little of a C library that the agent's files need, in the bare agent. */
#ifndef AS_AGENT_BARE_LIBC_H
#define AS_AGENT_BARE_LIBC_H

struct as_bare_given;
extern struct as_bare_given *as_bare_given; /* what its functions tell of the program */

#endif
