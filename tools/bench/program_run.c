// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_run INTERFACE COUNT: measures how long the XDP program at INTERFACE takes
 * to send back a frame with INT-MD, compared with sending it back unchanged.
 *
 * Runs both alternately (BPF_PROG_TEST_RUN), once on each of COUNT frames, because a run changes its
 * frame.  Prints the means of the faster halves in ns as JSON; both include reading the clock, whose
 * steps are too large for a median on some machines.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <jansson.h>

#include <libdart/report/flows.h>

#include "tools/report/int_packet.h"

#define INT_PORT	5000
#define FRAME_MAX	256

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 };

/* return XDP_TX; */
static int load_turn(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_TX },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "turn", "GPL", program, 2, NULL);
}

static int open_attached(uint32_t interface)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (bpf_xdp_query(interface, 0, &query))
		return -1;
	return bpf_prog_get_fd_by_id(query.prog_id ?: query.skb_prog_id);
}

/* The time of one run in ns, or -1 if the program does not send the frame back. */
static long run(int program, uint32_t interface, const uint8_t *frame, size_t length)
{
	struct xdp_md context = {
		.data_end = length,
		.ingress_ifindex = interface,
	};
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = length, .ctx_in = &context,
			    .ctx_size_in = sizeof(context), .repeat = 1);

	if (bpf_prog_test_run_opts(program, &options) || options.retval != XDP_TX)
		return -1;
	return options.duration;
}

static int compare(const void *a, const void *b)
{
	const long *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double faster_half(long *times, size_t count)
{
	double sum = 0;
	size_t i;

	qsort(times, count, sizeof(*times), compare);
	for (i = 0; i < (count + 1) / 2; i++)
		sum += times[i];
	return sum / i;
}

static int measure(const int programs[2], uint32_t interface, const struct dart_flows *flows,
		   uint64_t count, long *times[2])
{
	uint8_t frame[FRAME_MAX];
	struct dart_flow flow;
	size_t length;
	uint64_t i;
	int which;

	for (i = 0; i < count; i++) {
		dart_flows__get(flows, i, &flow);
		length = int_packet__build(&flow, mac, INT_PORT, frame);
		for (which = 0; which < 2; which++) {
			times[which][i] = run(programs[which], interface, frame, length);
			if (times[which][i] < 0)
				return -1;
		}
	}
	printf("{\"frames\": %ju, \"xdp_tx_ns\": %.2f, \"xdp_reporter_ns\": %.2f}\n",
	       (uintmax_t)count, faster_half(times[0], count), faster_half(times[1], count));
	return 0;
}

int main(int argc, char **argv)
{
	struct dart_flows_options options = { .kind = DART_FLOWS_UNIFORM };
	struct dart_flows *flows;
	uint32_t interface;
	int programs[2];
	long *times[2];

	if (argc != 3) {
		fprintf(stderr, "Usage: program_run INTERFACE COUNT\n");
		return 2;
	}
	interface = if_nametoindex(argv[1]);
	options.count = strtoull(argv[2], NULL, 10);
	if (!options.count || dart_flows__new(&options, &flows)) {
		fprintf(stderr, "program_run: no such flows\n");
		return 1;
	}
	times[0] = calloc(options.count, sizeof(*times[0]));
	times[1] = calloc(options.count, sizeof(*times[1]));
	programs[0] = load_turn();
	programs[1] = open_attached(interface);
	if (!times[0] || !times[1] || programs[0] < 0 || programs[1] < 0 ||
	    measure(programs, interface, flows, options.count, times)) {
		perror("program_run: cannot run the programs");
		return 1;
	}
	free(times[0]);
	free(times[1]);
	dart_flows__free(flows);
	return 0;
}
