#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: deb.sh OUTPUT-DIRECTORY
#
# Makes the Debian source package of the last commit (3.0 quilt: tools/source.sh and
# packaging/debian) in OUTPUT, builds it and checks it with lintian. PAGE as in tools/source.sh.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
version=$(cat VERSION)
mkdir -p "$1"
output=$(cd "$1" && pwd)
tree=$output/assay-$version

sh tools/source.sh "$output"
mv "$output/assay-$version.tar.gz" "$output/assay_$version.orig.tar.gz"
rm -rf "$tree"
tar -C "$output" -xzf "$output/assay_$version.orig.tar.gz"
cp -R "$root/packaging/debian" "$tree/debian"
cd "$tree"
DEB_BUILD_OPTIONS="parallel=${JOBS:-2} ${DEB_BUILD_OPTIONS:-}" dpkg-buildpackage -us -uc
cd "$output"
status=0
# An address and a bug of Debian belong to an upload.
not_ours=bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
lintian --version
lintian --info --suppress-tags "$not_ours" --fail-on error,warning \
    assay_"$version"-*_amd64.changes || status=1
ls -l "$output"/*.deb
exit $status
