#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the symbols that the agent needs and shows: both lists are complete. It lives in other
# people's programs, so nothing that allocates, locks, prints or keeps a descriptor may come in.
set -eu
library=$1
# No malloc, no stdio, no locale. getenv, dlsym and those of pthread are called when a program or
# thread begins or ends, never in the handler. That needs clock_gettime, sched_getcpu, syscall and,
# in interpreters, pthread_getspecific: that of glibc reads the array of the thread without a lock.
allowed='__errno_location clock_gettime dlsym fstat fstat64 getauxval getenv getpid
getppid getrlimit getrlimit64 memchr memcmp memcpy memmove memset mmap mmap64 munmap posix_fallocate
posix_fallocate64 __register_atfork pthread_attr_getstacksize pthread_equal pthread_key_create
pthread_getspecific pthread_self pthread_setspecific sched_getcpu sigdelset sigismember strchr
strlen syscall __cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
__libc_current_sigrtmax __libc_current_sigrtmin on_exit __cxa_at_quick_exit strncmp strcmp
dl_iterate_phdr mprotect _dl_find_object strrchr'
shown='_Exit _exit assay_agent_hooks assay_objects_hooks assay_tracer_hooks
dlclose dlopen prctl pthread_create pthread_setname_np pthread_sigmask sigaction
signal signalfd sigprocmask sigtimedwait sigwait sigwaitinfo syscall thrd_create
wait wait3 wait4 waitid waitpid'
bad=0
names() { nm -D --format=posix "$1" "$library" | sed 's/[@ ].*//' | LC_ALL=C sort -u; }
for name in $(names --undefined-only); do
    case " $(echo $allowed) " in
    *" $name "*) ;;
    *) echo "$library needs $name, which is not on the list" >&2 && bad=1 ;;
    esac
done
got=$(names --defined-only | tr '\n' ' ')
want=$(echo "$shown" | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')
if [ "$got" != "$want" ]; then
    echo "$library shows $got, not $want" >&2
    bad=1
fi
exit $bad
