! SPDX-License-Identifier: Apache-2.0
! cause: All numbers are of quadruple precision, for which the processor has no instructions, so
! that each operation is a call into a library.
! place: attract step_orbits __addtf3 __subtf3 __multf3 __divtf3 __letf2 __getf2 __lttf2 sqrtq
! place: __addtf3_resolve energy_of
! finding: software_arithmetic calls_in_loop scalar_calls double_precision
! words: (?i)quad|precision|software|emulat|128|__(add|mul|sub|div)tf3|libgcc|libquadmath
! false: memory_bandwidth memory_latency divider page_faults
! flags: -O2 -g
! arguments: 12 45000
! repair: All numbers are of double precision.
! clock: cpu
module orbits
  implicit none
#ifdef REPAIRED
  integer, parameter :: wp = selected_real_kind(15)
#else
  integer, parameter :: wp = selected_real_kind(30)  ! HERE
#endif

  type :: bodies
     real(wp), allocatable :: mass(:), x(:, :), v(:, :), pull(:, :)
  end type bodies

contains

  ! Sets up planets on nearly circular orbits around a sun; lengths in AU, masses of the sun.
  subroutine set_up(b, n)
    type(bodies), intent(out) :: b
    integer, intent(in) :: n
    real(wp) :: radius
    integer :: i

    allocate (b%mass(n), b%x(2, n), b%v(2, n), b%pull(2, n))
    b%mass = 1.0e-7_wp
    b%mass(1) = 1
    b%x = 0
    b%v = 0
    do i = 2, n
       radius = 0.4_wp * 1.6_wp**(i - 2)
       b%x(mod(i, 2) + 1, i) = radius
       b%v(2 - mod(i, 2), i) = sqrt(1 / radius)
    end do
  end subroutine set_up

  subroutine attract(b)
    type(bodies), intent(inout) :: b
    real(wp) :: d(2), square, factor
    integer :: i, j

    b%pull = 0
    do i = 1, size(b%mass)  ! HERE
       do j = i + 1, size(b%mass)  ! HERE
          d(1) = b%x(1, j) - b%x(1, i)  ! HERE
          d(2) = b%x(2, j) - b%x(2, i)
          square = d(1) * d(1) + d(2) * d(2)  ! HERE
          factor = 1 / (square * sqrt(square))  ! HERE
          b%pull(:, i) = b%pull(:, i) + b%mass(j) * factor * d  ! HERE
          b%pull(:, j) = b%pull(:, j) - b%mass(i) * factor * d  ! HERE
       end do
    end do
  end subroutine attract

  subroutine step_orbits(b, dt)
    type(bodies), intent(inout) :: b
    real(wp), intent(in) :: dt

    b%v = b%v + dt / 2 * b%pull
    b%x = b%x + dt * b%v
    call attract(b)
    b%v = b%v + dt / 2 * b%pull
  end subroutine step_orbits

end module orbits

program ephemeris
  use orbits
  implicit none
  type(bodies) :: system
  character(len=16) :: word
  integer :: n, step_n, step

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) step_n
  call set_up(system, n)
  call attract(system)
  do step = 1, step_n
     call step_orbits(system, 0.001_wp)
  end do
  print '(a, 3f12.7)', 'ephemeris ', real(system%x(:, 2), 8), real(system%x(1, n), 8)
end program ephemeris
