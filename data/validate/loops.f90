! SPDX-License-Identifier: Apache-2.0
!
! Loops of Fortran for `assay validate --suite`, beside those of loops.c and called as they are.

subroutine array_triad_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   p = s(1)
   a = b + p * c
end subroutine

subroutine array_linear_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, q
   p = s(1)
   q = s(2)
   a = p * b + q
end subroutine

subroutine array_relative_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = (b - c) / (b + c)
end subroutine

subroutine array_squares_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = b**2 + c**2
end subroutine

subroutine array_root_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = sqrt(b**2 + c**2)
end subroutine

subroutine array_sum_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = sum(b)
end subroutine

subroutine array_dot_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = dot_product(b, c)
end subroutine

subroutine array_maximum_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = maxval(b)
end subroutine

subroutine array_minimum_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = minval(b)
end subroutine

subroutine array_norm_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = sum(b * b)
end subroutine

subroutine array_distance_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = sum(abs(b - c))
end subroutine

subroutine array_merge_4(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = merge(b, c, d > 0)
end subroutine

subroutine array_shift_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a(2:n) = b(1:n-1)
end subroutine

subroutine array_stencil_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, q
   p = s(1)
   q = s(2)
   a(2:n-1) = q * (b(1:n-2) + b(3:n)) + p * b(2:n-1)
end subroutine

subroutine array_even_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   p = s(1)
   a(1:n:2) = b(1:n:2) * p
end subroutine

subroutine array_reversed_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = b(n:1:-1)
end subroutine

subroutine array_clamp_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, q
   p = s(1)
   q = s(2)
   a = min(max(b, p), q)
end subroutine

subroutine array_sign_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = sign(b, d)
end subroutine

subroutine array_where_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   p = s(1)
   where (d > 0)
      a = b * p
   elsewhere
      a = b
   end where
end subroutine

subroutine array_count_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = real(count(d > 0), kind(s))
end subroutine

subroutine array_masked_sum_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   s(4) = sum(b, mask=d > 0)
end subroutine

subroutine array_power_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = b**5
end subroutine

subroutine array_int_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   p = s(1)
   a = real(k, kind(a)) * p
end subroutine

subroutine array_nint_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   a = aint(b)
end subroutine

subroutine array_hypot_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, r
   p = s(1)
   r = s(3)
   a = p / sqrt(b * b + c * c + r)
end subroutine

subroutine loop_axpy_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   integer(c_long) :: i
   p = s(1)
   do i = 1, n
      a(i) = a(i) + p * b(i)
   end do
end subroutine

subroutine loop_update_4(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 1, n
      a(i) = q * a(i) + b(i) * c(i) - d(i)
   end do
end subroutine

subroutine loop_recurrence_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 2, n
      a(i) = q * a(i - 1) + b(i)
   end do
end subroutine

subroutine loop_scan_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t
   integer(c_long) :: i
   t = 0
   do i = 1, n
      t = t + b(i)
      a(i) = t
   end do
end subroutine

subroutine loop_elimination_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 2, n
      a(i) = b(i) - a(i - 1) * c(i) * q
   end do
end subroutine

subroutine loop_gather_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   integer(c_long) :: i
   do i = 1, n
      a(i) = b(k(i) + 1)
   end do
end subroutine

subroutine loop_gather_sum_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t
   integer(c_long) :: i
   t = 0
   do i = 1, n
      t = t + b(k(i) + 1) * c(i)
   end do
   s(4) = t
end subroutine

subroutine loop_scatter_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   integer(c_long) :: i
   p = s(1)
   do i = 1, n
      a(k(i) + 1) = p * b(i)
   end do
end subroutine

subroutine loop_two_sums_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t, u
   integer(c_long) :: i
   t = 0
   u = 0
   do i = 1, n
      t = t + b(i) * c(i)
      u = u + b(i) * b(i)
   end do
   s(4) = t
   s(5) = u
end subroutine

subroutine loop_complex_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   integer(c_long) :: i
   do i = 1, n - 1, 2
      a(i) = b(i) * c(i) - b(i + 1) * c(i + 1)
      a(i + 1) = b(i) * c(i + 1) + b(i + 1) * c(i)
   end do
end subroutine

subroutine loop_upwind_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 2, n - 1
      a(i) = b(i) - q * (c(i) * (b(i) - b(i - 1)))
   end do
end subroutine

subroutine loop_laplace_4(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 2, n - 1
      a(i) = q * (b(i - 1) + b(i + 1) + c(i) + d(i) - 4 * b(i))
   end do
end subroutine

subroutine loop_heat_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q
   integer(c_long) :: i
   q = s(2)
   do i = 2, n - 1
      a(i) = b(i) + q * (b(i + 1) - 2 * b(i) + b(i - 1))
   end do
end subroutine

subroutine loop_legendre_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t
   integer(c_long) :: i
   do i = 1, n
      t = b(i)
      a(i) = (35 * t**4 - 30 * t**2 + 3) / 8
   end do
end subroutine

subroutine loop_chebyshev_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q, t, u, v
   integer(c_long) :: i
   q = s(2)
   t = 1
   u = q
   do i = 1, n
      v = 2 * q * u - t
      t = u
      u = v
      a(i) = v
   end do
end subroutine

subroutine loop_simpson_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t
   integer(c_long) :: i
   t = 0
   do i = 1, n - 2, 2
      t = t + b(i) + 4 * b(i + 1) + b(i + 2)
   end do
   s(4) = t
end subroutine

subroutine loop_harmonic_1(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: t
   integer(c_long) :: i
   t = 0
   do i = 1, n
      t = t + 1 / b(i)
   end do
   s(4) = t
end subroutine

subroutine loop_potential_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: q, t, u
   integer(c_long) :: i
   q = s(2)
   t = 0
   do i = 1, n
      u = b(i) * b(i) + c(i) * c(i)
      t = t + q / sqrt(u)
   end do
   s(4) = t
end subroutine

subroutine loop_rotation_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, q, t
   integer(c_long) :: i
   p = s(1)
   q = s(2)
   do i = 1, n
      t = a(i) * p
      a(i) = q * t + b(i)
   end do
end subroutine

subroutine loop_median_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   integer(c_long) :: i
   p = s(1)
   do i = 1, n
      a(i) = max(min(b(i), c(i)), min(max(b(i), c(i)), p))
   end do
end subroutine

subroutine loop_conditional_3(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p
   integer(c_long) :: i
   p = s(1)
   do i = 1, n
      if (d(i) > 0) then
         a(i) = b(i) * p
      end if
   end do
end subroutine

subroutine loop_rows_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   real(c_double) :: p, t
   integer(c_long) :: i, j
   p = s(1)
   do j = 1, 4
      t = 0
      do i = 1, n
         t = t + b(i) * c(i)
      end do
      s(3 + j) = t + p
   end do
end subroutine

subroutine loop_layers_2(n, a, b, c, d, k, s) bind(C)
   use iso_c_binding
   implicit none
   integer(c_long), value :: n
   real(c_double), intent(inout) :: a(n), s(*)
   real(c_double), intent(in) :: b(n), c(n), d(n)
   integer(c_int), intent(in) :: k(n)
   integer(c_long) :: i, j
   do j = 1, 3
      do i = 1, n
         a(i) = a(i) + s(j) * b(i)
      end do
   end do
end subroutine
