! SPDX-License-Identifier: Apache-2.0
! cause: Each step is written as formatted text, which converts every number to decimal.
! place: write_step run_model _gfortran_transfer_real_write _gfortran_transfer_array_write
! place: write_float get_float_string _gfortran_st_write determine_precision write_real snprintf
! place: __printf_fp __printf_fp_buffer_1
! finding: input_output formatted_text
! words: (?i)formatted|\bformat|binary|\btext\b|decimal|conversion|unformatted
! false: memory_latency memory_bandwidth page_faults waiting scalar_chain compression
! flags: -O2 -g
! arguments: 300 200 26
! repair: The steps are written unformatted.
! clock: cpu
module shallow
  implicit none
  integer, parameter :: dp = kind(1.0d0)

contains

  subroutine set_up(h, u, nx, ny)
    integer, intent(in) :: nx, ny
    real(dp), intent(out) :: h(nx, ny), u(nx, ny)
    integer :: i, j

    do j = 1, ny
       do i = 1, nx
          h(i, j) = 1 + 0.3_dp * exp(-0.002_dp * ((i - nx / 2)**2 + (j - ny / 2)**2))
       end do
    end do
    u = 0
  end subroutine set_up

  ! Moves the waves by one step.
  subroutine advance(h, u, nx, ny, rate)
    integer, intent(in) :: nx, ny
    real(dp), intent(inout) :: h(nx, ny), u(nx, ny)
    real(dp), intent(in) :: rate
    integer :: i, j

    do j = 2, ny - 1
       do i = 2, nx - 1
          u(i, j) = u(i, j) + rate * (h(i-1, j) + h(i+1, j) + h(i, j-1) + h(i, j+1) - 4 * h(i, j))
       end do
    end do
    do j = 2, ny - 1
       do i = 2, nx - 1
          h(i, j) = h(i, j) + rate * u(i, j)
       end do
    end do
  end subroutine advance

  subroutine open_output(unit)
    integer, intent(out) :: unit

#ifdef REPAIRED
    open (newunit=unit, status='scratch', form='unformatted', access='stream')
#else
    open (newunit=unit, status='scratch', form='formatted')
#endif
  end subroutine open_output

  subroutine write_step(unit, step, h, nx, ny)
    integer, intent(in) :: unit, step, nx, ny
    real(dp), intent(in) :: h(nx, ny)
#ifdef REPAIRED
    write (unit) step, h
#else
    integer :: j

    write (unit, '(i8)') step  ! HERE
    do j = 1, ny  ! HERE
       write (unit, '(6es24.16)') h(:, j)  ! HERE
    end do
#endif
  end subroutine write_step

  ! Reads the last step again, as a restart does.
  subroutine read_step(unit, step_n, h, nx, ny)
    integer, intent(in) :: unit, step_n, nx, ny
    real(dp), intent(out) :: h(nx, ny)
    integer :: found
#ifdef REPAIRED
    read (unit, pos=1 + (step_n - 1) * (4 + 8 * nx * ny)) found, h
#else
    integer :: i, j, lines_per_step

    lines_per_step = 1 + ny * ((nx + 5) / 6)
    do i = 1, lines_per_step
       backspace (unit)
    end do
    read (unit, '(i8)') found
    do j = 1, ny
       read (unit, '(6es24.16)') h(:, j)
    end do
#endif
    if (found /= step_n) error stop 'field_text: the last step is missing'
  end subroutine read_step

  subroutine run_model(unit, h, u, nx, ny, step_n)
    integer, intent(in) :: unit, nx, ny, step_n
    real(dp), intent(inout) :: h(nx, ny), u(nx, ny)
    integer :: step, inner

    do step = 1, step_n
       do inner = 1, 10
          call advance(h, u, nx, ny, 0.1_dp)
       end do
       call write_step(unit, step, h, nx, ny)  ! HERE
    end do
  end subroutine run_model

end module shallow

program field_text
  use shallow
  implicit none
  real(dp), allocatable :: h(:, :), u(:, :), again(:, :)
  character(len=16) :: word
  integer :: nx, ny, step_n, unit

  call get_command_argument(1, word)
  read (word, *) nx
  call get_command_argument(2, word)
  read (word, *) ny
  call get_command_argument(3, word)
  read (word, *) step_n
  allocate (h(nx, ny), u(nx, ny), again(nx, ny))
  call set_up(h, u, nx, ny)
  call open_output(unit)
  call run_model(unit, h, u, nx, ny, step_n)
  call read_step(unit, step_n, again, nx, ny)
  if (maxval(abs(h - again)) > 1.0e-12_dp) error stop 'field_text: the restart differs'
  print '(a, f14.9, a, f12.9)', 'water ', sum(h) / (nx * ny), ', highest ', maxval(h)
  close (unit)
end program field_text
