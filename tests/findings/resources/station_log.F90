! SPDX-License-Identifier: Apache-2.0
! cause: The file of the stations is opened and closed again for each record.
! place: add_record collect _gfortran_st_open _gfortran_st_close open close open64 __open64 __close
! place: __libc_open64
! finding: input_output system_calls
! words: (?i)open|clos(e|ing)|system call|kernel|file
! false: memory_latency memory_bandwidth scalar_chain divisions mispredictions page_faults
! flags: -O2 -g
! arguments: 330000
! repair: The file stays open from the first record to the last.
! clock: cpu
module stations
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  character(len=64) :: file_name
  integer :: unit

  type :: observation
     integer :: station, minute
     real(dp) :: level
  end type observation

  interface
     integer(c_int) function process_number() bind(c, name='getpid')
       import :: c_int
     end function process_number
  end interface

contains

  subroutine create_file()
    write (file_name, '(a, i0)') '/tmp/station_log.', process_number()
    open (newunit=unit, file=file_name, status='replace', action='write', access='stream')
#ifndef REPAIRED
    close (unit)
#endif
  end subroutine create_file

  subroutine add_record(o)
    type(observation), intent(in) :: o

#ifdef REPAIRED
    write (unit) o%station, o%minute, o%level
#else
    open (newunit=unit, file=file_name, position='append', action='write', &  ! HERE
          access='stream', status='old')
    write (unit) o%station, o%minute, o%level
    close (unit)  ! HERE
#endif
  end subroutine add_record

  ! Takes the levels of twelve stations in turn.
  subroutine collect(record_n)
    integer, intent(in) :: record_n
    type(observation) :: o
    integer :: i

    do i = 0, record_n - 1
       o%station = mod(i, 12) + 1
       o%minute = i / 12
       o%level = 2 + 0.001_dp * mod(i * 31, 977)
       call add_record(o)  ! HERE
    end do
#ifdef REPAIRED
    close (unit)
#endif
  end subroutine collect

  ! Reads the file again and removes it; returns the mean level.
  real(dp) function mean_level(record_n) result(mean)
    integer, intent(in) :: record_n
    type(observation) :: o
    integer :: i

    mean = 0
    open (newunit=unit, file=file_name, status='old', action='read', access='stream')
    do i = 1, record_n
       read (unit) o%station, o%minute, o%level
       mean = mean + o%level * o%station / (6.5_dp * record_n)
    end do
    close (unit, status='delete')
  end function mean_level

end module stations

program station_log
  use stations
  implicit none
  character(len=16) :: word
  integer :: record_n

  call get_command_argument(1, word)
  read (word, *) record_n
  call create_file()
  call collect(record_n)
  print '(a, f15.9)', 'station_log ', mean_level(record_n)
end program station_log
