/* The yardstick of `hil/bench modbus`: the reads of `ballast-sim poll`, in C on libmodbus.
 * poll HOST PORT UNIT ADDRESS REGISTERS COUNT; prints the same line of JSON. */
#include <errno.h>
#include <modbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { warm_up = 200 };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Microseconds, from times in order. */
static double per_mille(const int64_t *times, int count, int share) {
    return (double)times[(int64_t)(count - 1) * share / 1000] / 1e3;
}

static int fail(const char *what) {
    fprintf(stderr, "poll: %s: %s\n", what, modbus_strerror(errno));
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: poll HOST PORT UNIT ADDRESS REGISTERS COUNT\n");
        return 2;
    }
    int unit = atoi(argv[3]), address = atoi(argv[4]), registers = atoi(argv[5]), count = atoi(argv[6]);
    if (registers < 1 || registers > 125 || count < 1) {
        fprintf(stderr, "poll: REGISTERS is 1 ... 125, COUNT at least 1\n");
        return 2;
    }
    uint16_t words[125];
    int64_t *times = malloc(sizeof *times * (size_t)count);
    modbus_t *link = modbus_new_tcp_pi(argv[1], argv[2]);
    if (!times || !link) return fail("no memory");
    modbus_set_slave(link, unit);
    modbus_set_response_timeout(link, 1, 0);
    modbus_set_byte_timeout(link, 0, 0);
    if (modbus_connect(link) != 0) return fail("connect");
    for (int i = 0; i < warm_up; i++)
        if (modbus_read_registers(link, address, registers, words) != registers) return fail("read");
    int64_t begun = now_ns(), last = begun;
    for (int i = 0; i < count; i++) {
        if (modbus_read_registers(link, address, registers, words) != registers) return fail("read");
        int64_t now = now_ns();
        times[i] = now - last;
        last = now;
    }
    qsort(times, (size_t)count, sizeof *times, by_size);
    printf("{\"polls\": %d, \"polls_per_s\": %.1f, \"p50_us\": %.3f, \"p99_us\": %.3f, \"p999_us\": %.3f, "
           "\"max_us\": %.3f}\n",
           count, count * 1e9 / (double)(last - begun), per_mille(times, count, 500),
           per_mille(times, count, 990), per_mille(times, count, 999), per_mille(times, count, 1000));
    modbus_close(link);
    modbus_free(link);
    free(times);
    return 0;
}
