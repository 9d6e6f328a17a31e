! SPDX-License-Identifier: Apache-2.0
! cause: Three collectives in each short iteration find out whether the solution is good enough.
! place: relax residual_norm mean_change largest_change MPI_Allreduce PMPI_Allreduce mpi_allreduce_
! place: mpi_allreduce
! finding: parallel_overhead parallel_time
! words: (?i)allreduce|collective|reduction
! false: load_imbalance lock_contention oversubscribed memory_latency input_output scalar_chain
! compiler: mpif90
! flags: -O2 -g
! launcher: mpirun --oversubscribe -n 2
! arguments: 200 200000
! repair: The ranks compare their residuals at each 100th iteration.
! clock: cpu
module relaxation
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
#ifdef REPAIRED
  integer, parameter :: steps_per_check = 100
#else
  integer, parameter :: steps_per_check = 1
#endif

  type progress
     real(dp) :: norm = 1, mean = 1, largest = 1
  end type progress

contains

  ! Swaps the border cells with the other rank; borders of the rod keep their values.
  subroutine exchange(t, n, rank)
    integer, intent(in) :: n, rank
    real(dp), intent(inout) :: t(0:n+1)
    integer :: error

    if (rank == 0) then
       call MPI_Sendrecv(t(n), 1, MPI_DOUBLE_PRECISION, 1, 1, t(n+1), 1, MPI_DOUBLE_PRECISION, &
            1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    else
       call MPI_Sendrecv(t(1), 1, MPI_DOUBLE_PRECISION, 0, 1, t(0), 1, MPI_DOUBLE_PRECISION, &
            0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end if
  end subroutine exchange

  ! Replaces each cell by the mean of its neighbours and the source.
  subroutine sweep(t, new, source, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: source(n)
    real(dp), intent(inout) :: t(0:n+1), new(0:n+1)
    integer :: i

    do i = 1, n
       new(i) = 0.5_dp * (t(i-1) + t(i+1)) + source(i)
    end do
  end subroutine sweep

  ! Returns the norm of the change on all ranks.
  function residual_norm(t, new, n) result(norm)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(0:n+1), new(0:n+1)
    real(dp) :: norm, total
    integer :: error

    total = sum((new(1:n) - t(1:n))**2)
    call MPI_Allreduce(total, norm, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)  ! HERE
    norm = sqrt(norm)
  end function residual_norm

  ! Returns the mean of the change on all ranks.
  function mean_change(t, new, n) result(mean)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(0:n+1), new(0:n+1)
    real(dp) :: mean, total
    integer :: error

    total = sum(new(1:n) - t(1:n)) / (2 * n)
    call MPI_Allreduce(total, mean, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)  ! HERE
  end function mean_change

  ! Returns the largest change on all ranks.
  function largest_change(t, new, n) result(largest)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(0:n+1), new(0:n+1)
    real(dp) :: largest, own
    integer :: error

    own = maxval(abs(new(1:n) - t(1:n)))
    call MPI_Allreduce(own, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &  ! HERE
         MPI_COMM_WORLD, error)
  end function largest_change

  ! Relaxes until the change is small or the steps are used up.
  subroutine relax(t, source, n, rank, max_step, step, found)
    integer, intent(in) :: n, rank, max_step
    real(dp), intent(in) :: source(n)
    real(dp), intent(inout) :: t(0:n+1)
    integer, intent(out) :: step
    type(progress), intent(out) :: found
    real(dp) :: new(0:n+1)

    do step = 1, max_step
       call exchange(t, n, rank)
       new(0) = t(0)
       new(n+1) = t(n+1)
       call sweep(t, new, source, n)
       if (mod(step, steps_per_check) == 0) then
          found%norm = residual_norm(t, new, n)  ! HERE
          found%mean = mean_change(t, new, n)  ! HERE
          found%largest = largest_change(t, new, n)  ! HERE
       end if
       t = new
       if (found%norm < 1.0e-10_dp .and. found%largest < 1.0e-10_dp) exit
    end do
  end subroutine relax

end module relaxation

program residual_each
  use relaxation
  implicit none
  real(dp), allocatable :: t(:), source(:)
  real(dp) :: total, all
  type(progress) :: found
  character(len=16) :: word
  integer :: n, max_step, step, rank, rank_n, error, i

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, rank_n, error)
  if (rank_n /= 2) error stop 'residual_each: use two ranks'
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) max_step
  allocate (t(0:n+1), source(n))
  t = 0
  if (rank == 1) t(n+1) = 1
  do i = 1, n
     source(i) = 1.0e-6_dp * mod(i + rank * n, 11)
  end do
  call relax(t, source, n, rank, max_step, step, found)
  total = sum(t(1:n))
  call MPI_Allreduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, f12.6, a, l1)', 'heat ', all, ', converged ', step <= max_step
  call MPI_Finalize(error)
end program residual_each
