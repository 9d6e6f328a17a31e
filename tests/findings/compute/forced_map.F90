! SPDX-License-Identifier: Apache-2.0
! cause: Each year of the population needs the year before: a true recurrence.
! place: grow
! finding: nothing
! false: scalar_arithmetic scalar_options memory_bandwidth divisions
! flags: -O2 -g
! arguments: 4000 160000
! naive: Options that vectorise and reorder are set.
! naive flags: -O3 -g -march=native -ffast-math
! clock: cpu
module population
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  subroutine set_fertility(fertility, n)
    integer, intent(in) :: n
    real(dp), intent(out) :: fertility(n)
    integer :: year

    do year = 1, n
       fertility(year) = 2.8_dp + 0.05_dp * mod(year * 7, 11)
    end do
  end subroutine set_fertility

  ! The next size is a quadratic function of the size before.
  subroutine grow(fertility, sizes, n, first)
    integer, intent(in) :: n
    real(dp), intent(in) :: fertility(n), first
    real(dp), intent(out) :: sizes(n)
    real(dp) :: size_now
    integer :: year

    size_now = first
    do year = 1, n  ! HERE
       size_now = (fertility(year) * size_now) * (1 - size_now)  ! HERE
       sizes(year) = size_now
    end do
  end subroutine grow

  function mean_of(sizes, n) result(mean)
    integer, intent(in) :: n
    real(dp), intent(in) :: sizes(n)
    real(dp) :: mean
    integer :: year

    mean = 0
    do year = 1, n, 50
       mean = mean + sizes(year)
    end do
    mean = mean * 50 / n
  end function mean_of

end module population

program forced_map
  use population
  implicit none
  real(dp), allocatable :: fertility(:), sizes(:)
  real(dp) :: total
  character(len=16) :: word
  integer :: n, run_n, run

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) run_n
  allocate (fertility(n), sizes(n))
  call set_fertility(fertility, n)
  total = 0
  sizes(n) = 0.5_dp
  do run = 1, run_n
     call grow(fertility, sizes, n, 0.25_dp + 0.5_dp * sizes(n))
     total = total + mean_of(sizes, n)
  end do
  print '(a, f9.3)', 'checksum ', total / run_n
end program forced_map
