# SPDX-License-Identifier: Apache-2.0
# Runs without a result: damaged files of perf, and programs that stop being executable at the last
# moment. Each prints one sentence and leaves nothing behind.

setup_file() {
    load common.bash
    python3 "$MAKE_DAMAGED_PERF" damaged
    cp "$(type -P true)" program
}
setup() { load common.bash; }

# Imports a file; what it says goes to err, the exit status to the variable.
import() {
    rm -rf x.assay
    status=0
    "$ASSAY" import "$1" -o x.assay --color never >out 2>err || status=$?
}

@test "import: a damaged file is an experiment that can be shown, or one sentence and nothing" {
    local made=0 refused=0
    for file in damaged/*.data; do
        import "$file"
        [ ! -s out ] || fails "$file: $(cat out)"
        ! grep -qi 'defect\|constraint\|overflow' err || fails "$file: $(cat err)"
        case $status in
        0)
            made=$((made + 1))
            "$ASSAY" show x.assay >out 2>&1 || fails "$file: $(cat out)"
            "$ASSAY" query x.assay "SELECT * FROM v_runs" >out 2>&1 || fails "$file: $(cat out)"
            ;;
        2)
            refused=$((refused + 1))
            equal 1 "$(wc -l <err)"
            like "assay: *" "$(cat err)"
            [ ! -e x.assay ] || fails "$file: x.assay is left"
            ;;
        *) fails "$file: exit status $status: $(cat err)" ;;
        esac
    done
    # Both were seen: the list is not of one kind.
    [ "$made" -gt 20 ] && [ "$refused" -gt 1 ] || fails "made $made, refused $refused"
}

@test "import: what is absurd is left out, counted and said; what is whole is there" {
    import damaged/whole.data
    equal 0 "$status"
    local whole
    whole=$("$ASSAY" query --format csv x.assay "SELECT sum(n), sum(time_ns) FROM sample" | tail -1)
    equal "" "$(grep damaged err || true)"
    for value in 4000000000000000 ffffffffffffffff; do
        for kind in time period; do
            import "damaged/$kind-$value.data"
            equal 0 "$status"
            equal "$whole" "$("$ASSAY" query --format csv x.assay \
                "SELECT sum(n), sum(time_ns) FROM sample" | tail -1)"
            like "*assay: damaged/$kind-$value.data: records of kind 9 are damaged*" "$(cat err)"
            equal damaged_input "$("$ASSAY" query --format csv x.assay \
                "SELECT name FROM flag WHERE name = 'damaged_input'" | tail -1)"
        done
    done
    import damaged/trace.data
    like "*truncated at its beginning*" "$(cat err)"
    import damaged/events.data
    like "*names more than 4096 events*" "$(cat err)"
}

# A file that some process is writing passes every check that can be made, and is not executed.
@test "profile, run, repeat, scale: a program that cannot be executed leaves nothing" {
    local want="assay: ./program: cannot be executed: a process is writing the file; wait until it is complete"
    for words in "profile" "profile --event timer" "run" "repeat -n 2" "scale --threads 1,2"; do
        status=0
        # shellcheck disable=SC2086
        "$ASSAY" $words -o y.assay -- ./program >out 2>err 3>>program || status=$?
        equal 1 "$status"
        equal "$want" "$(grep 'cannot be executed' err)"
        ! grep -q 'attribute\|the experiment is' err || fails "$words: $(cat err)"
        [ ! -e y.assay ] || fails "$words: y.assay is left"
    done
}
@test "run --add: a program that cannot be executed leaves the runs that there were" {
    "$ASSAY" profile -o z.assay -- true >/dev/null 2>&1
    status=0
    "$ASSAY" run --add -o z.assay -- ./program >out 2>err 3>>program || status=$?
    equal 1 "$status"
    equal 1 "$("$ASSAY" query --format csv z.assay "SELECT group_concat(run_id) FROM run" | tail -1)"
    equal "experiment.db run-001" "$(ls z.assay | tr '\n' ' ' | sed 's/ $//')"
}
