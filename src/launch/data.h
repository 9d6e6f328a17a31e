/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that tools/gen-launch.py makes of data/launch/.
 */
#ifndef AS_LAUNCH_DATA_H
#define AS_LAUNCH_DATA_H

/* Patterns of names, ended by NULL; a star at the end stands for anything. */
extern const char *const as_launch_speed[];
extern const char *const as_launch_shell[];
extern const char *const as_launch_rank[];

#endif
