#define _GNU_SOURCE
#include "CLinux.h"
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#ifndef BALLAST_VERSION
#define BALLAST_VERSION "0.1.0"
#endif
const char *ballast_version(void) { return BALLAST_VERSION; }

int ballast_set_thread_affinity(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

int ballast_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

uint64_t ballast_realtime_priority_limit(void) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_RTPRIO, &limit);
    return limit.rlim_cur;
}

uint64_t ballast_memory_lock_limit(void) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return limit.rlim_cur;
}

int ballast_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

__attribute__((noinline)) void ballast_touch_stack(size_t bytes) {
    volatile char *place = alloca(bytes);
    for (size_t at = 0; at < bytes; at += 4096) place[at] = 0;
}

void ballast_keep_heap(size_t bytes) {
    mallopt(M_TRIM_THRESHOLD, -1);
    /* Or the piece would be mapped apart, and unmapped again. */
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    char *place = malloc(bytes);
    if (place) memset(place, 0, bytes);
    /* Through a barrier, or the compiler leaves all of it out. */
    __asm__ volatile("" : : "r"(place) : "memory");
    free(place);
}

int ballast_clock_state(int64_t *maximum_error_us) {
    struct timex state = {.modes = 0};
    int result = adjtimex(&state);
    *maximum_error_us = state.maxerror;
    return result < 0 ? -1 : !(state.status & STA_UNSYNC);
}

int32_t ballast_gettid(void) { return (int32_t)syscall(SYS_gettid); }

int ballast_set_timer_slack(uint64_t nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0); }

int ballast_openpty(int *controller, int *device, char *name, size_t name_size) {
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return -1;
    if (grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, name_size) != 0 ||
        (*device = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0) {
        close(fd);
        return -1;
    }
    *controller = fd;
    return 0;
}

int ballast_peer_credentials(int socket, uint32_t *uid, uint32_t *gid, int32_t *pid) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    int result = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
    if (result == 0) {
        *uid = credentials.uid;
        *gid = credentials.gid;
        *pid = credentials.pid;
    }
    return result;
}

int ballast_spawn_change_directory(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int ballast_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int ballast_wait_readable(int fd, int64_t nanoseconds) {
    struct pollfd entry = {fd, POLLIN, 0};
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return ppoll(&entry, 1, &time, NULL);
}

int64_t ballast_file_system(const char *path) {
    struct statfs kind;
    return statfs(path, &kind) == 0 ? (int64_t)(uint32_t)kind.f_type : -1;
}

#if defined(__x86_64__)
#define BALLAST_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define BALLAST_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* The lower half of the third argument: PROT_*. */
#define ALLOW_UNLESS_RUN(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int ballast_confine(void) {
#ifdef BALLAST_AUDIT_ARCH
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BALLAST_AUDIT_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(write), ALLOW(exit), ALLOW(exit_group), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(brk),
        ALLOW(futex), ALLOW(rt_sigreturn), ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(fstat), ALLOW(sched_yield),
        ALLOW_UNLESS_RUN(mmap), ALLOW_UNLESS_RUN(mprotect),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#else
    errno = ENOSYS;
    return -1;
#endif
}
