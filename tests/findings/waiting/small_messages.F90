! SPDX-License-Identifier: Apache-2.0
! cause: Each element of a border is a message of its own.
! place: exchange
! finding: parallel_overhead parallel_time
! words: (?i)message
! false: load_imbalance late lock_contention oversubscribed
! compiler: mpif90
! flags: -O2 -g
! launcher: mpirun --oversubscribe -n 2
! arguments: 1000 400 1500
! repair: A border is one message.
! clock: wall
module tiles
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  subroutine smooth(tile, n, width)
    integer, intent(in) :: n, width
    real(dp), intent(inout) :: tile(0:n+1, 0:width+1)
    integer :: i, j

    do j = 1, width
       do i = 1, n
          tile(i, j) = 0.25_dp * (tile(i, j-1) + tile(i, j+1)) + 0.5_dp * tile(i, j)
       end do
    end do
  end subroutine smooth

  ! Sends the last column to the other rank and receives its first.
  subroutine exchange(tile, n, width, other)
    integer, intent(in) :: n, width, other
    real(dp), intent(inout) :: tile(0:n+1, 0:width+1)
    integer :: error
#ifdef REPAIRED
    call MPI_Sendrecv(tile(1, width), n, MPI_DOUBLE_PRECISION, other, 1, tile(1, 0), n, &
         MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
#else
    integer :: i

    do i = 1, n  ! HERE
       call MPI_Sendrecv(tile(i, width), 1, MPI_DOUBLE_PRECISION, other, i, tile(i, 0), 1, &  ! HERE
            MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
#endif
  end subroutine exchange

end module tiles

program small_messages
  use tiles
  implicit none
  real(dp), allocatable :: tile(:, :)
  real(dp) :: total, all
  character(len=16) :: word
  integer :: n, width, step_n, step, rank, error, i, j

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) width
  call get_command_argument(3, word)
  read (word, *) step_n
  allocate (tile(0:n+1, 0:width+1))
  do j = 0, width + 1
     do i = 0, n + 1
        tile(i, j) = mod(i + j * (rank + 2), 23)
     end do
  end do
  do step = 1, step_n
     call smooth(tile, n, width)
     call exchange(tile, n, width, 1 - rank)
  end do
  total = sum(tile)
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, es16.9)', 'checksum ', all
  call MPI_Finalize(error)
end program small_messages
