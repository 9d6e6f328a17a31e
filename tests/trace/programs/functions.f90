! SPDX-License-Identifier: Apache-2.0
! As functions.c: procedures of a module, one of which calls itself, and one outside. Logs to the
! file functions.log; that the log is written by calls, too, who reads the trace knows.
module solver
  implicit none
  integer :: unit = -1, depth = 0, total = 0
contains
  subroutine note(name)
    character(len=*), intent(in) :: name
    write (unit, '(i0, 1x, a)') depth, name
    depth = depth + 1
  end subroutine note

  recursive function power(n) result(value)
    integer, intent(in) :: n
    integer :: value
    call note("solver::power")
    value = 1
    if (n > 0) value = 2 * power(n - 1)
    depth = depth - 1
  end function power

  subroutine advance(n)
    integer, intent(in) :: n
    integer :: i
    call note("solver::advance")
    do i = 1, n
      total = total + power(i)
    end do
    depth = depth - 1
  end subroutine advance
end module solver

subroutine outside(n)
  use solver
  integer, intent(in) :: n
  call note("outside_")
  call advance(n)
  depth = depth - 1
end subroutine outside

program main
  use solver
  open (newunit=unit, file="functions.log", status="replace")
  call outside(3)
  call advance(2)
  close (unit)
  if (total /= 2 + 4 + 8 + 2 + 4) stop 3
end program main
