# SPDX-License-Identifier: Apache-2.0
# Regions, events and data that a program names, as facts: beside perf events, and where timers take
# the samples; the same program without assay prints the same.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >named.c <<'END'
#include <assay/assay.h>
#include <pthread.h>
#include <stdio.h>
static void *work(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        assay_region_begin("step");
        assay_event("residual", 1.0 / (i + 1));
        assay_region_end("step");
    }
    return unused;
}
int main(void)
{
    pthread_t t[3];
    assay_datum("threads", 3);
    assay_region_begin("all");
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assay_region_end("all");
    printf("%d\n", assay_is_measured());
    return 0;
}
END
    gcc -O2 -pthread -I "$USER_INCLUDE" -o named named.c "$USER_LIBRARY"
}

setup() {
    load common.bash
}

# The reported regions: name, kind, times, threads, minimum, maximum
said() {
    "$ASSAY" query --format csv x.assay \
        "SELECT name, kind, n, thread_n, least, most, unmatched_n FROM v_regions ORDER BY name"
}

truth='name,kind,n,thread_n,least,most,unmatched_n
all,region,1,1,,,0
residual,event,3000,3,0.001,1,0
step,region,3000,3,,,0
threads,datum,1,1,3,3,0'

@test "regions of the program are counted beside the samples" {
    rm -rf x.assay
    equal 1 "$("$ASSAY" profile --regions --quiet -o x.assay -- ./named)"
    equal "$truth" "$(said)"
}

@test "so it is where timers take the samples" {
    rm -rf x.assay
    equal 1 "$("$ASSAY" profile --regions --event timer --quiet -o x.assay -- ./named)"
    equal "$truth" "$(said)"
}

@test "regions of a program that a script starts, thread by thread" {
    rm -rf x.assay
    "$ASSAY" profile --regions --quiet -o x.assay -- sh -c './named; ./named' >/dev/null
    equal 6 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM region_thread
        JOIN region USING (region_id) JOIN thread USING (thread_id) WHERE region.name = 'step' AND n = 1000" | tail -1)"
}

@test "without --regions, and without assay, the calls do nothing" {
    rm -rf x.assay
    equal 0 "$("$ASSAY" profile --quiet -o x.assay -- ./named)"
    equal 0 "$(./named)"
    equal "" "$(said | tail -n +2)"
}
