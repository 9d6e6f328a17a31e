! SPDX-License-Identifier: Apache-2.0
! Fortran: procedures that the compiler inlines for being called once, one within another, with the
! processor time of each. Usage: inlining
module steps
  use iso_fortran_env, only: int64
  implicit none
  real(8), volatile :: field(1000)
  real(8) :: inner_s = 0, outer_s = 0
  private :: inner
contains
  subroutine inner(n)
    integer, intent(in) :: n
    integer :: i, k
    do k = 1, n
      do i = 2, 999
        field(i) = 0.25d0 * (field(i - 1) + 2 * field(i) + field(i + 1))
      end do
    end do
  end subroutine
  subroutine step(n)
    integer, intent(in) :: n
    integer :: i, k
    real(8) :: t0, t1, t2
    call cpu_time(t0)
    do k = 1, n
      do i = 1, 1000
        field(i) = field(i) + 1d0 / (k + i)
      end do
    end do
    call cpu_time(t1)
    call inner(2 * n)
    call cpu_time(t2)
    outer_s = outer_s + t1 - t0
    inner_s = inner_s + t2 - t1
  end subroutine
end module

program main
  use steps
  implicit none
  integer :: i
  real(8) :: total
  field = 1
  do i = 1, 100
    call step(1000)
  end do
  call cpu_time(total)
  print '(a,i0,a,i0,a,i0,a)', '{"total_ns": ', int(1d9 * total, int64), ', "ns": {"step": ', &
    int(1d9 * outer_s, int64), ', "step;inner": ', int(1d9 * inner_s, int64), '}}'
end program
