/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client that lets loops of the program run as clones: it reads the plan, finds its modules as
 * they come and go, and follows threads and forks.
 */
#include "agent/patcher/patcher.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/rseq.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/patcher/patcher_stop.h"
#include "agent/patcher/prober.h"
#include "agent/patcher/variant.h"
#include "base/build_id.h"

/* ---- The plan ------------------------------------------------------------------------------- */

static const struct as_patch_plan *map_plan(void)
{
    char path[AS_AGENT_PAGE_B];
    struct stat status;
    void *at = MAP_FAILED;
    as_agent_path(AS_PATCH_PLAN, path);
    const int fd = as_agent_open(path, O_RDONLY);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
        at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (at == MAP_FAILED)
        return NULL;
    if (!as_patch_plan_check(at, (uint64_t)status.st_size))
        return at;
    munmap(at, (size_t)status.st_size);
    return NULL;
}

static uint64_t outcomes_b(void)
{
    return sizeof(struct as_patch_outcomes) +
           as_patcher.plan->region.n * sizeof(struct as_patch_outcome);
}

static bool make_outcomes(void)
{
    char name[AS_AGENT_FILE_B];
    as_agent_file_name(AS_PATCH_STATE, name); /* a program may execute itself: another file */
    struct as_patch_outcomes *made = as_agent_map_shared(name, outcomes_b());
    if (!made)
        return false;
    made->version = AS_PATCH_VERSION;
    made->pid = (uint32_t)as_agent.pid;
    made->regions = as_patcher.plan->region.n;
    const struct as_patch_outcomes *before = as_patcher.outcomes;
    if (before) /* of the parent: the code is patched here too */
        memcpy(made + 1, before + 1, outcomes_b() - sizeof *made);
    as_patcher.outcomes = made;
    __atomic_store_n(&made->magic, AS_PATCH_OUTCOME, __ATOMIC_RELEASE);
    return true;
}

static void *map_private(uint64_t size_b)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static struct as_patch_thread *map_nowhere(void)
{
    uint8_t *at = map_private(AS_PATCHER_LOCAL_B + as_patcher.thread_b);
    return at ? (struct as_patch_thread *)(void *)(at + AS_PATCHER_LOCAL_B) : NULL;
}

/* ---- Modules -------------------------------------------------------------------------------- */

static bool has_build_id(const struct dl_phdr_info *info, const struct as_patch_module *planned)
{
    uint8_t id[AS_BUILD_ID_B];
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
        if (phdr->p_type != PT_NOTE)
            continue;
        const size_t n =
            as_build_id_of_notes((const uint8_t *)(uintptr_t)(info->dlpi_addr + phdr->p_vaddr),
                                 phdr->p_memsz, phdr->p_align, id, sizeof id);
        if (n)
            return n == planned->build_id_b && memcmp(id, planned->build_id, n) == 0;
    }
    return false;
}

/* As the loader found it, a path may be relative, or lead there by links. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return strcmp(a, b) == 0 || (syscall(SYS_newfstatat, AT_FDCWD, a, &x, 0) == 0 &&
                                 syscall(SYS_newfstatat, AT_FDCWD, b, &y, 0) == 0 &&
                                 x.st_ino == y.st_ino && x.st_dev == y.st_dev);
}

/* Without a build-id the file must do; the original bytes are compared in any case. */
static bool has_path(const struct dl_phdr_info *info, const char *path)
{
    char own[AS_AGENT_PAGE_B];
    if (info->dlpi_name && info->dlpi_name[0])
        return is_same_file(info->dlpi_name, path);
    const long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = 0;
    return strcmp(own, path) == 0;
}

/* The pages of the module are as the plan thinks: what it reads and writes is there. */
static bool has_range(const struct dl_phdr_info *info, const struct as_patch_module *planned)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
        if (phdr->p_type != PT_LOAD)
            continue;
        low = phdr->p_vaddr < low ? phdr->p_vaddr : low;
        high = phdr->p_vaddr + phdr->p_memsz > high ? phdr->p_vaddr + phdr->p_memsz : high;
    }
    return low == planned->low && high == planned->high;
}

static int see_module(struct dl_phdr_info *info, size_t size_b, void *seen)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned = as_patch_at(plan, &plan->module);
    const char *text = as_patch_at(plan, &plan->text);
    (void)size_b;
    for (uint64_t m = 0; m < plan->module.n; m++) {
        const bool same = planned[m].build_id_b ? has_build_id(info, &planned[m])
                                                : has_path(info, text + planned[m].path);
        if (!same || !has_range(info, &planned[m]))
            continue;
        ((bool *)seen)[m] = true;
        if (!as_patcher.module[m].is_there)
            as_patcher.module[m].bias = info->dlpi_addr;
        else if (as_patcher.module[m].bias != info->dlpi_addr)
            ((bool *)seen)[m] = false; /* gone, and there again elsewhere */
    }
    return 0;
}

