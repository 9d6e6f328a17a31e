! SPDX-License-Identifier: Apache-2.0
! Quotients of complex numbers (CQA paper, figure 16).
subroutine quotients(n, a, b, c)
  implicit none
  integer, intent(in) :: n
  complex(8), intent(out) :: a(n)
  complex(8), intent(in) :: b(n), c(n)
  integer :: i
  do i = 1, n
    a(i) = b(i) / c(i)
  end do
end subroutine
