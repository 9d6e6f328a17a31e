/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the MPI that the program has loaded; see mpi_wrap.h. */
#include "agent/wrap/mpi/mpi_wrap.h"

struct as_mpi_own as_mpi_own;
static const void *in_place_fortran;

bool as_mpi_find_own(const struct as_mpi_front *front)
{
    struct as_mpi_own *own = &as_mpi_own;
    bool all = true;
#define OWN_FOUND(name)                                                                            \
    all &= (own->name = (__typeof__(own->name))front->find("PMPI_" #name)) != NULL;
    AS_MPI_OWN(OWN_FOUND)
#ifdef OPEN_MPI
    own->world = (MPI_Comm)front->find_data("ompi_mpi_comm_world");
    own->self = (MPI_Comm)front->find_data("ompi_mpi_comm_self");
    own->null = (MPI_Comm)front->find_data("ompi_mpi_comm_null");
    own->byte = (MPI_Datatype)front->find_data("ompi_mpi_byte");
    in_place_fortran = front->find_data("mpi_fortran_in_place_");
    all &= own->world && own->self && own->byte;
#else
    own->world = MPI_COMM_WORLD;
    own->self = MPI_COMM_SELF;
    own->null = MPI_COMM_NULL;
    own->byte = MPI_BYTE;
#endif
    return all;
}

bool as_mpi_is_in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE || (in_place_fortran && buffer == in_place_fortran);
}

int64_t as_mpi_bytes_of(long long count, MPI_Datatype type)
{
    int size_b = 0;
    if (count <= 0 || as_mpi_own.Type_size(type, &size_b) != MPI_SUCCESS || size_b < 0)
        return 0;
    return count * size_b;
}

int as_mpi_comm_size(MPI_Comm comm)
{
    int n = 0;
    return as_mpi_own.Comm_size(comm, &n) == MPI_SUCCESS ? n : 0;
}

int as_mpi_comm_rank(MPI_Comm comm)
{
    int n = 0;
    return as_mpi_own.Comm_rank(comm, &n) == MPI_SUCCESS ? n : 0;
}

unsigned as_mpi_share_of(int root, MPI_Comm comm)
{
    int inter = 0;
    if (root == MPI_PROC_NULL)
        return 0;
    if (root == MPI_ROOT)
        return AS_MPI_ROOT_SHARE;
    if (root != as_mpi_comm_rank(comm))
        return AS_MPI_MEMBER_SHARE;
    as_mpi_own.Comm_test_inter(comm, &inter);
    return AS_MPI_MEMBER_SHARE | (inter ? 0 : AS_MPI_ROOT_SHARE);
}

int as_mpi_root_of(int root)
{
    return root == MPI_ROOT ? AS_TRACE_IS_ROOT : root == MPI_PROC_NULL ? AS_TRACE_NO_RANK : root;
}
