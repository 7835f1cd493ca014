#pragma once
/* One-line wrappers over calls that Swift's Glibc module does not show. No logic. */
#include <stddef.h>
#include <stdint.h>

/* Of this build: what the package says; fixed when this file is compiled. */
const char *ballast_version(void);
/* Needs _GNU_SOURCE, which the Glibc module is built without. */
int ballast_set_thread_affinity(int cpu);
int ballast_set_thread_name(const char *name);
uint64_t ballast_realtime_priority_limit(void);
/* RLIMIT_MEMLOCK in bytes. */
uint64_t ballast_memory_lock_limit(void);
/* Processors that this process may use. */
int ballast_processor_count(void);
/* Makes the pages of this much stack present, so that the first deep call does not fault. */
void ballast_touch_stack(size_t bytes);
/* Makes the pages of this much heap present, and lets the allocator give none back. */
void ballast_keep_heap(size_t bytes);
/* The kernel's clock discipline: 1 synchronised, 0 not, -1 no answer; the largest error in microseconds. */
int ballast_clock_state(int64_t *maximum_error_us);
int32_t ballast_gettid(void);
int ballast_set_timer_slack(uint64_t nanoseconds);
int ballast_openpty(int *controller, int *device, char *name, size_t name_size);
int ballast_peer_credentials(int socket, uint32_t *uid, uint32_t *gid, int32_t *pid);
/* `actions` is a posix_spawn_file_actions_t. */
int ballast_spawn_change_directory(void *actions, const char *path);
/* Non-blocking, closed on exec. */
int ballast_eventfd(void);
/* ppoll: Glibc's poll() counts in milliseconds. */
int ballast_wait_readable(int fd, int64_t nanoseconds);
/* The kind of file system under `path` (statfs, which the Glibc module leaves out); -1 = nobody can tell. */
int64_t ballast_file_system(const char *path);
/* From here on this process can write to what is open, take memory that it cannot run, and end; any other call is
   refused (EPERM). For good, and for all its threads. A filter is a table of the kernel's macros, which Swift does not see. */
int ballast_confine(void);
