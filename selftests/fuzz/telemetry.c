// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames with INT-MD and postcards: the parser of the XDP program, compiled for
 * user space.  In the kernel the verifier keeps it within the frame; here the
 * sanitizers do.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "fuzz.h"

/* The program uses its own numbers, and annotations that only clang knows. */
#undef ETH_P_IP
#undef ETH_P_IPV6
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#define barrier_var(variable)

/* Locks are in maps only. */
struct bpf_spin_lock {
	__u32 value;
};

struct xdp_md {
	const uint8_t *frame;
	size_t size;
};

static long bpf_xdp_load_bytes(struct xdp_md *context, __u32 offset, void *bytes, __u32 length)
{
	require(length);	/* as the verifier does */
	if (offset > context->size || length > context->size - offset)
		return -EINVAL;
	memcpy(bytes, context->frame + offset, length);
	return 0;
}

#include "bpf/telemetry.h"

static void read_telemetry(uint8_t *frame, size_t size)
{
	struct xdp_md context = { frame, size };
	struct cursor cursor = { frame, frame + size, frame, &context };
	struct telemetry telemetry = {};
	int outcome;

	outcome = telemetry__read(&cursor, bpf_htons(5000), bpf_htons(5001), &telemetry);
	require(outcome >= TELEMETRY_OK && outcome <= TELEMETRY_DAMAGED);
	if (outcome == TELEMETRY_OK)
		require(telemetry.key_length == 13 || telemetry.key_length == 17 ||
			telemetry.key_length == 37 || telemetry.key_length == 41);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = exact_copy(data, size);

	read_telemetry(frame, size);
	repair_ipv4(frame, size);
	read_telemetry(frame, size);
	free(frame);
	return 0;
}
