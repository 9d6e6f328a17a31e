/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a terminal from isatty(3), TIOCGWINSZ and the environment. */
#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80

bool as_term_is(int fd)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool as_color_use(enum as_color color, int fd)
{
    if (color != AS_COLOR_AUTO)
        return color == AS_COLOR_ALWAYS;
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && as_term_is(fd);
}

size_t as_term_width(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return DEFAULT_WIDTH;
}

size_t as_term_layout_width(int fd)
{
    return isatty(fd) ? as_term_width(fd) : 0;
}
