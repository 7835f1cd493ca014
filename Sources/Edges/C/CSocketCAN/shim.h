#pragma once
/* Every linux/can*.h include of the package stands here: a second C module that includes them makes some of their
   macros vanish from Swift. */
#include <libsocketcan.h>
#include <linux/can.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Macros that Swift cannot import: sizeof, and arithmetic over other macros. */
static const size_t ballast_CAN_MTU = CAN_MTU;
static const size_t ballast_CANFD_MTU = CANFD_MTU;
static const int ballast_SOL_CAN_RAW = SOL_CAN_RAW;

/* Aliases that hang on the word size, and an anonymous enum. */
static const int ballast_SO_TIMESTAMPNS = SO_TIMESTAMPNS;
static const int ballast_SO_TIMESTAMPING = SO_TIMESTAMPING;
static const int ballast_SO_RXQ_OVFL = SO_RXQ_OVFL;
static const int ballast_HARDWARE_STAMPS = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
