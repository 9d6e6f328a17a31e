/* SPDX-License-Identifier: Apache-2.0 */
/* Styles of text on a terminal. as_out_style writes their escape sequences. */
#ifndef AS_BASE_STYLE_H
#define AS_BASE_STYLE_H

enum as_style {
    AS_STYLE_PLAIN, /* ends all other styles */
    AS_STYLE_BOLD,
    AS_STYLE_DIM,
    AS_STYLE_CYAN,
    AS_STYLE_YELLOW,
    AS_STYLE_GREEN,
    AS_STYLE_RED
};

#endif
