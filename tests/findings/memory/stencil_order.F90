! SPDX-License-Identifier: Apache-2.0
! cause: The inner loop of the sweep runs over the second index, across the memory order of Fortran.
! place: sweep
! finding: strided_walk set_conflicts array_access
! false: memory_bandwidth scalar_arithmetic scalar_options
! flags: -O2 -g
! arguments: 1500 40
! repair: The inner loop runs over the first index.
! clock: cpu
module heat
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  subroutine set_up(t, nx, ny)
    integer, intent(in) :: nx, ny
    real(dp), intent(out) :: t(0:nx+1, 0:ny+1)
    integer :: i, j

    do j = 0, ny + 1
       do i = 0, nx + 1
          t(i, j) = merge(100.0_dp, real(mod(i + 3 * j, 17), dp), i == 0)
       end do
    end do
  end subroutine set_up

  subroutine sweep(t, new, nx, ny, rate)
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: t(0:nx+1, 0:ny+1), rate
    real(dp), intent(inout) :: new(0:nx+1, 0:ny+1)
    integer :: i, j

#ifdef REPAIRED
    do j = 1, ny
       do i = 1, nx
#else
    do i = 1, nx
       do j = 1, ny  ! HERE
#endif
          new(i, j) = t(i, j) + rate * (t(i-1, j) + t(i+1, j) &  ! HERE
               + t(i, j-1) + t(i, j+1) - 4 * t(i, j))
       end do
    end do
  end subroutine sweep

  subroutine advance(t, new, nx, ny, step_n)
    integer, intent(in) :: nx, ny, step_n
    real(dp), intent(inout) :: t(0:nx+1, 0:ny+1), new(0:nx+1, 0:ny+1)
    integer :: step

    do step = 1, step_n, 2
       call sweep(t, new, nx, ny, 0.2_dp)
       call sweep(new, t, nx, ny, 0.2_dp)
    end do
  end subroutine advance

end module heat

program stencil_order
  use heat
  implicit none
  real(dp), allocatable :: t(:, :), new(:, :)
  character(len=16) :: word
  integer :: n, step_n

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) step_n
  allocate (t(0:n+1, 0:n+1), new(0:n+1, 0:n+1))
  call set_up(t, n, n)
  call set_up(new, n, n)
  call advance(t, new, n, n, step_n)
  print '(a, es16.9)', 'checksum ', sum(t) / n
end program stencil_order
