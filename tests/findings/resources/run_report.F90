! SPDX-License-Identifier: Apache-2.0
! cause: Each line is appended to the report by a concatenation, which copies the whole report.
! place: add_line write_report _gfortran_concat_string memmove memcpy malloc free realloc
! place: __memmove_avx_unaligned_erms __memmove_evex_unaligned_erms __memcpy_avx_unaligned_erms
! place: __memmove_avx512_unaligned_erms
! finding: library_calls copying memory_management memory_given_back
! words: (?i)concat|cop(y|ies|ied|ying)|append|realloc|grow|memmove|memcpy
! false: scalar_chain divisions mispredictions scalar_mathematics waiting
! flags: -O2 -g
! arguments: 29000
! repair: The report grows by doubling, and a line is stored behind the last one.
! clock: cpu
module reports
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: report
     character(len=:), allocatable :: text
     integer :: length = 0
  end type report

contains

  subroutine start(r)
    type(report), intent(out) :: r

#ifdef REPAIRED
    allocate (character(len=4096) :: r%text)
#else
    r%text = ''
#endif
  end subroutine start

  subroutine add_line(r, line)
    type(report), intent(inout) :: r
    character(len=*), intent(in) :: line
#ifdef REPAIRED
    character(len=:), allocatable :: larger
    integer :: used

    used = r%length + len(line) + 1
    if (used > len(r%text)) then
       allocate (character(len=2 * len(r%text)) :: larger)
       larger(:r%length) = r%text(:r%length)
       call move_alloc(larger, r%text)
    end if
    r%text(r%length + 1:used) = line // new_line('a')
#else

    r%text = r%text // line // new_line('a')  ! HERE
#endif
    r%length = r%length + len(line) + 1
  end subroutine add_line

  ! Writes a line for each interval of the run.
  subroutine write_report(r, interval_n)
    type(report), intent(inout) :: r
    integer, intent(in) :: interval_n
    character(len=80) :: line
    real(dp) :: energy, drift
    integer :: i

    energy = -1.25_dp
    do i = 1, interval_n
       drift = 1.0e-6_dp * (mod(i * 37, 101) - 50)
       energy = energy + drift
       write (line, '(a,i8,a,f14.9,a,es12.4)') 'interval', i, ' energy', energy, ' drift', drift
       call add_line(r, trim(line))  ! HERE
    end do
  end subroutine write_report

  ! Sum of the codes of all characters, each with a weight of its place.
  integer(8) function checksum(r)
    type(report), intent(in) :: r
    integer :: i

    checksum = 0
    do i = 1, r%length
       checksum = checksum + int(mod(i, 97) + 1, 8) * ichar(r%text(i:i))
    end do
  end function checksum

end module reports

program run_report
  use reports
  implicit none
  type(report) :: r
  character(len=16) :: word
  integer :: interval_n

  call get_command_argument(1, word)
  read (word, *) interval_n
  call start(r)
  call write_report(r, interval_n)
  print '(a, i0, a, i0)', 'run_report ', r%length, ' characters, checksum ', checksum(r)
end program run_report
