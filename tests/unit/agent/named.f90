! SPDX-License-Identifier: Apache-2.0
! Regions of Fortran, in known numbers.
program named
  use assay
  implicit none
  integer :: i
  do i = 1, 25
    call assay_region_begin('of Fortran')
    call assay_event('step', real(i, 8))
    call assay_region_end('of Fortran')
  end do
  call assay_datum('size', 42d0)
  print '(a)', 'done'
end program
