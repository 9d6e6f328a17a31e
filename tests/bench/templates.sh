#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: templates.sh DIRECTORY: makes DIRECTORY/libtemplates.so, a C++ library of containers and
# algorithms over hundreds of types with debug information (g++ -O1 -g). Kept there once made;
# takes a minute or two.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -r libtemplates.so ] || exit 0
awk 'BEGIN {
    for (f = 0; f < 24; f++) {
        name = "t" f ".cc"
        print "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>" >name
        print "#include <unordered_map>\n#include <numeric>" >name
        for (k = 0; k < 12; k++) {
            id = f * 12 + k
            printf "struct T%d { double key[%d]; int tag; std::string name;\n", id, 1 + id % 5 >name
            printf "  bool operator<(const T%d &o) const { return key[0] < o.key[0]; } };\n", id >name
            printf "double use_%d(std::vector<T%d> &v, std::map<int, T%d> &m,\n", id, id, id >name
            printf "    std::unordered_map<std::string, T%d> &u)\n{\n", id >name
            printf "  std::sort(v.begin(), v.end());\n  std::stable_sort(v.begin(), v.end(),\n" >name
            printf "    [](const T%d &a, const T%d &b) { return a.tag > b.tag; });\n", id, id >name
            printf "  double s = 0;\n  for (auto &x : v) { m[x.tag] = x; u[x.name] = x; s += x.key[0]; }\n" >name
            printf "  for (auto &p : m) s += std::accumulate(std::begin(p.second.key), std::end(p.second.key), 0.0);\n" >name
            printf "  v.erase(std::unique(v.begin(), v.end(), [](const T%d &a, const T%d &b) { return a.tag == b.tag; }), v.end());\n", id, id >name
            printf "  std::partial_sort(v.begin(), v.begin() + v.size() / 2, v.end());\n  return s;\n}\n" >name
        }
        close(name)
    }
}'
printf '%s\n' t*.cc | xargs -P "${JOBS:-2}" -n 1 g++ -O1 -g -fPIC -c
g++ -shared t*.o -o libtemplates.new
rm -f t*.cc t*.o
mv libtemplates.new libtemplates.so
