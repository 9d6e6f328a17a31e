/* SPDX-License-Identifier: Apache-2.0 */
#include "stops.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped_by;

static void note_signal(int number)
{
    stopped_by = number;
}

bool as_stops_came(void)
{
    return stopped_by != 0;
}

int as_stops_status(void)
{
    return 128 + stopped_by;
}

void as_stops_note(void)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction now;

    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (sigaction(stops[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
}
