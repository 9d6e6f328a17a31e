# SPDX-License-Identifier: Apache-2.0
"""Recipe of libxlsxwriter, which assay needs and Spack's own list lacks."""
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Libxlsxwriter(CMakePackage):
    """C library that writes workbooks in the format of Excel 2007 and later."""

    homepage = "https://libxlsxwriter.github.io"
    url = "https://github.com/jmcnamara/libxlsxwriter/archive/refs/tags/RELEASE_1.1.5.tar.gz"

    license("BSD-2-Clause")

    version("1.1.5")

    depends_on("c", type="build")
    depends_on("cmake@3.7:", type="build")
    depends_on("zlib-api")

    def cmake_args(self):
        return ["-DBUILD_SHARED_LIBS=ON"]
