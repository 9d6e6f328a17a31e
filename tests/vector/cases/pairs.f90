! SPDX-License-Identifier: Apache-2.0
! Contributions of pairs of nodes (CQA paper, figures 8 and 9): through two pointers to structures,
! through one, and through allocatable arrays.
module pairs
  implicit none
  type pointed
    integer, pointer :: val(:)
  end type
  type kept
    integer, allocatable :: val(:)
  end type
  type element
    type(pointed), pointer :: p1, p2
  end type
  type element_kept
    type(kept) :: p1, p2
  end type
contains
  subroutine two_pointers(elt, a, b, c, n)
    type(element), pointer, intent(in) :: elt
    real(4), pointer, intent(in) :: a(:), b(:), c(:)
    integer, intent(in) :: n
    integer :: j, i1, i2
    real(4) :: d
    do j = 1, n
      i1 = elt%p1%val(j)
      i2 = elt%p2%val(j)
      d = a(j) * (b(i2) - b(i1))
      c(i1) = c(i1) + d
      c(i2) = c(i2) - d
    end do
  end subroutine

  subroutine one_pointer(elt, a, b, c, n)
    type(element), pointer, intent(in) :: elt
    real(4), pointer, intent(in) :: a(:), b(:), c(:)
    integer, intent(in) :: n
    type(pointed) :: p1, p2
    integer :: j, i1, i2
    real(4) :: d
    p1 = elt%p1
    p2 = elt%p2
    do j = 1, n
      i1 = p1%val(j)
      i2 = p2%val(j)
      d = a(j) * (b(i2) - b(i1))
      c(i1) = c(i1) + d
      c(i2) = c(i2) - d
    end do
  end subroutine

  subroutine allocatables(elt, a, b, c, n)
    type(element_kept), intent(in) :: elt
    real(4), allocatable, intent(in) :: a(:), b(:)
    real(4), allocatable, intent(inout) :: c(:)
    integer, intent(in) :: n
    integer :: j, i1, i2
    real(4) :: d
    do j = 1, n
      i1 = elt%p1%val(j)
      i2 = elt%p2%val(j)
      d = a(j) * (b(i2) - b(i1))
      c(i1) = c(i1) + d
      c(i2) = c(i2) - d
    end do
  end subroutine
end module
