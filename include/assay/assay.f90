! SPDX-License-Identifier: Apache-2.0
! The interface of <assay/assay.h> for Fortran: compile it with the program, link with -lassay.
module assay
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_null_char
  implicit none
  private
  public :: assay_region_begin, assay_region_end, assay_event, assay_datum
  public :: assay_on, assay_off, assay_is_measured

  interface
    subroutine c_region_begin(name) bind(c, name='assay_region_begin')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine c_region_end(name) bind(c, name='assay_region_end')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine c_event(name, value) bind(c, name='assay_event')
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end subroutine
    subroutine c_datum(name, value) bind(c, name='assay_datum')
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end subroutine
    subroutine assay_on() bind(c, name='assay_on')
    end subroutine
    subroutine assay_off() bind(c, name='assay_off')
    end subroutine
    function c_is_measured() bind(c, name='assay_is_measured')
      import :: c_int
      integer(c_int) :: c_is_measured
    end function
  end interface

contains

  subroutine assay_region_begin(name)
    character(*), intent(in) :: name
    call c_region_begin(trim(name)//c_null_char)
  end subroutine

  subroutine assay_region_end(name)
    character(*), intent(in) :: name
    call c_region_end(trim(name)//c_null_char)
  end subroutine

  subroutine assay_event(name, value)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    call c_event(trim(name)//c_null_char, value)
  end subroutine

  subroutine assay_datum(name, value)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    call c_datum(trim(name)//c_null_char, value)
  end subroutine

  logical function assay_is_measured()
    assay_is_measured = c_is_measured() /= 0
  end function
end module
