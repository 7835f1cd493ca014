#include "CRealtimeSanitizer.h"

__attribute__((weak)) void __rtsan_ensure_initialized(void);
__attribute__((weak)) void __rtsan_realtime_enter(void);
__attribute__((weak)) void __rtsan_realtime_exit(void);

int ballast_realtime_is_watched(void) { return __rtsan_realtime_enter != 0; }

void ballast_realtime_begin(void) {
    if (!__rtsan_realtime_enter) return;
    __rtsan_ensure_initialized();
    __rtsan_realtime_enter();
}

void ballast_realtime_end(void) {
    if (__rtsan_realtime_exit) __rtsan_realtime_exit();
}
