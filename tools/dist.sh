#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: dist.sh SOURCE-DIRECTORY BUILD-DIRECTORY
#
# Builds SOURCE, the tree of a source tarball or a clone. Writes the relocatable
# assay-VERSION-linux-x86_64.tar.xz into BUILD, with its tree beside, and prints its path. Libraries
# are inside, but those of the C library. No path, time or order of the build is in the files.
# SOURCE_DATE_EPOCH is the time of its files, else the time of the last commit. DOCS=disabled leaves
# the HTML out.
set -eu
mkdir -p "$2"
source=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
version=$(cat "$source/VERSION")
name=assay-$version-linux-x86_64
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH="$epoch" LC_ALL=C.UTF-8 TZ=UTC
tree=$build/$name
inside=lib/assay/bundled

run() { # COMMAND...: its output goes to the log, which is shown if it fails
    "$@" >>"$build/dist.log" 2>&1 || {
        tail -n 40 "$build/dist.log" >&2
        echo "dist: '$1' failed; the log is $build/dist.log" >&2
        exit 1
    }
}

: >"$build/dist.log"
if [ -f "$build/meson/build.ninja" ]; then
    run meson setup --reconfigure "$build/meson"
else
    # shellcheck disable=SC2016 # the linker expands $ORIGIN
    run meson setup "$build/meson" "$source" --buildtype=release --prefix=/opt/assay --libdir=lib \
        -Db_lto=true -Dtests=false -Ddocs="${DOCS:-enabled}" -Dpkgconfig.relocatable=true \
        -Drpath='$ORIGIN/../lib/assay/bundled'
fi
run ninja -C "$build/meson" -j "${JOBS:-2}"
rm -rf "$build/image" "$tree"
DESTDIR=$build/image run meson install -C "$build/meson" --no-rebuild --strip
mv "$build/image/opt/assay" "$tree"
rm -r "$build/image"

# The loader finds what the program and its libraries need; packages and licences by their paths.
mkdir -p "$tree/$inside" "$tree/share/doc/assay/third-party"
ldd "$tree/bin/assay" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort >"$build/needed"
if ldd "$tree/bin/assay" | grep 'not found' >&2; then exit 1; fi
while read -r library; do
    case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) continue ;;
    esac
    cp -L "$library" "$tree/$inside/"
    chmod 644 "$tree/$inside/${library##*/}"
    real=$(readlink -f "$library") # packages may know it without /usr
    package=$(dpkg-query -S "$real" "${real#/usr}" 2>/dev/null | sed -n '1s/:.*//p')
    cp -L "/usr/share/doc/$package/copyright" "$tree/share/doc/assay/third-party/$package"
done <"$build/needed"
cp "$source/LICENSE" "$source/README.md" "$tree/"

tar -C "$build" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r-w,a+X --format=gnu -cf - "$name" | xz -6 -T1 >"$build/$name.tar.xz"
echo "$build/$name.tar.xz"
