! SPDX-License-Identifier: Apache-2.0
! finding: slice_copies; flags: -O2 -fno-inline; compiler: gfortran; repair: the field lies the other way round;
! says: copies a slice that is not contiguous for a call at this line
module rows
    implicit none
    integer, parameter :: n = 256
contains
    subroutine smooth(row, length)
        integer, intent(in) :: length
        real(8), intent(inout) :: row(length)

        integer :: i

        do i = 2, length
            row(i) = row(i) + 0.01d0 * row(i - 1)
        end do
    end subroutine smooth
end module rows

program slices
    use rows
    implicit none
    real(8) :: field(n, n)
    integer :: i, step

    field = 1.5d0
    do step = 1, 4000
        do i = 1, n
#ifdef REPAIRED
            call smooth(field(:, i), n)
#else
            call smooth(field(i, :), n)
#endif
        end do
    end do
    print '(f12.6)', sum(field)
end program slices
