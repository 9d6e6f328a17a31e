! SPDX-License-Identifier: Apache-2.0
!
! The preconditioner: two steps of damped Jacobi on the points of one rank, starting from zero.
! first to last are the planes of the calling thread.
module smooth
  use iso_c_binding, only: c_int, c_double
  implicit none
contains

  subroutine smooth_start(n, planes, first, last, omega, inverse, r, z) bind(c)
    integer(c_int), value :: n, planes, first, last
    real(c_double), value :: omega
    real(c_double), intent(in), dimension(0:n+1, 0:n+1, 0:planes+1) :: inverse, r
    real(c_double), intent(inout), dimension(0:n+1, 0:n+1, 0:planes+1) :: z
    integer :: j, k
    do k = first, last
      do j = 1, n
        z(1:n, j, k) = omega * inverse(1:n, j, k) * r(1:n, j, k)
      end do
    end do
  end subroutine

  ! z = z0 + omega D^-1 (r - A z0)
  subroutine smooth_step(n, planes, first, last, omega, inverse, cx, cy, cz, r, z0, z) bind(c)
    integer(c_int), value :: n, planes, first, last
    real(c_double), value :: omega
    real(c_double), intent(in), dimension(0:n+1, 0:n+1, 0:planes+1) :: inverse, cx, cy, cz, r, z0
    real(c_double), intent(inout), dimension(0:n+1, 0:n+1, 0:planes+1) :: z
    integer :: i, j, k
    do k = first, last
      do j = 1, n
        !$omp simd
        do i = 1, n
          z(i, j, k) = (1 - omega) * z0(i, j, k) + omega * inverse(i, j, k) * (r(i, j, k) &
            + cx(i, j, k) * z0(i-1, j, k) + cx(i+1, j, k) * z0(i+1, j, k) &
            + cy(i, j, k) * z0(i, j-1, k) + cy(i, j+1, k) * z0(i, j+1, k) &
            + cz(i, j, k) * z0(i, j, k-1) + cz(i, j, k+1) * z0(i, j, k+1))
        end do
      end do
    end do
  end subroutine

  ! Fault "stride": the last index runs fastest, as it would in C; here it is the slowest.
  subroutine smooth_step_strided(n, planes, first, last, omega, inverse, cx, cy, cz, r, z0, z) &
      bind(c)
    integer(c_int), value :: n, planes, first, last
    real(c_double), value :: omega
    real(c_double), intent(in), dimension(0:n+1, 0:n+1, 0:planes+1) :: inverse, cx, cy, cz, r, z0
    real(c_double), intent(inout), dimension(0:n+1, 0:n+1, 0:planes+1) :: z
    integer :: i, j, k
    do i = 1, n
      do j = 1, n
        do k = first, last
          z(i, j, k) = (1 - omega) * z0(i, j, k) + omega * inverse(i, j, k) * (r(i, j, k) &
            + cx(i, j, k) * z0(i-1, j, k) + cx(i+1, j, k) * z0(i+1, j, k) &
            + cy(i, j, k) * z0(i, j-1, k) + cy(i, j+1, k) * z0(i, j+1, k) &
            + cz(i, j, k) * z0(i, j, k-1) + cz(i, j, k+1) * z0(i, j, k+1))
        end do
      end do
    end do
  end subroutine
end module
