! SPDX-License-Identifier: Apache-2.0
! A stencil, a reduction and a loop with a call, in Fortran.
module kernels
contains
  subroutine sweep(a, b, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n, n)
    real(8), intent(out) :: b(n, n)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine
  real(8) function total(a, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n, n)
    integer :: i, j
    total = 0
    do j = 1, n
      do i = 1, n
        if (a(i, j) > 0.5d0) total = total + sqrt(a(i, j))
      end do
    end do
  end function
end module
program stencil
  use kernels
  real(8) :: a(40, 40), b(40, 40), s
  integer :: i, j, r
  do j = 1, 40
    do i = 1, 40
      a(i, j) = mod(i * 7 + j * 13, 17) / 8d0
    end do
  end do
  b = a
  s = 0
  do r = 1, 2
    call sweep(a, b, 40)
    call sweep(b, a, 40)
    s = s + total(a, 40)
  end do
  write (*, '(es24.16)') s
end program
