#pragma once
// libsodium: Ed25519 signatures and random bytes.
#include <sodium.h>
