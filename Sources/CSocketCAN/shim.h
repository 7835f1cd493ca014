#pragma once
/* Every linux/can*.h include of the package stands here: a second C module that includes them makes some of their
   macros vanish from Swift. */
#include <libsocketcan.h>
#include <linux/can.h>
#include <linux/can/error.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Macros that Swift cannot import: sizeof, and arithmetic over other macros. */
static const size_t ballast_CAN_MTU = CAN_MTU;
static const size_t ballast_CANFD_MTU = CANFD_MTU;
static const int ballast_SOL_CAN_RAW = SOL_CAN_RAW;
