/* The devices of `hil/bench modbus`: answers function 3 with registers that count up, on PORTS ports of 127.0.0.1 from
 * FIRST on, and on a pseudo-terminal to which LINK points, where each exchange lasts as long as it would at 115200 8N1.
 * One thread and one epoll, so that it costs both programs the same. answer FIRST PORTS LINK; runs until it is ended. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <signal.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { most = 1024, serial_bytes_per_s = 11520 };

static struct {
    int listens;
    int length;
    uint8_t bytes[600];
} states[most];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void watch(int poll, int fd, int listens) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd >= most || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
    states[fd].listens = listens, states[fd].length = 0;
}

static int listening(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0 || listen(fd, 16) != 0) fail("listen");
    return fd;
}

static int terminal(const char *link) {
    char name[64];
    struct termios raw;
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), device;
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, name, sizeof name) != 0) fail("pty");
    /* Held open, so that the line stays up between two programs. */
    if ((device = open(name, O_RDWR | O_NOCTTY)) < 0) fail(name);
    tcgetattr(device, &raw);
    cfmakeraw(&raw);
    tcsetattr(device, TCSANOW, &raw);
    unlink(link);
    if (symlink(name, link) != 0) fail(link);
    return fd;
}

static uint16_t crc(const uint8_t *bytes, int count) {
    uint16_t sum = 0xFFFF;
    for (int i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ 0xA001 : sum >> 1;
    }
    return sum;
}

/* From the unit on; returns the length. */
static int body(const uint8_t *request, uint8_t *answer) {
    int count = request[5] < 125 ? request[5] : 125;
    answer[0] = request[0], answer[1] = request[1], answer[2] = (uint8_t)(2 * count);
    for (int i = 0; i < 2 * count; i++) answer[3 + i] = (uint8_t)i;
    return 3 + 2 * count;
}

static void answer(int fd, int serial) {
    uint8_t *in = states[fd].bytes, out[300];
    int head = serial ? 0 : 6, whole = serial ? 8 : 12;
    while (states[fd].length >= whole) {
        int length = head + body(in + head, out + head);
        if (serial) {
            uint16_t sum = crc(out, length);
            out[length++] = (uint8_t)sum, out[length++] = (uint8_t)(sum >> 8);
            int64_t ns = (int64_t)(whole + length) * 1000000000 / serial_bytes_per_s;
            struct timespec time = {ns / 1000000000, ns % 1000000000};
            nanosleep(&time, NULL);
        } else {
            memcpy(out, in, 4);
            out[4] = 0, out[5] = (uint8_t)(length - 6);
        }
        if (write(fd, out, (size_t)length) != length) return;
        states[fd].length -= whole;
        memmove(in, in + whole, (size_t)states[fd].length);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: answer FIRST PORTS LINK\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int poll = epoll_create1(0), line = terminal(argv[3]);
    watch(poll, line, 0);
    for (int i = 0; i < atoi(argv[2]); i++) watch(poll, listening(atoi(argv[1]) + i), 1);
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd, one = 1;
            if (states[fd].listens) {
                int peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (peer < 0) continue;
                setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                watch(poll, peer, 0);
                continue;
            }
            ssize_t count = read(fd, states[fd].bytes + states[fd].length, sizeof states[fd].bytes - (size_t)states[fd].length);
            if (count > 0) {
                states[fd].length += (int)count;
                answer(fd, fd == line);
            } else if (fd != line && (count == 0 || errno != EAGAIN)) {
                close(fd);
            }
        }
    }
}
