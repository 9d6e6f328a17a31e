! SPDX-License-Identifier: Apache-2.0
! cause: The innermost loop computes sines and cosines again that depend on one index alone.
! place: structure_factor structure_factors sincos cos sin __sincos_fma __cos_fma __sin_fma do_sin
! place: do_cos __sincos
! finding: scalar_mathematics
! false: memory_bandwidth memory_latency scalar_gather divisions page_faults
! flags: -O2 -g
! arguments: 14000 10
! repair: The factors of each axis are computed once for each atom and multiplied.
! clock: cpu
module crystal
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  real(dp), parameter :: two_pi = 6.283185307179586_dp

  type atom
     real(dp) :: position(3)
     real(dp) :: charge
  end type atom

contains

  subroutine place_atoms(atoms)
    type(atom), intent(out) :: atoms(:)
    integer :: i

    do i = 1, size(atoms)
       atoms(i)%position = [mod(i * 0.6180339887_dp, 1.0_dp), mod(i * 0.7548776662_dp, 1.0_dp), &
            mod(i * 0.5698402910_dp, 1.0_dp)]
       atoms(i)%charge = merge(1.0_dp, -0.5_dp, mod(i, 3) == 0)
    end do
  end subroutine place_atoms

#ifdef REPAIRED
  ! Sets factors(h) to the phase factor of index h along one axis.
  subroutine tabulate(x, n, factors)
    real(dp), intent(in) :: x
    integer, intent(in) :: n
    complex(dp), intent(out) :: factors(-n:n)
    integer :: h

    do h = -n, n
       factors(h) = cmplx(cos(two_pi * h * x), sin(two_pi * h * x), dp)
    end do
  end subroutine tabulate

  ! Adds an atom to the factors of all waves.
  subroutine structure_factor(one, n, factors)
    type(atom), intent(in) :: one
    integer, intent(in) :: n
    complex(dp), intent(inout) :: factors(-n:n, -n:n, 0:n)
    complex(dp) :: of_x(-n:n), of_y(-n:n), of_z(-n:n), of_yz
    integer :: h, k, l

    call tabulate(one%position(1), n, of_x)
    call tabulate(one%position(2), n, of_y)
    call tabulate(one%position(3), n, of_z)
    do l = 0, n
       do k = -n, n
          of_yz = one%charge * of_y(k) * of_z(l)
          do h = -n, n
             factors(h, k, l) = factors(h, k, l) + of_x(h) * of_yz
          end do
       end do
    end do
  end subroutine structure_factor
#else
  ! Adds an atom to the factors of all waves.
  subroutine structure_factor(one, n, factors)
    type(atom), intent(in) :: one
    integer, intent(in) :: n
    complex(dp), intent(inout) :: factors(-n:n, -n:n, 0:n)
    complex(dp) :: of_x, of_y, of_z
    integer :: h, k, l

    do l = 0, n
       do k = -n, n
          do h = -n, n  ! HERE
             of_x = phase(h, one%position(1))  ! HERE
             of_y = phase(k, one%position(2))  ! HERE
             of_z = phase(l, one%position(3))  ! HERE
             factors(h, k, l) = factors(h, k, l) + one%charge * of_x * of_y * of_z
          end do
       end do
    end do
  end subroutine structure_factor

  function phase(index, x)
    integer, intent(in) :: index
    real(dp), intent(in) :: x
    complex(dp) :: phase

    phase = cmplx(cos(two_pi * index * x), sin(two_pi * index * x), dp)  ! HERE
  end function phase
#endif

  subroutine structure_factors(atoms, n, factors)
    type(atom), intent(in) :: atoms(:)
    integer, intent(in) :: n
    complex(dp), intent(out) :: factors(-n:n, -n:n, 0:n)
    integer :: i

    factors = 0
    do i = 1, size(atoms)
       call structure_factor(atoms(i), n, factors)
    end do
  end subroutine structure_factors

  ! Returns the energy of all waves but the constant one.
  function energy(factors, n) result(total)
    integer, intent(in) :: n
    complex(dp), intent(in) :: factors(-n:n, -n:n, 0:n)
    real(dp) :: total
    integer :: h, k, l, square

    total = 0
    do l = 0, n
       do k = -n, n
          do h = -n, n
             square = h * h + k * k + l * l
             if (square == 0) cycle
             total = total + abs(factors(h, k, l))**2 * exp(-0.05_dp * square) / square
          end do
       end do
    end do
  end function energy

end module crystal

program phase_factors
  use crystal
  implicit none
  type(atom), allocatable :: atoms(:)
  complex(dp), allocatable :: factors(:, :, :)
  character(len=16) :: word
  integer :: atom_n, n

  call get_command_argument(1, word)
  read (word, *) atom_n
  call get_command_argument(2, word)
  read (word, *) n
  allocate (atoms(atom_n), factors(-n:n, -n:n, 0:n))
  call place_atoms(atoms)
  call structure_factors(atoms, n, factors)
  if (abs(factors(0, 0, 0) - sum(atoms%charge)) > 1.0e-9_dp * atom_n) then
     error stop 'phase_factors: the charge is wrong'
  end if
  print '(a, f14.6)', 'energy ', energy(factors, n)
end program phase_factors
