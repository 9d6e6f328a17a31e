! SPDX-License-Identifier: Apache-2.0
! As calls.c by Fortran, without chance; -DF08 uses mpi_f08, else the module mpi.
program calls
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Request) :: r(2)
  type(MPI_Status) :: s
  type(MPI_Comm) :: half
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#else
  integer :: r(2), s(MPI_STATUS_SIZE), half
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#endif
  integer :: rank, n, to, from, i, index, ierr, got
#ifndef F08
  integer :: counts(3), places(3) = (/ 0, 160, 320 /), types(3), near
  integer(kind=MPI_ADDRESS_KIND) :: far(2) = (/ 0, 400 /)
  logical :: periods(1) = .false.
#endif
  double precision :: a(100), b(100)
  character(len=1024) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call get_command_argument(1, name)
  write (name, '(a,".",i0)') trim(name), rank
  open (7, file=name)
  write (7, '(a)') 'MPI_Init', 'MPI_Comm_rank', 'MPI_Comm_size'
  to = mod(rank + 1, n)
  from = mod(rank + n - 1, n)
  a = rank
  do i = 1, 20
    call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, from, i, MPI_COMM_WORLD, r(1), ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Irecv', from, i, 800
    call MPI_Isend(a, i, MPI_DOUBLE_PRECISION, to, i, MPI_COMM_WORLD, r(2), ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Isend', to, i, 8 * i
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Waitall', from, i, 8 * i
    call MPI_Sendrecv(a, i, MPI_INTEGER, to, 7, b, 100, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, s, ierr)
    write (7, '(a,6(1x,i0))') 'MPI_Sendrecv', to, 7, 4 * i, SOURCE_OF(s), TAG_OF(s), 4 * i
    call MPI_Irecv(b, 100, MPI_DOUBLE_PRECISION, from, i, MPI_COMM_WORLD, r(1), ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Irecv', from, i, 800
    call MPI_Send(a, 5, MPI_DOUBLE_PRECISION, to, i, MPI_COMM_WORLD, ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Send', to, i, 40
    call MPI_Waitany(1, r, index, s, ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Waitany', SOURCE_OF(s), TAG_OF(s), 40
    call MPI_Get_count(s, MPI_DOUBLE_PRECISION, got, ierr)
    write (7, '(a)') 'MPI_Get_count'
    call MPI_Bcast(a, i, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
    if (rank == 1) then
      write (7, '(a,3(1x,i0))') 'MPI_Bcast', 1, 8 * i, 0
    else
      write (7, '(a,3(1x,i0))') 'MPI_Bcast', 1, 0, 8 * i
    end if
    call MPI_Allreduce(MPI_IN_PLACE, a, i, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    write (7, '(a,3(1x,i0))') 'MPI_Allreduce', -1, 8 * i, 8 * i
    call MPI_Comm_dup(MPI_COMM_WORLD, half, ierr)
    write (7, '(a)') 'MPI_Comm_dup'
    call MPI_Barrier(half, ierr)
    write (7, '(a)') 'MPI_Barrier -1 0 0'
    call MPI_Comm_free(half, ierr)
    write (7, '(a)') 'MPI_Comm_free'
  end do
#ifndef F08
  ! What mpi_f08 calls of these is up to the MPI: others, or other names of them.
  counts = (/ 1 + rank, 2 + rank, 3 + rank /)
  types = MPI_DOUBLE_PRECISION
  types(3 - rank) = MPI_INTEGER ! both sides have it so
  call MPI_Alltoallw(a, counts, places, types, b, counts, places, types, MPI_COMM_WORLD, ierr)
  got = 8 * sum(counts) - 4 * counts(3 - rank)
  write (7, '(a,3(1x,i0))') 'MPI_Alltoallw', -1, got, got
  call MPI_Cart_create(MPI_COMM_WORLD, 1, (/ n /), periods, .false., half, ierr)
  write (7, '(a)') 'MPI_Cart_create'
  near = min(rank, 1) + min(n - 1 - rank, 1)
  types = MPI_INTEGER
  counts = 4
  call MPI_Neighbor_alltoallw(a, counts, far, types, b, counts, far, types, half, ierr)
  write (7, '(a,3(1x,i0))') 'MPI_Neighbor_alltoallw', -1, 16 * near, 16 * near
  call MPI_Neighbor_allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, half, ierr)
  write (7, '(a,3(1x,i0))') 'MPI_Neighbor_allgather', -1, 8 * near, 8 * near
  call MPI_Comm_free(half, ierr)
  write (7, '(a)') 'MPI_Comm_free'
#endif
  call MPI_Finalize(ierr)
  write (7, '(a)') 'MPI_Finalize'
  close (7)
end program
