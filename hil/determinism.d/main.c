/* Reads a recording and hands it to the controller; what Embedded Swift asks of its platform is the C library's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t replay_recording(const uint8_t *, intptr_t, uint64_t *cycles, uint64_t *digest);

int main(int count, char **words) {
    int worst = 0;
    for (int index = 1; index < count; index++) {
        FILE *file = fopen(words[index], "rb");
        if (!file) { perror(words[index]); return 2; }
        fseek(file, 0, SEEK_END);
        long size = ftell(file);
        rewind(file);
        uint8_t *bytes = malloc(size > 0 ? size : 1);
        if (!bytes || fread(bytes, 1, size, file) != (size_t)size) { perror(words[index]); return 2; }
        fclose(file);
        uint64_t cycles = 0, digest = 0;
        int32_t outcome = replay_recording(bytes, size, &cycles, &digest);
        static const char *texts[] = {"identical", "DIFFERS in this cycle", "unreadable", "the state has another size", "nothing compared"};
        printf("%s: %s, %llu cycles, digest %016llx\n", words[index], texts[outcome], (unsigned long long)cycles, (unsigned long long)digest);
        if (outcome > worst) worst = outcome;
        free(bytes);
    }
    return worst;
}
