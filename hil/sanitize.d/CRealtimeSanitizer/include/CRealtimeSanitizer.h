#pragma once
/* RealtimeSanitizer's own entries; nothing where the program is linked without it. */
void ballast_realtime_begin(void);
void ballast_realtime_end(void);
/* 1 where the sanitizer is linked. */
int ballast_realtime_is_watched(void);
