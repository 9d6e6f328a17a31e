#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: reproduce.sh DIRECTORY
#
# Builds the relocatable tarball twice without a compiler cache, in two folders of DIRECTORY. Their
# names have different lengths. Fails if the bytes of the tarballs differ, and names the files. PAGE
# as in tools/source.sh, DOCS as in tools/dist.sh.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
place=$(cd "$1" && pwd)
CCACHE_DISABLE=1
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export CCACHE_DISABLE SOURCE_DATE_EPOCH

archive=$(sh tools/source.sh "$place")
for folder in one another-place/with-a-longer-name; do
    rm -rf "${place:?}/$folder"
    mkdir -p "$place/$folder"
    tar -C "$place/$folder" -xzf "$archive"
    sh tools/dist.sh "$place/$folder"/assay-* "$place/$folder/build"
done
one=$place/one/build another=$place/another-place/with-a-longer-name/build
if cmp "$one"/assay-*.tar.xz "$another"/assay-*.tar.xz; then
    echo 'reproduce: both tarballs have the same bytes'
    sha256sum "$one"/assay-*.tar.xz
else
    diff -rq "$one"/assay-*/ "$another"/assay-*/ || true
    exit 1
fi
