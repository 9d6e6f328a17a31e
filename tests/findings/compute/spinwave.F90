! SPDX-License-Identifier: Apache-2.0
! cause: The neighbours on the ring are found by two integer divisions per point in the inner
! loop, which also keep it from being vectorised.
! place: force_field
! finding: integer_division
! flags: -O3 -g
! arguments: 512 1200
! repair: The two edge columns are done on their own, and the inner points use plain neighbour
! indices.
! clock: cpu
module lattice
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: n
  real(dp), allocatable :: u(:,:), v(:,:), f(:,:)
  real(dp) :: stiffness = 0.8_dp, field = 0.05_dp
contains

  subroutine allocate_lattice(size)
    integer, intent(in) :: size
    integer :: i, j
    n = size
    allocate(u(n,n), v(n,n), f(n,n))
    do j = 1, n
      do i = 1, n
        u(i,j) = 0.01_dp*mod(17*i + 31*j, 101) - 0.5_dp
        v(i,j) = 0
      end do
    end do
    f = 0
  end subroutine allocate_lattice

  pure function local_force(c, west, east, south, north) result(r)
    real(dp), intent(in) :: c, west, east, south, north
    real(dp) :: r
    r = stiffness*((west + east) + (south + north) - 4*c) - field*c*c*c
  end function local_force

  subroutine force_field()
    integer :: i, j, js, jn
#ifndef REPAIRED
    integer :: iw, ie
#endif
    do j = 1, n
      js = modulo(j - 2, n) + 1
      jn = modulo(j, n) + 1
#ifdef REPAIRED
      f(1,j) = local_force(u(1,j), u(n,j), u(2,j), u(1,js), u(1,jn))
      do i = 2, n - 1
        f(i,j) = local_force(u(i,j), u(i-1,j), u(i+1,j), u(i,js), u(i,jn))
      end do
      f(n,j) = local_force(u(n,j), u(n-1,j), u(1,j), u(n,js), u(n,jn))
#else
      do i = 1, n
        iw = modulo(i - 2, n) + 1 ! HERE
        ie = modulo(i, n) + 1 ! HERE
        f(i,j) = local_force(u(i,j), u(iw,j), u(ie,j), u(i,js), u(i,jn))
      end do
#endif
    end do
  end subroutine force_field

  subroutine kick(dt)
    real(dp), intent(in) :: dt
    integer :: i, j
    do j = 1, n
      do i = 1, n
        v(i,j) = v(i,j) + dt*f(i,j)
        u(i,j) = u(i,j) + dt*v(i,j)
      end do
    end do
  end subroutine kick

  function energy() result(e)
    real(dp) :: e
    integer :: i, j
    e = 0
    do j = 1, n
      do i = 1, n
        e = e + 0.5_dp*v(i,j)**2 + 0.25_dp*field*u(i,j)**4
      end do
    end do
  end function energy

end module lattice

program spinwave
  use lattice
  implicit none
  integer :: size, steps, step
  character(len=32) :: arg
  real(dp) :: trace
  size = 128
  steps = 100
  if (command_argument_count() >= 2) then
    call get_command_argument(1, arg)
    read (arg, *) size
    call get_command_argument(2, arg)
    read (arg, *) steps
  end if
  call allocate_lattice(size)
  trace = 0
  do step = 1, steps
    call force_field()
    call kick(0.02_dp)
    if (mod(step, 100) == 0) trace = trace + energy()
  end do
  print '(a,2es20.10)', 'spinwave ', energy(), trace
end program spinwave
