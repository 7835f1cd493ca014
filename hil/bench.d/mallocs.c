/* Preloaded: says at the end how often memory was asked for. */
#include <stddef.h>
#include <stdio.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
static long count;

void *malloc(size_t size) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); return __libc_realloc(old, size); }

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "mallocs %ld\n", count); }
