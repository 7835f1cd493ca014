#pragma once
#include <stdint.h>
#include <systemd/sd-journal.h>

// Of <systemd/sd-daemon.h> only what is called: the header brings <sys/socket.h> with it, whose constants then
// belong to this module, and are hidden from every file that happens to be compiled in one go with one that
// imports it.
int sd_watchdog_enabled(int unset_environment, uint64_t *usec);
