! SPDX-License-Identifier: Apache-2.0
! Some of each class as Fortran says it: array statements, assumed shape, pointers, complex numbers.
module classes
  implicit none
  type cell
    integer, pointer :: first(:), second(:)
  end type
contains
  subroutine whole(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(n)
    integer :: i
    do i = 1, n ! loop f64: free
      a(i) = a(i) + 2.0d0 * b(i)
    end do
  end subroutine

  subroutine statement(a, b, n)
    integer, intent(in) :: n
    real(4), intent(inout) :: a(n)
    real(4), intent(in) :: b(n)
    a = b * 3.0 + 1.0 ! loop f32: free
  end subroutine

  subroutine assumed(a, b)
    real(8), intent(inout) :: a(:)
    real(8), intent(in) :: b(:)
    integer :: i
    do i = 1, size(a) ! loop f64
      a(i) = b(i) * 0.5d0
    end do
  end subroutine

  subroutine through_pointers(a, b, n)
    real(8), pointer, intent(in) :: a(:), b(:)
    integer, intent(in) :: n
    integer :: i
    do i = 1, n ! loop f64
      a(i) = b(i) + 1.0d0
    end do
  end subroutine

  subroutine recurrence(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(n)
    integer :: i
    do i = 2, n ! loop f64: chain
      a(i) = a(i - 1) * b(i) + 1.0d0
    end do
  end subroutine

  real(8) function total(a, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    integer :: i
    total = 0.0d0
    do i = 1, n ! loop f64: reduction
      total = total + a(i)
    end do
  end function

  real(8) function scalar_product(a, b, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n), b(n)
    scalar_product = dot_product(a, b) ! loop f64: reduction
  end function

  real(4) function largest(a, n)
    integer, intent(in) :: n
    real(4), intent(in) :: a(n)
    integer :: i
    largest = a(1)
    do i = 2, n ! loop f32
      largest = max(largest, a(i))
    end do
  end function

  subroutine gathered(a, b, x, n)
    integer, intent(in) :: n, x(n)
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(*)
    integer :: i
    do i = 1, n ! loop f64: indirect
      a(i) = b(x(i)) * 2.0d0
    end do
  end subroutine

  subroutine scattered(a, b, c, n)
    integer, intent(in) :: n
    type(cell), intent(in) :: c
    real(4), intent(inout) :: a(*)
    real(4), intent(in) :: b(*)
    real(4) :: d
    integer :: j
    do j = 1, n ! loop f32: indirect
      d = b(c%second(j)) - b(c%first(j))
      a(c%first(j)) = a(c%first(j)) + d
      a(c%second(j)) = a(c%second(j)) - d
    end do
  end subroutine

  subroutine across(a, lead, n)
    integer, intent(in) :: lead, n
    real(8), intent(inout) :: a(lead, n)
    integer :: i
    do i = 1, n ! loop f64
      a(3, i) = a(3, i) + 1.0d0
    end do
  end subroutine

  subroutine conditional(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(n)
    integer :: i
    do i = 1, n ! loop f64: ways
      if (b(i) > 0.0d0) a(i) = b(i) + 1.0d0
    end do
  end subroutine

  subroutine exponential(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(n)
    integer :: i
    do i = 1, n ! loop f64: call
      a(i) = exp(b(i))
    end do
  end subroutine

  subroutine complex_product(a, b, n)
    integer, intent(in) :: n
    complex(8), intent(inout) :: a(n)
    complex(8), intent(in) :: b(n)
    integer :: i
    do i = 1, n ! loop f64
      a(i) = a(i) * b(i)
    end do
  end subroutine

  subroutine leaving(a, b, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    real(8), intent(in) :: b(n)
    integer :: i
    do i = 1, n ! loop f64: exits
      if (b(i) < 0.0d0) exit
      a(i) = b(i) * 2.0d0
    end do
  end subroutine

  subroutine stepped(a, b, n)
    integer, intent(in) :: n
    real(4), intent(inout) :: a(n)
    real(4), intent(in) :: b(3 * n)
    integer :: i
    do i = 1, n ! loop f32: stride
      a(i) = b(3 * i)
    end do
  end subroutine
end module
