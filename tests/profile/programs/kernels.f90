! SPDX-License-Identifier: Apache-2.0
! Fortran: procedures of a module, one of them recursive, with the processor time of each.
! Usage: kernels
module kernels
  use iso_fortran_env, only: int64
  implicit none
  real(8), volatile :: field(1000)
contains
  subroutine smooth(n)
    integer, intent(in) :: n
    integer :: i, k
    do k = 1, n
      do i = 2, 999
        field(i) = 0.25d0 * (field(i - 1) + 2 * field(i) + field(i + 1))
      end do
    end do
  end subroutine
  recursive subroutine divide(depth, n)
    integer, intent(in) :: depth, n
    integer :: i
    if (depth > 0) then
      call divide(depth - 1, n / 2)
      call divide(depth - 1, n - n / 2)
    else
      do i = 1, n
        field(mod(i, 1000) + 1) = field(1) + i
      end do
    end if
  end subroutine
end module

program main
  use kernels
  implicit none
  integer :: i
  real(8) :: t0, t1, t2, total, one, two
  one = 0
  two = 0
  field = 1
  do i = 1, 60
    call cpu_time(t0)
    call smooth(400)
    call cpu_time(t1)
    call divide(4, 600000)
    call cpu_time(t2)
    one = one + (t1 - t0)
    two = two + (t2 - t1)
  end do
  call cpu_time(total)
  print '(a,i0,a,i0,a,i0,a)', '{"total_ns": ', int(total * 1d9, int64), ', "ns": {"smooth": ', &
    int(one * 1d9, int64), ', "divide": ', int(two * 1d9, int64), '}}'
end program
