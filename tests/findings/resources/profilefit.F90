! SPDX-License-Identifier: Apache-2.0
! cause: The interpolation takes a contiguous array, so that each call with a section of the
! field copies a whole level for the few points it needs.
! place: station_profiles
! finding: slice_copies
! flags: -O2 -g
! arguments: 350
! repair: The dummy argument has an assumed shape, so that the section is passed without a copy.
! clock: cpu
module sampling
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: nlev = 20, nx = 180, ny = 90, nstations = 6
  real(dp), allocatable :: field(:,:,:)
  real(dp) :: lon(nstations), lat(nstations)
  real(dp) :: profiles(nlev, nstations)
contains

  subroutine set_up()
    integer :: s
    allocate(field(nlev, nx, ny))
    do s = 1, nstations
      lon(s) = 1.5_dp + mod(s*37, nx - 3)
      lat(s) = 1.25_dp + mod(s*23, ny - 3)
    end do
    call random_number_field()
    profiles = 0
  end subroutine set_up

  subroutine random_number_field()
    integer :: i, j, k, seed
    seed = 12345
    do j = 1, ny
      do i = 1, nx
        do k = 1, nlev
          seed = mod(seed*171 + 11213, 53125)
          field(k,i,j) = 250.0_dp + 0.001_dp*seed - k
        end do
      end do
    end do
  end subroutine random_number_field

  subroutine advance(step)
    integer, intent(in) :: step
    integer :: i, j, k
    do j = 1, ny
      do i = 1, nx
        do k = 1, nlev
          field(k,i,j) = field(k,i,j)*0.999_dp + 0.01_dp*mod(step + k, 7)
        end do
      end do
    end do
  end subroutine advance

#ifdef REPAIRED
  function interpolate(f, x, y) result(v)
    real(dp), intent(in) :: f(:,:)
#else
  function interpolate(f, mx, my, x, y) result(v)
    integer, intent(in) :: mx, my
    real(dp), intent(in) :: f(mx,my) ! HERE
#endif
    real(dp), intent(in) :: x, y
    real(dp) :: v, a, b
    integer :: i, j
    i = int(x)
    j = int(y)
    a = x - i
    b = y - j
    v = (1 - b)*((1 - a)*f(i,j) + a*f(i+1,j)) &
      + b*((1 - a)*f(i,j+1) + a*f(i+1,j+1))
  end function interpolate

  subroutine station_profiles()
    integer :: k, s
    do s = 1, nstations
      do k = 1, nlev
#ifdef REPAIRED
        profiles(k,s) = profiles(k,s) + interpolate(field(k,:,:), lon(s), lat(s))
#else
        profiles(k,s) = profiles(k,s) &
          + interpolate(field(k,:,:), nx, ny, lon(s), lat(s)) ! HERE
#endif
      end do
    end do
  end subroutine station_profiles

  subroutine move_stations()
    integer :: s
    do s = 1, nstations
      lon(s) = lon(s) + 0.25_dp
      if (lon(s) > nx - 2) lon(s) = 1.5_dp
    end do
  end subroutine move_stations

end module sampling

program profilefit
  use sampling
  implicit none
  integer :: step, steps
  character(len=32) :: arg
  steps = 10
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) steps
  end if
  call set_up()
  do step = 1, steps
    call advance(step)
    call station_profiles()
    call move_stations()
  end do
  print '(a,2es20.10)', 'profilefit ', sum(profiles), profiles(3, nstations)
end program profilefit
