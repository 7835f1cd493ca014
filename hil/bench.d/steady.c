/* Preloaded into ballastd by hil/allocation-check: counts every call that asks for memory, gives it back or may wait for
 * a lock, on each thread that must do neither once it runs steadily, and every block of more than 128 KiB that is
 * copied: a cycle hands its decision on, 64 KiB, but never copies the controller itself, 400. The command arms it by writing into the shared file
 * named by BALLAST_STEADY_FILE; the first calls leave their stack in BALLAST_STEADY_FILE.stacks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { classes = 4, stacks_kept = 16, depth = 40 };
static const char *const names[classes] = {"cycle", "can", "modbus", "pmu"};

/* What the command reads: one row for each class of threads. */
struct shared {
    volatile unsigned armed;
    unsigned threads[classes];
    unsigned long memory_calls[classes], lock_calls[classes], large_copies[classes];
};
static struct shared nowhere, *shared = &nowhere;
static int stacks = -1, kept;
static unsigned long known[stacks_kept];
static __thread int own __attribute__((tls_model("initial-exec"))) = -1;
static __thread int inside __attribute__((tls_model("initial-exec")));

/* Whether a call of this class from these places was not seen before. */
static int is_new(void **frames, int count) {
    unsigned long mark = 1469598103934665603ul + (unsigned long)own;
    for (int i = 0; i < count; i++) mark = (mark ^ (unsigned long)frames[i]) * 1099511628211ul;
    for (int i = 0; i < kept && i < stacks_kept; i++)
        if (known[i] == mark) return 0;
    int place = __atomic_fetch_add(&kept, 1, __ATOMIC_RELAXED);
    if (place >= stacks_kept) return 0;
    known[place] = mark;
    return 1;
}

static void note(unsigned long *counters, const char *what) {
    if (own < 0 || !shared->armed || inside) return;
    inside = 1;
    __atomic_add_fetch(&counters[own], 1, __ATOMIC_RELAXED);
    if (stacks >= 0 && kept < stacks_kept) {
        void *frames[depth];
        int count = backtrace(frames, depth);
        if (is_new(frames, count)) {
            dprintf(stacks, "%s thread: %s\n", names[own], what);
            backtrace_symbols_fd(frames + 2, count > 2 ? count - 2 : 0, stacks);
        }
    }
    inside = 0;
}

void *malloc(size_t size) { note(shared->memory_calls, "malloc"); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { note(shared->memory_calls, "calloc"); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { note(shared->memory_calls, "realloc"); return __libc_realloc(old, size); }
void *memalign(size_t by, size_t size) { note(shared->memory_calls, "memalign"); return __libc_memalign(by, size); }
void *aligned_alloc(size_t by, size_t size) { note(shared->memory_calls, "aligned_alloc"); return __libc_memalign(by, size); }
int posix_memalign(void **to, size_t by, size_t size) {
    note(shared->memory_calls, "posix_memalign");
    void *made = __libc_memalign(by, size);
    if (!made) return 12;
    *to = made;
    return 0;
}
void free(void *old) {
    if (old) note(shared->memory_calls, "free");
    __libc_free(old);
}

enum { large = 128 << 10 };
/* Both in plain instructions: what looks up the next definition copies itself. */
void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    if (count > large) note(shared->large_copies, "memcpy of more than 128 KiB");
    void *end = to;
    __asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(count) : : "memory");
    return to;
}
void *memmove(void *to, const void *from, size_t count) {
    if ((char *)to - (char *)from < 0 || (size_t)((char *)to - (char *)from) >= count) return memcpy(to, from, count);
    if (count > large) note(shared->large_copies, "memmove of more than 128 KiB");
    char *last = (char *)to + count - 1;
    from = (const char *)from + count - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(last), "+S"(from), "+c"(count) : : "memory", "cc");
    return to;
}

/* The next definition of a function, looked up before anything is armed. */
#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))
typedef int (*on_mutex)(pthread_mutex_t *);
typedef int (*on_lock)(pthread_rwlock_t *);
static on_mutex next_mutex;
static on_lock next_read, next_write;

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (!next_mutex) next_mutex = NEXT(on_mutex, "pthread_mutex_lock");
    note(shared->lock_calls, "pthread_mutex_lock");
    return next_mutex(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    if (!next_read) next_read = NEXT(on_lock, "pthread_rwlock_rdlock");
    note(shared->lock_calls, "pthread_rwlock_rdlock");
    return next_read(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    if (!next_write) next_write = NEXT(on_lock, "pthread_rwlock_wrlock");
    note(shared->lock_calls, "pthread_rwlock_wrlock");
    return next_write(lock);
}
/* A thread of ours says what it is by its name. */
int pthread_setname_np(pthread_t thread, const char *name) {
    int (*next)(pthread_t, const char *) = NEXT(int (*)(pthread_t, const char *), "pthread_setname_np");
    if (pthread_equal(thread, pthread_self())) {
        for (int i = 0; i < classes; i++) {
            if (strcmp(name, names[i]) != 0) continue;
            own = i;
            __atomic_add_fetch(&shared->threads[i], 1, __ATOMIC_RELAXED);
        }
    }
    return next(thread, name);
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BALLAST_STEADY_FILE");
    char beside[4096];
    void *frames[4];
    if (!path || strlen(path) + 8 > sizeof beside) return;
    backtrace(frames, 4); /* loads what it needs now, and not on a watched thread */
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof *shared) < 0) return;
    void *place = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    strcpy(beside, path);
    strcat(beside, ".stacks");
    stacks = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (place != MAP_FAILED) shared = place;
}
