#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: templates.sh DIRECTORY: makes DIRECTORY/libtemplates.so, a C++ library of containers and
# algorithms over hundreds of types with debug information (g++ -O1 -g). Kept there once made;
# takes a minute or two.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -r libtemplates.so ] || exit 0
cat >use.h <<'END'
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>
#define USE(ID, N)                                                                                 \
    struct T##ID {                                                                                 \
        double key[N];                                                                             \
        int tag;                                                                                   \
        std::string name;                                                                          \
        bool operator<(const T##ID &o) const { return key[0] < o.key[0]; }                         \
    };                                                                                             \
    double use_##ID(std::vector<T##ID> &v, std::map<int, T##ID> &m,                                \
                    std::unordered_map<std::string, T##ID> &u)                                     \
    {                                                                                              \
        double s = 0;                                                                              \
        std::sort(v.begin(), v.end());                                                             \
        std::stable_sort(v.begin(), v.end(),                                                       \
                         [](const T##ID &a, const T##ID &b) { return a.tag > b.tag; });            \
        for (auto &x : v) {                                                                        \
            m[x.tag] = x;                                                                          \
            u[x.name] = x;                                                                         \
            s += x.key[0];                                                                         \
        }                                                                                          \
        for (auto &p : m)                                                                          \
            s += std::accumulate(std::begin(p.second.key), std::end(p.second.key), 0.0);           \
        std::partial_sort(v.begin(), v.begin() + v.size() / 2, v.end());                           \
        return s;                                                                                  \
    }
END
awk 'BEGIN {
    for (f = 0; f < 24; f++) {
        name = "t" f ".cc"
        print "#include \"use.h\"" >name
        for (k = 0; k < 12; k++)
            printf "USE(%d, %d)\n", f * 12 + k, 1 + (f * 12 + k) % 5 >name
        close(name)
    }
}'
printf '%s\n' t*.cc | xargs -P "${JOBS:-2}" -n 1 g++ -O1 -g -fPIC -c
g++ -shared t*.o -o libtemplates.new
rm -f use.h t*.cc t*.o
mv libtemplates.new libtemplates.so
