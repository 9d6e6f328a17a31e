/* SPDX-License-Identifier: Apache-2.0 */
/* The styles that text for people is written in, and the escape sequences that begin them. */
#ifndef AS_BASE_STYLE_H
#define AS_BASE_STYLE_H

enum as_style {
    AS_STYLE_PLAIN, /* ends the others */
    AS_STYLE_BOLD,
    AS_STYLE_DIM,
    AS_STYLE_CYAN,
    AS_STYLE_YELLOW,
    AS_STYLE_GREEN,
    AS_STYLE_RED
};

#endif
