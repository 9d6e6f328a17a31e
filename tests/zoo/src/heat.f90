! SPDX-License-Identifier: Apache-2.0
! The Fortran program: a main program, a free subroutine, and the module of heat_module.f90.
program heat_main ! line:MAIN__
  use heat
  implicit none
  type(grid) :: g
  integer :: k
  call init(g, 40)
  do k = 1, 50
    call step(g, 0.1d0)
  end do
  call report(g%total())
end program heat_main

subroutine report(x) ! line:report_
  implicit none
  real(8), intent(in) :: x
  print '(f12.6)', x
end subroutine report
