/* The yardstick of `hil/bench modbus`: the reads of `ballast-sim poll`, in C on libmodbus, one thread per device. On a tty it
 * keeps the book's silence of 1.75 ms before each request, as our client does; libmodbus itself does not.
 * poll UNIT ADDRESS REGISTERS COUNT DEVICE...; a DEVICE is HOST:PORT, or a tty at 115200 8N1. COUNT polls each. Prints the
 * same line of JSON. */
#include <errno.h>
#include <modbus.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { warm_up = 20, most = 64 };

static int unit, address, registers, count;
static pthread_barrier_t start;

struct device {
    char *name;
    int64_t *times;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void fail(const char *what) {
    fprintf(stderr, "poll: %s: %s\n", what, modbus_strerror(errno));
    exit(1);
}

static modbus_t *opened(char *name) {
    char *colon = strrchr(name, ':');
    modbus_t *link;
    if (name[0] == '/' || !colon) {
        link = modbus_new_rtu(name, 115200, 'N', 8, 1);
    } else {
        *colon = 0;
        link = modbus_new_tcp_pi(name, colon + 1);
    }
    if (!link) fail("no memory");
    modbus_set_slave(link, unit);
    modbus_set_response_timeout(link, 1, 0);
    modbus_set_byte_timeout(link, 0, 0);
    if (modbus_connect(link) != 0) fail("connect");
    return link;
}

static void read_once(modbus_t *link, int serial) {
    static const struct timespec silence = {0, 1750000};
    uint16_t words[125];
    if (serial) nanosleep(&silence, NULL);
    if (modbus_read_registers(link, address, registers, words) != registers) fail("read");
}

static void *run(void *argument) {
    struct device *device = argument;
    int serial = !strchr(device->name, ':');
    modbus_t *link = opened(device->name);
    for (int i = 0; i < warm_up; i++) read_once(link, serial);
    pthread_barrier_wait(&start);
    int64_t last = now_ns();
    for (int i = 0; i < count; i++) {
        read_once(link, serial);
        int64_t now = now_ns();
        device->times[i] = now - last;
        last = now;
    }
    modbus_close(link);
    modbus_free(link);
    return NULL;
}

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
    int devices = argc - 5;
    if (devices < 1 || devices > most) {
        fprintf(stderr, "usage: poll UNIT ADDRESS REGISTERS COUNT DEVICE...\n");
        return 2;
    }
    unit = atoi(argv[1]), address = atoi(argv[2]), registers = atoi(argv[3]), count = atoi(argv[4]);
    if (registers < 1 || registers > 125 || count < 1) {
        fprintf(stderr, "poll: REGISTERS is 1 ... 125, COUNT at least 1\n");
        return 2;
    }
    int64_t total = (int64_t)count * devices;
    int64_t *times = malloc(sizeof *times * (size_t)total);
    if (!times) fail("no memory");
    pthread_barrier_init(&start, NULL, (unsigned)devices + 1);
    pthread_t threads[most];
    struct device all[most];
    for (int i = 0; i < devices; i++) {
        all[i] = (struct device){argv[5 + i], times + (int64_t)i * count};
        if (pthread_create(&threads[i], NULL, run, &all[i]) != 0) fail("thread");
    }
    pthread_barrier_wait(&start);
    int64_t begun = now_ns(), cpu = cpu_ns();
    for (int i = 0; i < devices; i++) pthread_join(threads[i], NULL);
    int64_t whole = now_ns() - begun;
    cpu = cpu_ns() - cpu;
    qsort(times, (size_t)total, sizeof *times, by_size);
#define AT(share) ((double)times[(total - 1) * (share) / 1000] / 1e3)
    printf("{\"polls\": %lld, \"polls_per_s\": %.1f, \"p50_us\": %.3f, \"p99_us\": %.3f, \"p999_us\": %.3f, "
           "\"max_us\": %.3f, \"cpu_us_per_poll\": %.3f}\n",
           (long long)total, (double)total * 1e9 / (double)whole, AT(500), AT(990), AT(999), AT(1000),
           (double)cpu / 1e3 / (double)total);
    free(times);
    return 0;
}
