! SPDX-License-Identifier: Apache-2.0
! A Fortran module: module procedures (mangled by each compiler in its own way), an internal
! procedure, array syntax, and a derived type with a bound procedure.
module heat
  implicit none
  type :: grid
    integer :: n
    real(8), allocatable :: t(:, :)
  contains
    procedure :: total => grid_total
  end type grid
contains
  subroutine init(g, n) ! line:init
    type(grid), intent(out) :: g
    integer, intent(in) :: n
    integer :: i
    g%n = n
    allocate (g%t(n, n))
    g%t = 0.0d0
    do i = 1, n
      g%t(i, 1) = ramp(i)
    end do
  contains
    real(8) function ramp(k) ! line:ramp
      integer, intent(in) :: k
      ramp = dble(k)/dble(n)
    end function ramp
  end subroutine init

  subroutine step(g, alpha) ! line:step
    type(grid), intent(inout) :: g
    real(8), intent(in) :: alpha
    real(8) :: new(g%n, g%n)
    integer :: i, j
    new = g%t
    do j = 2, g%n - 1
      do i = 2, g%n - 1
        new(i, j) = g%t(i, j) + alpha*(g%t(i - 1, j) + g%t(i + 1, j) + g%t(i, j - 1) &
                                       + g%t(i, j + 1) - 4.0d0*g%t(i, j))
      end do
    end do
    g%t = new
  end subroutine step

  real(8) function grid_total(self) ! line:grid_total
    class(grid), intent(in) :: self
    grid_total = sum(self%t)
  end function grid_total
end module heat
