! SPDX-License-Identifier: Apache-2.0
! cause: The sum of a dot product is a chain of additions that no option allows to reorder.
! place: dot
! finding: scalar_chain
! false: memory_bandwidth memory_latency cache_bandwidth
! flags: -O2 -g
! arguments: 512 48 2000
! repair: The compiler may reorder sums.
! repair flags: -O3 -g -ffast-math
! clock: cpu
module basis
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  function dot(x, y, n) result(total)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n), y(n)
    real(dp) :: total
    integer :: i

    total = 0
    do i = 1, n  ! HERE
       total = total + x(i) * y(i)  ! HERE
    end do
  end function dot

  ! Returns in overlaps the products of all pairs of vectors.
  subroutine overlap_matrix(vectors, n, vector_n, overlaps)
    integer, intent(in) :: n, vector_n
    real(dp), intent(in) :: vectors(n, vector_n)
    real(dp), intent(out) :: overlaps(vector_n, vector_n)
    integer :: i, k

    do k = 1, vector_n
       do i = 1, k
          overlaps(i, k) = dot(vectors(:, i), vectors(:, k), n)
          overlaps(k, i) = overlaps(i, k)
       end do
    end do
  end subroutine overlap_matrix

  subroutine normalise(vectors, n, vector_n, overlaps)
    integer, intent(in) :: n, vector_n
    real(dp), intent(inout) :: vectors(n, vector_n)
    real(dp), intent(in) :: overlaps(vector_n, vector_n)
    integer :: k

    do k = 1, vector_n
       vectors(:, k) = vectors(:, k) / sqrt(overlaps(k, k))
       vectors(mod(k, n) + 1, k) = vectors(mod(k, n) + 1, k) + 0.125_dp
    end do
  end subroutine normalise

end module basis

program norm_chain
  use basis
  implicit none
  real(dp), allocatable :: vectors(:, :), overlaps(:, :)
  character(len=16) :: word
  integer :: given(3), i, k

  do i = 1, 3
     call get_command_argument(i, word)
     read (word, *) given(i)
  end do
  allocate (vectors(given(1), given(2)), overlaps(given(2), given(2)))
  do k = 1, given(2)
     do i = 1, given(1)
        vectors(i, k) = 1 + mod(i * k, 13)
     end do
  end do
  do i = 1, given(3)
     call overlap_matrix(vectors, given(1), given(2), overlaps)
     call normalise(vectors, given(1), given(2), overlaps)
  end do
  print '(a, es14.7)', 'checksum ', sum(overlaps)
end program norm_chain
