# SPDX-License-Identifier: Apache-2.0
"""Recipe of assay for Spack 1.0 or newer."""
import os

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Assay(MesonPackage):
    """Profiler and code analyser for compute-heavy programs in C, C++ and Fortran, with MPI, OpenMP
    or threads. Shows where the time goes, what would make the program faster, and by how much."""

    # The source tarball of ./dev dist lies in the current directory.
    manual_download = True
    url = f"file://{os.getcwd()}/assay-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0")

    variant("openmpi", default=False, description="Trace programs of Open MPI")
    variant("mpich", default=False, description="Trace programs of MPICH, Intel MPI and MVAPICH")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("uthash", type="build")
    depends_on("elfutils@0.180:", type="build")  # <dwarf.h> alone
    depends_on("hwloc@2.4:")
    depends_on("libiberty+pic")
    depends_on("libpfm4")
    depends_on("libxlsxwriter")
    depends_on("lua@5.4")
    depends_on("otf2@2.2:")
    depends_on("sqlite@3.35:")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("zydis@4:")
    # Their mpi.h alone is read.
    depends_on("openmpi", type="build", when="+openmpi")
    depends_on("mpich", type="build", when="+mpich")

    requires("platform=linux", msg="assay runs on Linux alone")
    requires("target=x86_64:", msg="assay runs on x86-64 alone")

    def meson_args(self):
        args = ["-Dtests=false", "-Db_lto=true"]
        for name in ("openmpi", "mpich"):
            used = self.spec.satisfies(f"+{name}")
            args.append(f"-D{name}_include={self.spec[name].prefix.include if used else ''}")
        return args
