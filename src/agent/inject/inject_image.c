/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the bare agent as an image: its segments, and which words are addresses. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/inject/inject_internal.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/io_full.h"

#define MOST_B     (UINT64_C(16) << 20)
#define PAGE_UP(n) (((n) + AS_AGENT_PAGE_B - 1) & ~(uint64_t)(AS_AGENT_PAGE_B - 1))

struct elf_file {
    const uint8_t *at;
    uint64_t n;
    Elf64_Ehdr head;
};

static bool get_segment(const struct elf_file *file, unsigned i, Elf64_Phdr *out)
{
    const uint64_t at = file->head.e_phoff + (uint64_t)i * sizeof *out;
    if (at > file->n || sizeof *out > file->n - at)
        return false;
    memcpy(out, file->at + at, sizeof *out);
    return out->p_offset <= file->n && out->p_filesz <= file->n - out->p_offset &&
           out->p_vaddr < MOST_B && out->p_memsz < MOST_B && out->p_filesz <= out->p_memsz;
}

static bool measure_image(const struct elf_file *file, struct as_image *image)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < file->head.e_phnum; i++) {
        if (!get_segment(file, i, &segment))
            return false;
        if (segment.p_type != PT_LOAD)
            continue;
        const uint64_t end = PAGE_UP(segment.p_vaddr + segment.p_memsz);
        image->size_b = end > image->size_b ? end : image->size_b;
        if (segment.p_flags & PF_X) {
            image->text = segment.p_vaddr & ~(uint64_t)(AS_AGENT_PAGE_B - 1);
            image->text_end = end;
        }
    }
    image->entry = file->head.e_entry;
    return image->text_end && image->entry >= image->text + AS_BARE_SYSCALL_B &&
           image->entry < image->text_end;
}

static void copy_segments(const struct elf_file *file, struct as_image *image)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < file->head.e_phnum; i++)
        if (get_segment(file, i, &segment) && segment.p_type == PT_LOAD)
            memcpy(image->bytes + segment.p_vaddr, file->at + segment.p_offset, segment.p_filesz);
}

/* What stands in a table of the dynamic section under `tag`. */
static uint64_t dynamic_of(const struct elf_file *file, const struct as_image *image, int64_t tag)
{
    Elf64_Phdr segment;
    for (unsigned i = 0; i < file->head.e_phnum; i++) {
        if (!get_segment(file, i, &segment) || segment.p_type != PT_DYNAMIC ||
            segment.p_vaddr + segment.p_filesz > image->size_b)
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn one;
            memcpy(&one, image->bytes + segment.p_vaddr + at, sizeof one);
            if (one.d_tag == tag)
                return one.d_un.d_val;
        }
    }
    return 0;
}

/* It is linked so that nothing else needs to be filled in. */
static bool find_places(const struct elf_file *file, struct as_image *image)
{
    const uint64_t at = dynamic_of(file, image, DT_RELA);
    const uint64_t size_b = dynamic_of(file, image, DT_RELASZ);
    if (at > image->size_b || size_b > image->size_b - at)
        return false;
    image->places = size_b / sizeof(Elf64_Rela);
    struct as_image_place *place = as_calloc(image->places + 1, sizeof *place);
    image->place = place;
    for (uint64_t i = 0; place && i < image->places; i++) {
        Elf64_Rela one;
        memcpy(&one, image->bytes + at + i * sizeof one, sizeof one);
        if (ELF64_R_TYPE(one.r_info) != R_X86_64_RELATIVE || one.r_offset > image->size_b - 8)
            return false;
        place[i] = (struct as_image_place){one.r_offset, (uint64_t)one.r_addend};
    }
    return place;
}

static bool make_image(struct elf_file *file, struct as_image *image)
{
    if (file->n < sizeof file->head)
        return false;
    memcpy(&file->head, file->at, sizeof file->head);
    if (memcmp(file->head.e_ident, ELFMAG, SELFMAG) != 0 ||
        file->head.e_phentsize != sizeof(Elf64_Phdr) || file->head.e_phoff > file->n ||
        !measure_image(file, image))
        return false;
    image->bytes = as_calloc(1, image->size_b);
    if (!image->bytes)
        return false;
    copy_segments(file, image);
    return find_places(file, image);
}

int as_image_read(const char *path, struct as_image *image, struct as_error *err)
{
    struct stat status = {0};
    struct elf_file file = {0};
    *image = (struct as_image){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int why = fd < 0 || fstat(fd, &status) < 0 ? errno : 0;
    const uint64_t size_b = (uint64_t)status.st_size;
    uint8_t *bytes = why || size_b == 0 || size_b > MOST_B ? NULL : as_calloc(1, size_b);
    file = (struct elf_file){.at = bytes, .n = bytes ? as_whole_read(fd, bytes, size_b) : 0};
    const bool good = bytes && make_image(&file, image);
    as_free(bytes);
    if (fd >= 0)
        close(fd);
    if (good)
        return 0;
    as_image_free(image);
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "%s: the agent for statically linked programs is missing or damaged%s%s; "
                        "install it beside " AS_AGENT_LIBRARY,
                        path, why ? ": " : "", why ? strerror(why) : "");
}

void as_image_free(struct as_image *image)
{
    as_free(image->bytes);
    as_free(image->place);
    *image = (struct as_image){0};
}
