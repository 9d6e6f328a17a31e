! SPDX-License-Identifier: Apache-2.0
! cause: Each phase is brought back into one turn by MODULO, which calls fmod, although it never
! exceeds the turn by more than a small step.
! place: advance fmod __fmod __ieee754_fmod __fmod_finite __ieee754_fmod_sse2 fmod_compat
! place: __fmod_compat
! finding: scalar_mathematics
! words: (?i)fmod|modulo|remainder|library|mathematical|\bcalls?\b
! false: memory_bandwidth memory_latency cache_latency page_faults array_access
! flags: -O2 -g
! arguments: 2000 150000
! repair: A turn is subtracted when the phase is beyond it.
! clock: cpu
module ensemble
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: turn = 6.283185307179586_dp

  type :: oscillators
     real(dp), allocatable :: phase(:), rate(:)
     integer(8) :: turns = 0
  end type oscillators

contains

  subroutine prepare(o, n)
    type(oscillators), intent(inout) :: o
    integer, intent(in) :: n
    integer :: i

    allocate (o%phase(n), o%rate(n))
    do i = 1, n
       o%phase(i) = turn * mod(i * 97, 1013) / 1013
       o%rate(i) = 0.4_dp + 0.9_dp * mod(i * 31, 509) / 509
    end do
  end subroutine prepare

  ! Moves all phases by one step; a pulse of the field pulls the late ones along.
  subroutine advance(o, pulse)
    type(oscillators), intent(inout) :: o
    real(dp), intent(in) :: pulse
    real(dp) :: next, kept
    integer :: i

    do i = 1, size(o%phase)  ! HERE
       next = o%phase(i) + o%rate(i) + pulse * (turn - o%phase(i))
#ifdef REPAIRED
       kept = next
       if (next >= turn) kept = next - turn
#else
       kept = modulo(next, turn)  ! HERE
#endif
       if (kept < next) o%turns = o%turns + 1
       o%phase(i) = kept
    end do
  end subroutine advance

end module ensemble

program oscillators_main
  use ensemble
  implicit none
  type(oscillators) :: group
  character(len=16) :: word
  integer :: n, step_n, step

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) step_n
  call prepare(group, n)
  do step = 1, step_n
     call advance(group, 0.001_dp * mod(step, 8))
  end do
  print '(a, f15.9, a, i0)', 'oscillators ', sum(group%phase) / n, ' turns ', group%turns
end program oscillators_main
