! SPDX-License-Identifier: Apache-2.0
! Loops of Fortran: nests, cycle, exit of an outer loop, do while.
module field
  implicit none
contains
  subroutine nest(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n, n)
    integer :: i, j
    do j = 1, n        ! LOOP __field_MOD_nest outermost 1 entered=1 times=6
      do i = 1, n      ! LOOP __field_MOD_nest innermost 2 entered=6 times=36
        a(i, j) = a(i, j) * 1.5 + real(i)
      end do
    end do
  end subroutine

  integer function skip(k, n)
    integer, intent(in) :: n
    integer, intent(in) :: k(n)
    integer :: i, s
    s = 1
    do i = 1, n        ! LOOP __field_MOD_skip single 1 entered=1 times=12
      if (mod(k(i), 3) == 0) cycle
      s = ieor(s * 3, k(i))
    end do
    skip = s
  end function

  integer function find(k, n, what)
    integer, intent(in) :: n, what
    integer, intent(in) :: k(n, n)
    integer :: i, j
    find = -1
    outer: do j = 1, n ! LOOP __field_MOD_find outermost 1 entered=1
      do i = 1, n      ! LOOP __field_MOD_find innermost 2 entered=3
        if (k(i, j) == what) then
          find = i * 100 + j
          exit outer
        end if
      end do
    end do outer
  end function
end module

program main ! LOOPS MAIN__ - -
  ! LOOPS main - -
  use field
  implicit none
  real :: a(6, 6)
  integer :: k(12), m(4, 4), i, j
  do i = 1, 12
    k(i) = i
  end do
  do j = 1, 4
    do i = 1, 4
      m(i, j) = i + 4 * j
    end do
  end do
  a = 1.0
  call nest(a, 6)
  i = skip(k, 12)
  j = find(m, 4, 14)
  if (i + j == 0) stop 3
  if (j /= 203 .and. a(1, 1) < 0) stop 4
end program
