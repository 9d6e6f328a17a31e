/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is loaded by name. When it is unloaded, it reports whether the code of the program
 * equals its file. The program must be linked with it. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

double scaled(long n, const double *x);
double scaled(long n, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * 0.5;
    return s;
}

#ifdef WITNESS
static int compare(struct dl_phdr_info *info, size_t size, void *file)
{
    long differ = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const unsigned char *code = (const unsigned char *)(info->dlpi_addr + p->p_vaddr);
        for (size_t k = 0; p->p_type == PT_LOAD && p->p_flags & PF_X && k < p->p_filesz; k++)
            differ += code[k] != ((const unsigned char *)file)[p->p_offset + k];
    }
    printf("bytes that differ: %ld\n", differ);
    return 1; /* the program alone */
}

static void look(void)
{
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY);
    fstat(fd, &st);
    void *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    dl_iterate_phdr(compare, file);
    fflush(stdout);
}

void witness(void);
void witness(void)
{
    look();
}

__attribute__((destructor)) static void at_end(void)
{
    look();
}
#endif
