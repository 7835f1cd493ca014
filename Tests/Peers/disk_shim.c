// Loaded into a program by LD_PRELOAD: the disk under its files written in place is as the file in DISK_SHIM says, one
// number of 64 bits: 0 well, above 0 this errno (with 1 << 32 after half of what was to be written; with 1 << 33 only
// where a file would grow, as a full disk does), below 0 it does not come back.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int64_t *state;
// With DISK_HANGS_AT=PART nothing is ever opened whose path has PART in it.
static const char *hangs_at;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_SHIM");
    hangs_at = getenv("DISK_HANGS_AT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) state = memory;
    close(file);
}

// Only the state folder's: the copy in the runtime folder is not on that disk.
static int is_sick(int file) {
    char link[64], path[512];
    if (!state || !*state) return 0;
    strcpy(link, "/proc/self/fd/");
    char digits[12];
    int count = 0;
    for (int left = file; left > 0 || count == 0; left /= 10) digits[count++] = (char)('0' + left % 10);
    char *end = link + strlen(link);
    while (count > 0) *end++ = digits[--count];
    *end = 0;
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (!strstr(path, "/state/")) return 0;
    while (state && *state < 0) usleep(1000);
    if (*state > 0) errno = (int)(*state & 0xffffffff);
    return *state > 0;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite");
    if (!is_sick(file)) return real(file, bytes, count, at);
    int code = errno;
    struct stat now;
    if (*state >> 33 & 1 && fstat(file, &now) == 0 && at + (off_t)count <= now.st_size) return real(file, bytes, count, at);
    if (*state >> 32 & 1) (void)!real(file, bytes, count / 2, at);
    errno = code;
    return -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) { return pwrite(file, bytes, count, at); }

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return is_sick(file) && !(*state >> 33) ? -1 : real(file);
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    return is_sick(file) && !(*state >> 33) ? -1 : real(file);
}

static void hang_at(const char *path) {
    while (hangs_at && *hangs_at && strstr(path, hangs_at)) usleep(1000);
}

// glibc's own open() does not come through here; what a program calls does.
int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, unsigned);
    if (!real) real = dlsym(RTLD_NEXT, "open");
    va_list more;
    va_start(more, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
    va_end(more);
    hang_at(path);
    return real(path, flags, mode);
}
