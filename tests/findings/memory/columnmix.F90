! SPDX-License-Identifier: Apache-2.0
! cause: Each stage passes over the whole grid and leaves its full-size work arrays to the next
! stage through main memory.
! place: mix_step
! finding: memory_bandwidth cache_bandwidth
! flags: -O3 -g -fopenmp -march=x86-64-v3
! variables: OMP_NUM_THREADS=2
! arguments: 60
! repair: All stages are done for one row of columns before the next, so that the work arrays
! remain in the cache.
! clock: cpu
module mixing
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: nx = 128, nz = 40, ny = 600
  real(dp), allocatable :: temp(:,:,:), salt(:,:,:)
  real(dp), allocatable :: rho(:,:,:), flux_t(:,:,:), flux_s(:,:,:), visc(:,:,:)
contains

  subroutine set_up()
    integer :: i, j, k
    allocate(temp(nx,nz,ny), salt(nx,nz,ny))
#ifndef REPAIRED
    allocate(rho(nx,nz,ny), visc(nx,nz,ny))
    allocate(flux_t(nx,0:nz,ny), flux_s(nx,0:nz,ny))
#endif
    !$omp parallel do private(i, k)
    do j = 1, ny
      do k = 1, nz
        do i = 1, nx
          temp(i,k,j) = 20.0_dp - 0.3_dp*k + 1e-3_dp*mod(7*i + 3*j, 11)
          salt(i,k,j) = 34.0_dp + 0.02_dp*k + 1e-4_dp*mod(5*i + j, 13)
        end do
      end do
#ifndef REPAIRED
      rho(:,:,j) = 0
      visc(:,:,j) = 0
      flux_t(:,:,j) = 0
      flux_s(:,:,j) = 0
#endif
    end do
  end subroutine set_up

  subroutine density(t, s, r)
    real(dp), intent(in) :: t(nx,nz), s(nx,nz)
    real(dp), intent(out) :: r(nx,nz)
    r = 0.8_dp*(s - 35.0_dp) - (0.15_dp + 0.01_dp*t)*t
  end subroutine density

  subroutine viscosity(r, v)
    real(dp), intent(in) :: r(nx,nz)
    real(dp), intent(out) :: v(nx,nz)
    integer :: k
    do k = 1, nz - 1
      v(:,k) = 0.02_dp + 0.01_dp*min(1.0_dp, max(0.0_dp, r(:,k) - r(:,k+1)))
    end do
    v(:,nz) = 0
  end subroutine viscosity

  subroutine fluxes(c, v, f)
    real(dp), intent(in) :: c(nx,nz), v(nx,nz)
    real(dp), intent(out) :: f(nx,0:nz)
    integer :: k
    f(:,0) = 0
    do k = 1, nz - 1
      f(:,k) = v(:,k)*(c(:,k+1) - c(:,k))
    end do
    f(:,nz) = 0
  end subroutine fluxes

  subroutine diverge(f, c)
    real(dp), intent(in) :: f(nx,0:nz)
    real(dp), intent(inout) :: c(nx,nz)
    integer :: k
    do k = 1, nz
      c(:,k) = c(:,k) + (f(:,k) - f(:,k-1))
    end do
  end subroutine diverge

  subroutine mix_step()
    integer :: j
#ifdef REPAIRED
    real(dp) :: r(nx,nz), v(nx,nz), ft(nx,0:nz), fs(nx,0:nz)
    !$omp parallel do private(r, v, ft, fs)
    do j = 1, ny
      call density(temp(:,:,j), salt(:,:,j), r)
      call viscosity(r, v)
      call fluxes(temp(:,:,j), v, ft)
      call fluxes(salt(:,:,j), v, fs)
      call diverge(ft, temp(:,:,j))
      call diverge(fs, salt(:,:,j))
    end do
#else
    !$omp parallel
    !$omp do
    do j = 1, ny ! HERE
      call density(temp(:,:,j), salt(:,:,j), rho(:,:,j))
    end do
    !$omp do
    do j = 1, ny ! HERE
      call viscosity(rho(:,:,j), visc(:,:,j))
    end do
    !$omp do
    do j = 1, ny ! HERE
      call fluxes(temp(:,:,j), visc(:,:,j), flux_t(:,:,j))
    end do
    !$omp do
    do j = 1, ny ! HERE
      call fluxes(salt(:,:,j), visc(:,:,j), flux_s(:,:,j))
    end do
    !$omp do
    do j = 1, ny ! HERE
      call diverge(flux_t(:,:,j), temp(:,:,j))
    end do
    !$omp do
    do j = 1, ny ! HERE
      call diverge(flux_s(:,:,j), salt(:,:,j))
    end do
    !$omp end parallel
#endif
  end subroutine mix_step

end module mixing

program columnmix
  use mixing
  implicit none
  integer :: step, steps
  character(len=32) :: arg
  steps = 5
  if (command_argument_count() > 0) then
    call get_command_argument(1, arg)
    read (arg, *) steps
  end if
  call set_up()
  do step = 1, steps
    call mix_step()
  end do
  print '(a,2es20.10)', 'columnmix ', sum(temp(:,nz/2,:)), sum(salt(:,nz,:))
end program columnmix
