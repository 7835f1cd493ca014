#pragma once
#include <linux/serial.h>
#include <modbus.h>
#include <stdint.h>
#include <sys/ioctl.h>
/* Swift does not import variadic functions; the request numbers are macros. */
static inline int ballast_set_rs485(int fd, struct serial_rs485 *settings) { return ioctl(fd, TIOCSRS485, settings); }
static inline int ballast_get_serial(int fd, struct serial_struct *settings) { return ioctl(fd, TIOCGSERIAL, settings); }
static inline int ballast_set_serial(int fd, struct serial_struct *settings) { return ioctl(fd, TIOCSSERIAL, settings); }
/* Macros, in newer headers by other macros. */
static const uint32_t ballast_rs485_enabled = SER_RS485_ENABLED;
static const uint32_t ballast_rs485_rts_on_send = SER_RS485_RTS_ON_SEND;
/* Of `closing_wait`: a close does not wait for the drain; the macro is the kernel's own. */
static const uint16_t ballast_no_closing_wait = 65535;
static const int32_t ballast_low_latency = ASYNC_LOW_LATENCY;
