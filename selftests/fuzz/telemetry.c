// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames with INT-MD and postcards: the parser of the XDP program, compiled for
 * user space.  In the kernel the verifier keeps it within the frame; here the
 * sanitizers do.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "fuzz.h"

/* The program has its own numbers, and annotations that only clang knows. */
#undef ETH_P_IP
#undef ETH_P_IPV6
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "bpf/telemetry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);
	struct cursor cursor = { frame, frame + size };
	struct telemetry telemetry = {};
	int outcome;

	outcome = telemetry__read(&cursor, bpf_htons(5000), bpf_htons(5001),
				  &telemetry);
	require(outcome >= TELEMETRY_OK && outcome <= TELEMETRY_ANONYMOUS);
	if (outcome == TELEMETRY_OK)
		require(telemetry.key_length == 13 ||
			telemetry.key_length == 17 ||
			telemetry.key_length == 37 ||
			telemetry.key_length == 41);
	free(frame);
	return 0;
}
