#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev nightly`: what takes too long for every change. Prints the seconds of each step, and the
# benchmarks' ratios. FUZZ_SECONDS=N of each parser (60); BENCHES="code predict" limits the
# benchmarks. Logs: build-nightly/.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tools/steps.sh
. tools/steps.sh

# The form that is installed, optimised as a whole, which no other test runs: what analyses code,
# and what reads and shows experiments.
try_installed() { # needs build/ with its tests
    prefix=$PWD/build-nightly/installed
    ./dev install "$prefix" &&
        ASSAY=$prefix/bin/assay ASSAY_NO_MEASURE=1 \
            MAKE_EXPERIMENT=$PWD/build/tests/unit/experiment/make-experiment \
            EXPERIMENT_DOC=$PWD/doc/reference/experiment-tables.md \
            CHECK_EXPORT=$PWD/tests/cli/export.py \
            bats --tap tests/cli/info.bats tests/cli/functions.bats tests/cli/disasm.bats \
            tests/cli/loops.bats tests/cli/cfg.bats tests/cli/predict.bats tests/cli/cqa.bats \
            tests/cli/experiment.bats tests/cli/export.bats
}

try_packages() {
    ./dev deb && sh tools/reproduce.sh build-nightly/reproduce
}

try_benches() {
    status=0
    for bench in ${BENCHES:-code predict cqa store advice large}; do
        BENCH_ONLY=$bench BENCH_PAIRS=3 ./dev bench || status=1
    done
    return $status
}

steps_begin build-nightly
step check ./dev check
step analyzer ./dev analyzer --all
step test env ASSAY_TEST_TURN=all ./dev test --daily
step accuracy ./dev test --nightly
step installed try_installed
step packages try_packages
step sanitize ./dev sanitize
step fuzz ./dev fuzz "${FUZZ_SECONDS:-60}"
step bench try_benches
steps_end
