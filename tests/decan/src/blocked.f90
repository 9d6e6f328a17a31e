! SPDX-License-Identifier: Apache-2.0
!
! The example's smoother with its loops nested as in C (examples/cg/smooth.f90), blocked: all sweeps
! over a tile that the first cache holds before the next one. What a tile needs of its neighbours is
! that of the sweep before all: the body and its accesses are the same, the result is not.
module blocked
  use iso_c_binding, only: c_int, c_double
  implicit none
contains

  subroutine smooth_tiles(n, planes, sweeps, omega, inverse, cx, cy, cz, r, z0, z) bind(c)
    integer(c_int), value :: n, planes, sweeps
    real(c_double), value :: omega
    real(c_double), intent(in), dimension(0:n+1, 0:n+1, 0:planes+1) :: inverse, cx, cy, cz, r, z0
    real(c_double), intent(inout), dimension(0:n+1, 0:n+1, 0:planes+1) :: z
    integer :: i, j, k, first, last, begin, sweep
    do first = 1, planes, 40
      last = min(first + 39, planes)
      do begin = 1, n, 8
        do j = 1, n
          do sweep = 1, sweeps
            do i = begin, min(begin + 7, n)
              do k = first, last
                z(i, j, k) = (1 - omega) * z0(i, j, k) + omega * inverse(i, j, k) * (r(i, j, k) &
                  + cx(i, j, k) * z0(i-1, j, k) + cx(i+1, j, k) * z0(i+1, j, k) &
                  + cy(i, j, k) * z0(i, j-1, k) + cy(i, j+1, k) * z0(i, j+1, k) &
                  + cz(i, j, k) * z0(i, j, k-1) + cz(i, j, k+1) * z0(i, j, k+1))
              end do
            end do
          end do
        end do
      end do
    end do
  end subroutine
end module