static void forget_module(uint64_t m)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_module *planned =
        (const struct as_patch_module *)as_patch_at(plan, &plan->module) + m;
    struct as_patcher_module *module = &as_patcher.module[m];
    as_patcher_map_gone(module);
    if (module->cache)
        munmap(module->cache, module->cache_b);
    *module = (struct as_patcher_module){0};
    for (uint64_t r = planned->first_region; r < (uint64_t)planned->first_region + planned->regions;
         r++)
        as_patcher_outcome(r)->kind = AS_PATCH_WAITING;
}

/* Whether any went away: the same may have come elsewhere. */
static bool look_for_modules(void)
{
    static bool seen[4096];
    const uint64_t n = as_patcher.plan->module.n;
    bool gone = false;
    memset(seen, 0, sizeof seen);
    dl_iterate_phdr(see_module, seen);
    for (uint64_t m = 0; m < n; m++) {
        if (as_patcher.module[m].is_there && !seen[m]) {
            forget_module(m);
            gone = true;
        } else if (seen[m] && !as_patcher.module[m].is_there) {
            as_patcher.module[m].is_there = true;
            as_patcher_clone_module(m);
            if (!as_patcher.deferred)
                as_patcher_write_module(m, false);
        }
    }
    return gone;
}

static void patch_modules(void)
{
    const int saved = errno;
    if (as_agent_is_confined() || atomic_exchange(&as_patcher.busy, 1))
        return;
    if (look_for_modules())
        look_for_modules();
    atomic_store(&as_patcher.busy, 0);
    errno = saved;
}

/* ---- The mark that tells of switches --------------------------------------------------------- */

/* The C library registers an area with the kernel for each thread (rseq(2), glibc 2.35). */
static int32_t find_mark(void)
{
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size_b = dlsym(RTLD_DEFAULT, "__rseq_size");
    if (!offset || !size_b || *size_b == 0 || *offset != (int32_t)*offset)
        return 0;
    return (int32_t)*offset + (int32_t)offsetof(struct rseq, rseq_cs);
}

/* ---- The client ----------------------------------------------------------------------------- */

static bool begin_patcher(void)
{
    if (!as_agent_part(&as_agent_patcher) || !as_agent_is_program())
        return false;
    as_patcher.plan = map_plan();
    if (!as_patcher.plan || as_patcher.plan->module.n > 4096)
        return false;
    const struct as_patch_plan *plan = as_patcher.plan;
    as_patcher_mark_offset = find_mark();
    as_patcher.thread_b = as_patch_thread_b(plan);
    as_patcher.nowhere = map_nowhere();
    as_patcher.module = map_private(plan->module.n * sizeof *as_patcher.module);
    if (!as_patcher.nowhere || !as_patcher.module || !make_outcomes()) {
        as_agent_process_missed(errno);
        return false;
    }
    if (!as_variant_begin() || !as_prober_begin())
        return false;
    as_patcher.nowhere->loops = (uint32_t)plan->loop.n;
    as_patcher_paths_nowhere();
    as_patcher.counts_here = as_patcher_can_count();
    if (as_patcher.counts_here)
        as_patcher_thread_begin();
    patch_modules();
    return true;
}

static void patcher_forked(void)
{
    as_patcher.busy = 0;
    if (as_agent.state == AS_AGENT_READY)
        make_outcomes();
    for (uint64_t m = 0; m < as_patcher.plan->module.n; m++)
        as_patcher_map_forked(&as_patcher.module[m]);
    as_patcher_thread_forked();
    as_variant_forked();
    as_prober_forked();
}

static void undo_modules(void)
{
    for (uint64_t m = 0; m < as_patcher.plan->module.n; m++)
        if (as_patcher.module[m].is_there)
            as_patcher_write_module(m, true);
}

static void end_patcher(void)
{
    const struct as_patcher_part *part = as_agent_part(&as_agent_patcher);
    as_patcher_thread_flush();
    if (part && part->undo && !atomic_exchange(&as_patcher.busy, 1))
        undo_modules();
}

static void patcher_confined(enum as_agent_confinement which)
{
    if (which == AS_AGENT_CONFINING || which == AS_AGENT_CONFINING_ALL)
        as_patcher_stop_confined();
}

const struct as_agent_client as_agent_patcher = {.name = "patch",
                                                 .begin = begin_patcher,
                                                 .thread_begin = as_patcher_thread_begin,
                                                 .thread_end = as_patcher_thread_end,
                                                 .modules_changed = patch_modules,
                                                 .forked = patcher_forked,
                                                 .end = end_patcher,
                                                 .confined = patcher_confined};
