! SPDX-License-Identifier: Apache-2.0
! cause: The particles are sorted, so that hundreds in turn add to the same two nodes. Each addition
! waits for the store of the one before.
! place: deposit_charge
! finding: meeting_stores dependence_chain reloads
! words: (?i)forward|store.*load|load.*store|\bchain|depend|recurrence|same (element|address|bin)
! false: memory_bandwidth memory_latency divisions page_faults array_access
! flags: -O2 -g
! arguments: 30000 300 23000
! repair: The sums of a cell stay in local variables until the next cell begins.
! clock: cpu
module plasma
  implicit none
  integer, parameter :: dp = kind(1.0d0)

  type :: species
     integer, allocatable :: cell(:)
     real(dp), allocatable :: offset(:), charge(:)
  end type species

contains

  ! Fills the cells evenly; the particles are in the order of their cells.
  subroutine load_species(s, particle_n, cell_n)
    type(species), intent(out) :: s
    integer, intent(in) :: particle_n, cell_n
    integer :: p

    allocate (s%cell(particle_n), s%offset(particle_n), s%charge(particle_n))
    do p = 1, particle_n
       s%cell(p) = 1 + int(int(p - 1, 8) * cell_n / particle_n)
       s%offset(p) = mod(p * 7919, 1009) / 1009.0_dp
       s%charge(p) = 1 + 0.25_dp * mod(p * 31, 5)
    end do
  end subroutine load_species

  ! Adds the charge of each particle to the nodes at both ends of its cell.
  subroutine deposit_charge(s, density, scale)
    type(species), intent(in) :: s
    real(dp), intent(inout) :: density(:)
    real(dp), intent(in) :: scale
    real(dp) :: q, right
    integer :: p, c
#ifdef REPAIRED
    real(dp) :: here, there
    integer :: open_cell

    open_cell = s%cell(1)
    here = density(open_cell)
    there = density(open_cell + 1)
    do p = 1, size(s%cell)
       c = s%cell(p)
       if (c /= open_cell) then
          density(open_cell) = here
          density(open_cell + 1) = there
          open_cell = c
          here = density(c)
          there = density(c + 1)
       end if
       q = scale * s%charge(p)
       right = q * s%offset(p)
       here = here + (q - right)
       there = there + right
    end do
    density(open_cell) = here
    density(open_cell + 1) = there
#else

    do p = 1, size(s%cell)  ! HERE
       c = s%cell(p)
       q = scale * s%charge(p)
       right = q * s%offset(p)
       density(c) = density(c) + (q - right)  ! HERE
       density(c + 1) = density(c + 1) + right  ! HERE
    end do
#endif
  end subroutine deposit_charge

end module plasma

program deposit
  use plasma
  implicit none
  type(species) :: electrons
  real(dp), allocatable :: density(:)
  integer :: particle_n, cell_n, step_n, step

  particle_n = argument(1)
  cell_n = argument(2)
  step_n = argument(3)
  call load_species(electrons, particle_n, cell_n)
  allocate (density(cell_n + 1))
  density = 0
  do step = 1, step_n
     call deposit_charge(electrons, density, 1.0_dp / (1 + mod(step, 7)))
  end do
  print '(a, es16.9, a, es16.9)', 'deposit ', sum(density), ' first ', density(1)

contains

  integer function argument(n)
    integer, intent(in) :: n
    character(len=16) :: word

    call get_command_argument(n, word)
    read (word, *) argument
  end function argument

end program deposit
