#pragma once
// libyaml's event interface: small, and it knows the line and column of every value.
#include <yaml.h>
