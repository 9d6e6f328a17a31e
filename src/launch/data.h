/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that tools/gen-launch.py generates from data/launch/.
 */
#ifndef AS_LAUNCH_DATA_H
#define AS_LAUNCH_DATA_H

/* Patterns of variable names, ended by NULL. A star at the end matches any text. */
extern const char *const as_launch_speed[];
extern const char *const as_launch_shell[];
extern const char *const as_launch_rank[];

#endif
