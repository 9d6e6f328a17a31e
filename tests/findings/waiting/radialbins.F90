! SPDX-License-Identifier: Apache-2.0
! cause: The ranks add up each bin of the profile with a collective call of its own, and wait
! for each other in every one of them.
! place: profile mpi_allreduce
! finding: parallel_overhead
! words: (?i)allreduce
! flags: -O2 -g
! compiler: mpif90
! launcher: mpirun --allow-run-as-root --oversubscribe -n 2
! arguments: 450 1800
! repair: The sums of all bins are added up with one collective call.
! clock: wall
module shells
  use mpi
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: nbins, nlocal, rank, ranks
  real(dp), allocatable :: radius(:), mass(:)
  real(dp), allocatable :: mean(:)
  integer, allocatable :: first(:)
contains

  subroutine set_up(bins)
    integer, intent(in) :: bins
    integer :: i, b, ierr, per_bin
    nbins = bins
    call mpi_comm_rank(mpi_comm_world, rank, ierr)
    call mpi_comm_size(mpi_comm_world, ranks, ierr)
    per_bin = 100
    nlocal = nbins*per_bin
    allocate(radius(nlocal), mass(nlocal), mean(nbins), first(nbins+1))
    do b = 1, nbins
      first(b) = (b - 1)*per_bin + 1
      do i = first(b), first(b) + per_bin - 1
        radius(i) = b + 0.001_dp*mod(i*7 + rank*3, 400)
        mass(i) = 1.0_dp + 0.01_dp*mod(i*11 + rank*5, 17)
      end do
    end do
    first(nbins+1) = nlocal + 1
    mean = 0
  end subroutine set_up

  pure function shell_sum(b) result(s)
    integer, intent(in) :: b
    real(dp) :: s
    integer :: i
    s = 0
    do i = first(b), first(b+1) - 1
      s = s + mass(i)/radius(i)
    end do
  end function shell_sum

  subroutine profile()
    integer :: b, ierr
#ifdef REPAIRED
    real(dp) :: part(nbins)
    do b = 1, nbins
      part(b) = shell_sum(b)
    end do
    call mpi_allreduce(part, mean, nbins, mpi_double_precision, mpi_sum, &
                       mpi_comm_world, ierr)
#else
    real(dp) :: part
    do b = 1, nbins
      part = shell_sum(b)
      call mpi_allreduce(part, mean(b), 1, mpi_double_precision, mpi_sum, & ! HERE
                         mpi_comm_world, ierr) ! HERE
    end do
#endif
    mean = mean/(ranks*100)
  end subroutine profile

  subroutine drift(dt)
    real(dp), intent(in) :: dt
    integer :: b, i
    do b = 1, nbins
      do i = first(b), first(b+1) - 1
        mass(i) = mass(i) + dt*(mean(b)*radius(i) - mass(i))
      end do
    end do
  end subroutine drift

end module shells

program radialbins
  use shells
  implicit none
  integer :: bins, steps, step, ierr
  character(len=32) :: arg
  call mpi_init(ierr)
  bins = 100
  steps = 50
  if (command_argument_count() >= 2) then
    call get_command_argument(1, arg)
    read (arg, *) bins
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  call set_up(bins)
  do step = 1, steps
    call profile()
    call drift(0.05_dp)
  end do
  call profile()
  if (rank == 0) print '(a,2es18.9)', 'radialbins ', sum(mean), mean(nbins/2)
  call mpi_finalize(ierr)
end program radialbins
