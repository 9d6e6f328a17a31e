! SPDX-License-Identifier: Apache-2.0
! cause: Each site adds its energy to the total in a critical section, where a reduction would do.
! place: total_energy total_energy._omp_fn.0 GOMP_critical_start GOMP_critical_end
! place: GOMP_critical_name_start GOMP_critical_name_end gomp_mutex_lock_slow
! finding: lock_contention parallel_overhead parallel_time
! words: (?i)critical|lock|contention|contended|reduction|synchroni[sz]|atomic
! false: load_imbalance memory_bandwidth memory_latency divisions oversubscribed
! flags: -O2 -g -fopenmp
! variables: OMP_NUM_THREADS=2
! arguments: 384 240
! repair: The loop has a reduction.
! clock: wall
module lattice_model
  implicit none
  integer, allocatable :: spin(:, :)

contains

  subroutine prepare(n)
    integer, intent(in) :: n
    integer :: i, j

    allocate (spin(0:n+1, 0:n+1))
    do j = 0, n + 1
       do i = 0, n + 1
          spin(i, j) = mod(i * 7 + j * j * 3, 12)
       end do
    end do
  end subroutine prepare

  ! Energy of a clock model with 12 directions between two neighbours, in units of 1/1000.
  pure integer function bond(a, b)
    integer, intent(in) :: a, b
    integer, parameter :: cosine(0:11) = &
         [1000, 866, 500, 0, -500, -866, -1000, -866, -500, 0, 500, 866]

    bond = -cosine(abs(a - b))
  end function bond

  integer(8) function total_energy(n) result(total)
    integer, intent(in) :: n
    integer(8) :: site
    integer :: i, j

    total = 0
#ifdef REPAIRED
    !$omp parallel do private(i, site) schedule(static) reduction(+:total)
#else
    !$omp parallel do private(i, site) schedule(static)
#endif
    do j = 1, n
       do i = 1, n
          site = bond(spin(i, j), spin(i + 1, j)) + bond(spin(i, j), spin(i, j + 1))
          if (spin(i, j) == 0) site = site - 12
#ifdef REPAIRED
          total = total + site
#else
          !$omp critical  ! HERE
          total = total + site  ! HERE
          !$omp end critical  ! HERE
#endif
       end do
    end do
  end function total_energy

  ! Turns the spins of one colour of the chequerboard.
  subroutine turn(n, colour)
    integer, intent(in) :: n, colour
    integer :: i, j

    !$omp parallel do private(i) schedule(static)
    do j = 1, n
       do i = 1 + mod(j + colour, 2), n, 2
          spin(i, j) = mod(spin(i, j) + spin(i - 1, j) + 2 * spin(i, j + 1) + 1, 12)
       end do
    end do
  end subroutine turn

end module lattice_model

program site_energy
  use lattice_model
  implicit none
  character(len=16) :: word
  integer(8) :: lowest, energy
  integer :: n, sweep_n, sweep

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) sweep_n
  call prepare(n)
  lowest = huge(lowest)
  do sweep = 1, sweep_n
     call turn(n, 0)
     call turn(n, 1)
     energy = total_energy(n)
     lowest = min(lowest, energy)
  end do
  print '(a, i0, a, i0)', 'site_energy ', energy, ' lowest ', lowest
end program site_energy
