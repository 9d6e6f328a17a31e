! SPDX-License-Identifier: Apache-2.0
! cause: A slice that is not contiguous is copied to a temporary array and back for each call.
! place: filter_fields limit_fields advance _gfortran_internal_pack _gfortran_internal_unpack
! place: internal_pack internal_unpack
! finding: slice_copies
! words: (?i)temporar(y|ies)|(not |non-?)contiguous|internal_(un)?pack|assumed.shape|\bslices?\b|
! words: copies (of |the )?(arguments?|arrays?|memory|data)
! false: scalar_chain memory_latency page_faults scalar_options divisions
! flags: -O2 -g
! arguments: 250 300 800
! repair: The procedures take slices of assumed shape, which need no copy.
! clock: cpu
module fluid
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: field_n = 5

contains

  ! Sets density, momenta and energy of all cells.
  subroutine set_up(q, nx, ny)
    integer, intent(in) :: nx, ny
    real(dp), intent(out) :: q(field_n, nx, ny)
    integer :: i, j

    do j = 1, ny
       do i = 1, nx
          q(1, i, j) = 1 + 0.01_dp * mod(i * 3 + j, 17)
          q(2, i, j) = 0.1_dp * mod(i + j, 5)
          q(3, i, j) = 0.1_dp * mod(i * j, 7)
          q(4, i, j) = 0
          q(5, i, j) = 2.5_dp + 0.02_dp * mod(i + 5 * j, 13)
       end do
    end do
  end subroutine set_up

  ! Bounds the values at the border of a line.
  subroutine limit_line(line, n, low, high)
    integer, intent(in) :: n
#ifdef REPAIRED
    real(dp), intent(inout) :: line(:)
#else
    real(dp), intent(inout) :: line(n)
#endif
    real(dp), intent(in) :: low, high

    line(1) = min(max(line(1), low), high)
    line(n) = min(max(line(n), low), high)
  end subroutine limit_line

  ! Smooths the outer cells of a line, which border on the next block.
  subroutine filter_line(line, n, width, weight)
    integer, intent(in) :: n, width
#ifdef REPAIRED
    real(dp), intent(inout) :: line(:)
#else
    real(dp), intent(inout) :: line(n)
#endif
    real(dp), intent(in) :: weight
    integer :: i

    do i = 2, width
       line(i) = line(i) + weight * (line(i-1) - 2 * line(i) + line(i+1))
    end do
    do i = n - width, n - 1
       line(i) = line(i) + weight * (line(i-1) - 2 * line(i) + line(i+1))
    end do
  end subroutine filter_line

  subroutine filter_fields(q, nx, ny)
    integer, intent(in) :: nx, ny
    real(dp), intent(inout) :: q(field_n, nx, ny)
    integer :: field, j

    do j = 1, ny
       do field = 1, field_n
          call filter_line(q(field, :, j), nx, 16, 0.1_dp)  ! HERE
       end do
    end do
  end subroutine filter_fields

  subroutine limit_fields(q, nx, ny)
    integer, intent(in) :: nx, ny
    real(dp), intent(inout) :: q(field_n, nx, ny)
    integer :: field, j

    do j = 1, ny
       do field = 1, field_n
          call limit_line(q(field, :, j), nx, -4.0_dp, 4.0_dp)  ! HERE
       end do
    end do
  end subroutine limit_fields

  ! Adds the pressure to the momenta: a part of the work that needs no copy.
  subroutine push(q, nx, ny, step)
    integer, intent(in) :: nx, ny
    real(dp), intent(inout) :: q(field_n, nx, ny)
    real(dp), intent(in) :: step
    integer :: i, j

    do j = 1, ny
       do i = 2, nx - 1
          q(2, i, j) = q(2, i, j) - step * (q(5, i+1, j) - q(5, i-1, j))
       end do
    end do
  end subroutine push

  subroutine advance(q, nx, ny, step_n)
    integer, intent(in) :: nx, ny, step_n
    real(dp), intent(inout) :: q(field_n, nx, ny)
    integer :: step

    do step = 1, step_n
       call push(q, nx, ny, 0.001_dp)
       call filter_fields(q, nx, ny)
       call limit_fields(q, nx, ny)
    end do
  end subroutine advance

end module fluid

program slice_copies
  use fluid
  implicit none
  real(dp), allocatable :: q(:, :, :)
  character(len=16) :: word
  integer :: nx, ny, step_n, field

  call get_command_argument(1, word)
  read (word, *) nx
  call get_command_argument(2, word)
  read (word, *) ny
  call get_command_argument(3, word)
  read (word, *) step_n
  allocate (q(field_n, nx, ny))
  call set_up(q, nx, ny)
  call advance(q, nx, ny, step_n)
  if (any(abs(q) > 1000)) error stop 'slice_copies: a field grows; use a smaller step'
  do field = 1, field_n
     print '(a, i0, a, es16.9)', 'field ', field, ' mean ', sum(q(field, :, :)) / (nx * ny)
  end do
end program slice_copies
