#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: source.sh OUTPUT-DIRECTORY
#
# Writes assay-VERSION.tar.gz there: the files of the last commit and the built page of reports. So
# a build needs neither Node.js nor a registry. Equal commits give equal bytes. Prints its path.
# PAGE=FILE names a page that is built already, PAGE=none leaves the page out.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
output=$(cd "$1" && pwd)
version=$(cat VERSION)
name=assay-$version
epoch=$(git log -1 --format=%ct)

[ -z "$(git status --porcelain)" ] ||
    echo "source: the tree has changes that are not committed; they are left out" >&2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$place"
page=$place/$name/web/dist/report.html
case ${PAGE:-} in
none) ;;
'')
    [ -f web/node_modules/.package-lock.json ] || {
        echo "source: web/node_modules is missing; run npm ci in web/, or set PAGE=none" >&2
        exit 1
    }
    mkdir -p "${page%/*}"
    node web/build.mjs "$page"
    node web/build.mjs "${page%/*}/timeline.html" --page timeline
    ;;
*)
    mkdir -p "${page%/*}"
    cp "$PAGE" "$page"
    [ ! -f "${PAGE%/*}/timeline.html" ] || cp "${PAGE%/*}/timeline.html" "${page%/*}/"
    ;;
esac
tar -C "$place" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r-w,a+X --format=gnu -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
echo "$output/$name.tar.gz"
