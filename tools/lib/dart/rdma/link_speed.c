// SPDX-License-Identifier: LGPL-2.1-or-later
/* The speed of a port. */
#include "link_speed_internal.h"

#include <stddef.h>

struct code {
	uint8_t code;
	uint32_t value;
};

static uint32_t find(const struct code *codes, size_t count, uint8_t code)
{
	for (size_t i = 0; i < count; i++) {
		if (codes[i].code == code)
			return codes[i].value;
	}
	return 0;
}

uint64_t dart_link_speed(uint8_t speed, uint8_t width)
{
	/* Mbit/s of a lane: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR. */
	static const struct code speeds[] = {
		{ 1, 2500 },   { 2, 5000 },   { 4, 10000 },  { 8, 10000 },
		{ 16, 14000 }, { 32, 25000 }, { 64, 50000 }, { 128, 100000 },
	};
	static const struct code widths[] = {
		{ 1, 1 }, { 2, 4 }, { 4, 8 }, { 8, 12 }, { 16, 2 },
	};

	return 1000000ULL * find(speeds, sizeof(speeds) / sizeof(*speeds), speed) *
	       find(widths, sizeof(widths) / sizeof(*widths), width);
}
