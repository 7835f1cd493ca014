#pragma once
/* One-line wrappers over calls that Swift's Glibc module does not show. No logic. */
#include <stddef.h>
#include <stdint.h>

/* Needs _GNU_SOURCE, which the Glibc module is built without. */
int ballast_set_thread_affinity(int cpu);
int ballast_set_thread_name(const char *name);
uint64_t ballast_realtime_priority_limit(void);
int32_t ballast_gettid(void);
int ballast_set_timer_slack(uint64_t nanoseconds);
int ballast_openpty(int *controller, int *device, char *name, size_t name_size);
int ballast_peer_credentials(int socket, uint32_t *uid, uint32_t *gid, int32_t *pid);
/* `actions` is a posix_spawn_file_actions_t. */
int ballast_spawn_change_directory(void *actions, const char *path);
