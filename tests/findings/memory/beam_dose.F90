! SPDX-License-Identifier: Apache-2.0
! cause: The material of each voxel is one of six, but takes eight bytes. The volume of 128 MiB does
! not fit into the caches as one byte for each voxel would.
! place: trace_beam deliver
! finding: memory_latency cache_latency array_access strided_walk
! words: (?i)latency|cache|smaller|narrow|bytes|integer ?(type|kind|\()|TLB|stride
! false: divisions scalar_mathematics page_faults mispredictions
! flags: -O2 -g
! arguments: 256 330000
! repair: The material is an integer of one byte.
! clock: cpu
module phantom
  implicit none
  integer, parameter :: dp = kind(1.0d0)
#ifdef REPAIRED
  integer, parameter :: tag = selected_int_kind(2)
#else
  integer, parameter :: tag = selected_int_kind(18)  ! HERE
#endif
  integer, parameter :: material_n = 6
  real(dp), parameter :: absorption(0:material_n-1) = &
       [0.0_dp, 0.00021_dp, 0.0019_dp, 0.0022_dp, 0.0041_dp, 0.0087_dp]
  integer(tag), allocatable :: volume(:, :, :)

contains

  ! Fills the volume with shells around its centre.
  subroutine build(n)
    integer, intent(in) :: n
    integer :: i, j, k, plane, row

    allocate (volume(n, n, n))
    do k = 1, n
       plane = (k - n / 2)**2
       do j = 1, n
          row = plane + (j - n / 2)**2
          do i = 1, n
             volume(i, j, k) = int(iand(ishft(row + (i - n / 2)**2, -9), 7), tag)
             if (volume(i, j, k) >= material_n) volume(i, j, k) = 1
          end do
       end do
    end do
  end subroutine build

  integer function random(seed, n)
    integer(8), intent(inout) :: seed
    integer, intent(in) :: n

    seed = ieor(seed, ishft(seed, 13))
    seed = ieor(seed, ishft(seed, -7))
    seed = ieor(seed, ishft(seed, 17))
    random = int(iand(ishft(seed, -24), int(n - 1, 8)))
  end function random

  ! Follows a beam from the front to the back; returns the depth that the radiation sees.
  ! The directions are 16th parts of a voxel for each plane.
  real(dp) function trace_beam(n, x, y, dx, dy) result(depth)
    integer, intent(in) :: n, x, y, dx, dy
    integer :: k, i, j

    depth = 0
    do k = 1, n  ! HERE
       i = iand(x + ishft(k * dx, -4), n - 1) + 1
       j = iand(y + ishft(k * dy, -4), n - 1) + 1
       depth = depth + absorption(volume(i, j, k))  ! HERE
    end do
  end function trace_beam

  real(dp) function deliver(n, beam_n) result(dose)
    integer, intent(in) :: n, beam_n
    integer(8) :: seed
    integer :: beam, x, y, dx, dy

    seed = 88172645463325252_8
    dose = 0
    do beam = 1, beam_n
       x = random(seed, n)
       y = random(seed, n)
       dx = random(seed, 32) - 16
       dy = random(seed, 32) - 16
       dose = dose + 1 / (1 + trace_beam(n, x, y, dx, dy))
    end do
  end function deliver

end module phantom

program beam_dose
  use phantom
  implicit none
  character(len=16) :: word
  integer :: n, beam_n

  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) beam_n
  call build(n)
  print '(a, f18.9)', 'beam_dose', deliver(n, beam_n)
end program beam_dose
