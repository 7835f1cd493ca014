/* A yardstick of `hil/bench response`: the least that answers frequency, in C on libmodbus. Each period it reads the
 * meter's frequency and writes each inverter its part of the droop response. No interlocks, no limits of a battery, no
 * checks of what it reads, no second source, no record.
 *
 * respond METER_HOST METER_PORT INVERTER_HOST INVERTER_PORT INVERTER_TTY PERIOD_MS; runs until it is ended. */
#include <errno.h>
#include <modbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Where the simulated devices have model 213 `Hz`, and model 704 from `WSetEna` on. */
enum { hertz = 40096, enable = 40379, mode = 40380, setpoint = 40381 };

static void fail(const char *what) {
    fprintf(stderr, "respond: %s: %s\n", what, modbus_strerror(errno));
    exit(1);
}

static modbus_t *opened(modbus_t *link) {
    if (!link) fail("no memory");
    modbus_set_slave(link, 1);
    modbus_set_response_timeout(link, 1, 0);
    if (modbus_connect(link) != 0) fail("connect");
    return link;
}

/* ±0.03 Hz, 5 % of 50 Hz, 100 kW. */
static int32_t droop(float frequency) {
    double power = 0;
    if (frequency < 49.97) power = (49.97 - frequency) / 2.5 * 100000;
    if (frequency > 50.03) power = -(frequency - 50.03) / 2.5 * 100000;
    return (int32_t)(power > 100000 ? 100000 : power < -100000 ? -100000 : power);
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: respond METER_HOST METER_PORT INVERTER_HOST INVERTER_PORT INVERTER_TTY PERIOD_MS\n");
        return 2;
    }
    long period = atol(argv[6]) * 1000000;
    modbus_t *meter = opened(modbus_new_tcp_pi(argv[1], argv[2]));
    modbus_t *inverters[] = {
        opened(modbus_new_tcp_pi(argv[3], argv[4])), opened(modbus_new_rtu(argv[5], 115200, 'N', 8, 1))};
    for (int i = 0; i < 2; i++) {
        /* Watts, value, reversion to zero after 10 s; then the control on. */
        uint16_t block[10] = {1, 0, 0, 0, 0, 0, 0, 1, 0, 10};
        if (modbus_write_registers(inverters[i], mode, 10, block) != 10) fail("settings");
        if (modbus_write_register(inverters[i], enable, 1) != 1) fail("enable");
    }
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        next.tv_nsec += period;
        while (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        uint16_t words[2];
        if (modbus_read_registers(meter, hertz, 2, words) != 2) fail("frequency");
        uint32_t power = (uint32_t)droop(modbus_get_float_abcd(words));
        words[0] = (uint16_t)(power >> 16), words[1] = (uint16_t)power;
        for (int i = 0; i < 2; i++)
            if (modbus_write_registers(inverters[i], setpoint, 2, words) != 2) fail("setpoint");
    }
}
