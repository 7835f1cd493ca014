// libFuzzer's driver under the name that SwiftPM gives the entry point of TelecontrolFuzz.
#include <stddef.h>
#include <stdint.h>
extern int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
int LLVMFuzzerRunDriver(int *, char ***, int (*)(const uint8_t *, size_t));
int TelecontrolFuzz_main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }
