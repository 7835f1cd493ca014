#pragma once
#include <modbus.h>
#include <stdint.h>
/* Swift does not import the EMB* macros (arithmetic over an enum). */
static const int32_t ballast_EMBXILFUN = EMBXILFUN;
static const int32_t ballast_EMBXGTAR = EMBXGTAR;
static const int32_t ballast_EMBBADCRC = EMBBADCRC;
static const int32_t ballast_EMBBADSLAVE = EMBBADSLAVE;
