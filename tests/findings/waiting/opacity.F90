! SPDX-License-Identifier: Apache-2.0
! cause: Nothing can be gained: all rows cost the same and are dealt out evenly, the threads
! meet once per step, and the polynomial is vectorised with all its terms in registers.
! place: evaluate
! finding: nothing
! flags: -O3 -g -fopenmp -march=x86-64-v3 -ffast-math
! variables: OMP_NUM_THREADS=2
! arguments: 250
! naive: The rows are dealt out one by one at run time, as if they cost differently.
! clock: cpu
module opacity_table
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: width = 48, tables = 2400, rows = 120000
  real(dp), parameter :: c0 = 1.0_dp, c1 = 0.5_dp, c2 = 0.33_dp, c3 = -0.25_dp
  real(dp), parameter :: c4 = 0.2_dp, c5 = -0.17_dp, c6 = 0.14_dp, c7 = -0.12_dp
  real(dp), parameter :: c8 = 0.11_dp, c9 = -0.1_dp, c10 = 0.09_dp, c11 = 0.08_dp
  real(dp) :: energy(width, tables)
  real(dp) :: weight(width)
  real(dp) :: total(rows)
contains

  subroutine set_up()
    integer :: i, r
    !$omp parallel do schedule(static) private(i)
    do r = 1, tables
      do i = 1, width
        energy(i,r) = -0.5_dp + 0.02_dp*i + 1e-4_dp*mod(r, 97)
      end do
    end do
    total = 0
    do i = 1, width
      weight(i) = 1.0_dp/(1 + mod(i, 5))
    end do
  end subroutine set_up

  pure function row_sum(x, w, shift) result(s)
    real(dp), intent(in) :: x(width), w(width), shift
    real(dp) :: s, y, p, q
    integer :: i
    s = 0
    !$omp simd private(y, p, q) reduction(+:s)
    do i = 1, width
      y = x(i) + shift
      p = c0 + y*(c1 + y*(c2 + y*(c3 + y*(c4 + y*c5))))
      q = c6 + y*(c7 + y*(c8 + y*(c9 + y*(c10 + y*c11))))
      s = s + w(i)*(p + q*(y*y)*(y*y)*(y*y))
    end do
  end function row_sum

  subroutine evaluate(shift)
    real(dp), intent(in) :: shift
    integer :: r, t
#ifdef NAIVE
    !$omp parallel do schedule(dynamic, 1) private(t)
#else
    !$omp parallel do schedule(static) private(t)
#endif
    do r = 1, rows
      t = mod(r, tables) + 1
      total(r) = total(r) + row_sum(energy(:,t), weight, shift + 1e-7_dp*r)
    end do
  end subroutine evaluate

end module opacity_table

program opacity
  use opacity_table
  implicit none
  integer :: step, steps
  character(len=32) :: arg
  steps = 100
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) steps
  end if
  call set_up()
  do step = 1, steps
    call evaluate(1e-3_dp*mod(step, 31))
  end do
  print '(a,es18.9)', 'opacity ', sum(total)
end program opacity
