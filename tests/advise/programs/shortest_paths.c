/* SPDX-License-Identifier: Apache-2.0 */
/* finding: unused_version; flags: -O3; repair: what does not change is in a local variable;
 * says: its version for vectors did not run */
#include "program.h"

#define N 700

static int path[N][N];

__attribute__((noinline)) static void shorten(int (*way)[N], int via)
{
    for (int i = 0; i < N; i++) {
#ifdef REPAIRED
        const int first = way[i][via];
        for (int j = 0; j < N; j++)
            way[i][j] = way[i][j] < first + way[via][j] ? way[i][j] : first + way[via][j];
#else
        for (int j = 0; j < N; j++)
            way[i][j] =
                way[i][j] < way[i][via] + way[via][j] ? way[i][j] : way[i][via] + way[via][j];
#endif
    }
}

int main(void)
{
    for (int step = 0; step < 9; step++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                path[i][j] = i == j ? 0 : 1 + (int)(draw() % 1000);
        for (int via = 0; via < N; via++)
            shorten(path, via);
    }
    return done(path[0][N / 2]);
}
