#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh CG [LAUNCHER...]: every fault leaves the result as it is: the same iterations, the same
# error to four digits, the same residual to one part in a thousand. No time is looked at.
set -eu
cg=$1
shift

loads() { # FAULTS LAUNCHER...: lines "iterations residual error"
    faults=$1
    shift
    "$@" "$cg" --size 16 --loads 3 --faults "$faults" >check.out || {
        cat check.out >&2
        return 1
    }
    tr -d , <check.out |
        sed -n 's/^load.* \([0-9]*\) iterations residual \([^ ]*\) error \([^ ]*\) .*/\1 \2 \3/p'
}

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
case $cg in /*) ;; *) cg=$PWD/$cg ;; esac
cd "$directory"
want=$(loads none "$@")
[ "$(echo "$want" | wc -l)" -eq 3 ] || {
    echo "check: not three loads: $want" >&2
    exit 1
}
status=0
for fault in divide stride scalar imbalance critical all; do
    got=$(loads "$fault" "$@")
    # Ranks precondition their own slab alone: where the slabs are not alike the way there differs.
    [ $# -gt 0 ] && case $fault in imbalance | all) continue ;; esac
    printf '%s\n%s\n' "$want" "$got" | awk '
        NR <= 3 { n[NR] = $1; residual[NR] = $2; error[NR] = $3; next }
        $1 != n[NR - 3] || $3 != error[NR - 3] { exit bad = 1 }
        ($2 - residual[NR - 3]) ^ 2 > (1e-3 * $2) ^ 2 { exit bad = 1 }
        END { exit bad || NR != 6 }' || {
        printf 'check: %s: another result\nwithout: %s\nwith: %s\n' "$fault" "$want" "$got" >&2
        status=1
    }
done
[ "$status" -ne 0 ] || echo "check: the same result with every fault"
exit "$status"
