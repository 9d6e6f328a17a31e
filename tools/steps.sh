# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Steps of a long run, for scripts that source this file.
#   steps_begin FOLDER       logs go to FOLDER/NAME.log
#   step NAME COMMAND...     runs a step; a step that fails does not stop the run
#   steps_end                prints seconds and result of each step; returns 1 if one failed

steps_begin() {
    steps_folder=$1
    steps_table=$steps_folder/times
    mkdir -p "$steps_folder"
    : >"$steps_table"
}

step() {
    step_name=$1
    shift
    step_log=$steps_folder/$step_name.log
    step_start=$(date +%s)
    printf '==> step %s: %s\n' "$step_name" "$*"
    # A pipe gives the status of tee alone.
    { "$@" 2>&1 && echo passed >"$steps_folder/result" || echo FAILED >"$steps_folder/result"; } |
        tee "$step_log"
    printf '%-12s %5d s  %s\n' "$step_name" $(($(date +%s) - step_start)) \
        "$(cat "$steps_folder/result")" >>"$steps_table"
}

steps_end() {
    sed -n 's/^\([^ ]*\) .*FAILED$/\1/p' "$steps_table" | while read -r step_name; do
        printf '==> end of the log of %s, which failed\n' "$step_name"
        tail -n 60 "$steps_folder/$step_name.log"
    done
    echo '==> steps'
    cat "$steps_table"
    ! grep -q 'FAILED$' "$steps_table"
}
