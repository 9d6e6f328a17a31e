! SPDX-License-Identifier: Apache-2.0
! cause: Rows of a triangle differ in length, and a static schedule gives one thread the long ones.
! place: correlate
! finding: load_imbalance
! false: lock_contention parallel_overhead oversubscribed processors_idle
! flags: -O2 -g -fopenmp
! variables: OMP_NUM_THREADS=2
! arguments: 900 1500 4
! repair: Rows are given out dynamically.
! clock: wall
module signals
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  subroutine record_channels(samples, n, channel_n)
    integer, intent(in) :: n, channel_n
    real(dp), intent(out) :: samples(n, channel_n)
    integer :: i, k

    do k = 1, channel_n
       do i = 1, n
          samples(i, k) = mod(i * k, 31) - 15
       end do
    end do
  end subroutine record_channels

  function product_of(x, y, n) result(total)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n), y(n)
    real(dp) :: total
    integer :: i

    total = 0
    do i = 1, n
       total = total + x(i) * y(i)
    end do
  end function product_of

  ! Fills the upper triangle of the matrix of correlations.
  subroutine correlate(samples, n, channel_n, matrix)
    integer, intent(in) :: n, channel_n
    real(dp), intent(in) :: samples(n, channel_n)
    real(dp), intent(inout) :: matrix(channel_n, channel_n)
    integer :: i, k

#ifdef REPAIRED
    !$omp parallel do private(k) schedule(dynamic, 4)
#else
    !$omp parallel do private(k) schedule(static)
#endif
    do i = 1, channel_n  ! HERE
       do k = i, channel_n  ! HERE
          matrix(k, i) = product_of(samples(:, i), samples(:, k), n)
       end do
    end do
    !$omp end parallel do
  end subroutine correlate

end module signals

program triangle_pairs
  use signals
  implicit none
  real(dp), allocatable :: samples(:, :), matrix(:, :)
  character(len=16) :: word
  integer :: given(3), i
  real(dp) :: total

  do i = 1, 3
     call get_command_argument(i, word)
     read (word, *) given(i)
  end do
  allocate (samples(given(2), given(1)), matrix(given(1), given(1)))
  matrix = 0
  total = 0
  call record_channels(samples, given(2), given(1))
  do i = 1, given(3)
     samples(i, :) = samples(i, :) + 1
     call correlate(samples, given(2), given(1), matrix)
     total = total + sum(matrix) / given(1)
  end do
  print '(a, es16.9)', 'checksum ', total
end program triangle_pairs
