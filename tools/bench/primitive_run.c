// SPDX-License-Identifier: GPL-2.0-only
/*
 * primitive_run INTERFACE paths|postcards COUNT
 * primitive_run INTERFACE strips COUNT FILE ADDRESS
 *
 * Runs the XDP program at INTERFACE (BPF_PROG_TEST_RUN) on COUNT frames with paths of INT-MD, with
 * postcards of paths of five hops, or with strips of all sketchers in FILE but the one at ADDRESS.
 * Prints as JSON how many of them became WRITEs, and the mean time of a frame in ns, beside that of
 * a program that sends the frame back unchanged.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <endian.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/postcard.h>
#include <libdart/report/flows.h>
#include <libdart/report/roce_frame.h>
#include <libdart/report/sketch_target.h>

#include "tools/bench/ingest.h"
#include "tools/report/int_packet.h"

#define INT_PORT 5000
#define POSTCARD_PORT 5001
#define HOPS 5
#define FRAME_MAX 1024

static const uint8_t mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

struct frames {
	struct dart_flows *flows; /* of paths */
	struct dart_sketch_target sketchers[DART_SKETCH_PARTS_MAX]; /* of strips */
	uint32_t sketcher_count;
	size_t (*build)(const struct frames *frames, uint64_t number, uint8_t frame[FRAME_MAX]);
};

static size_t build_path(const struct frames *frames, uint64_t number, uint8_t frame[FRAME_MAX])
{
	struct dart_flow flow;

	dart_flows__get(frames->flows, number, &flow);
	return int_packet__build(&flow, mac, INT_PORT, frame);
}

struct postcard {
	struct ethhdr ethernet;
	struct iphdr ip;
	struct udphdr udp;
	uint8_t version, key_length, hop, hops;
	__be32 value;
	uint8_t key[INGEST_KEY];
} __attribute__((packed));

static size_t build_postcard(const struct frames *frames, uint64_t number,
			     uint8_t frame[FRAME_MAX])
{
	struct postcard postcard = {
		.ethernet.h_proto = htobe16(ETH_P_IP),
		.ip = {
			.version = 4,
			.ihl = 5,
			.tot_len = htobe16(sizeof(postcard) - sizeof(postcard.ethernet)),
			.ttl = 64,
			.protocol = IPPROTO_UDP,
		},
		.udp = {
			.dest = htobe16(POSTCARD_PORT),
			.len = htobe16(sizeof(postcard) - offsetof(struct postcard, udp)),
		},
		.version = DART_POSTCARD_VERSION,
		.key_length = INGEST_KEY,
		.hop = number % HOPS,
		.hops = HOPS,
		.value = htobe32(number + 1),
	};

	(void)frames;
	ingest__key(number / HOPS, postcard.key);
	postcard.ip.check = dart_roce_frame__ip_checksum(&postcard.ip);
	memcpy(frame, &postcard, sizeof(postcard));
	return sizeof(postcard);
}

/* The same strip of each sketcher, then the next one; after the last strip, the next period. */
static size_t build_strip(const struct frames *frames, uint64_t number, uint8_t frame[FRAME_MAX])
{
	static const uint32_t zeros[DART_SKETCH_STRIP_COLUMNS * DART_SKETCH_ROWS_MAX];
	const struct dart_sketch_target *target =
		&frames->sketchers[number % frames->sketcher_count];
	const uint32_t strips = dart_sketch_geometry__strips(&target->geometry);
	const uint64_t strip = number / frames->sketcher_count;
	const uint32_t period = 1 + strip / strips;
	uint8_t bytes[DART_SKETCH_STRIP_MAX];
	const struct dart_sketch_write write = {
		.offset = dart_sketch_geometry__offset(&target->geometry, period, strip % strips),
		.number = strip % strips,
		.length = dart_sketch_geometry__strip_length(&target->geometry),
		.bytes = bytes,
	};

	_Static_assert(FRAME_MAX >= DART_SKETCH_FRAME_MAX, "strips fit");
	dart_sketch_strip__write(&target->geometry, period, 1, write.number, zeros, bytes);
	return dart_sketch_target__frame(target, mac, &write, number, frame);
}

static int load_sketchers(struct frames *frames, const char *path, const char *translator)
{
	struct dart_sketch_target all[DART_SKETCH_PARTS_MAX];
	struct dart_error error;
	struct in_addr address;
	uint32_t count, i;

	if (inet_pton(AF_INET, translator, &address) != 1)
		return -1;
	if (dart_sketch_target__load_all(path, all, &count, &error)) {
		fprintf(stderr, "primitive_run: %s\n", error.text);
		return -1;
	}
	for (i = 0; i < count; i++)
		if (all[i].collector.reporter.s_addr != address.s_addr)
			frames->sketchers[frames->sketcher_count++] = all[i];
	frames->build = build_strip;
	return frames->sketcher_count ? 0 : -1;
}

static int choose(struct frames *frames, int argc, char **argv)
{
	struct dart_flows_options options = { .kind = DART_FLOWS_UNIFORM };

	if (argc == 6 && !strcmp(argv[2], "strips"))
		return load_sketchers(frames, argv[4], argv[5]);
	if (argc == 4 && !strcmp(argv[2], "postcards")) {
		frames->build = build_postcard;
		return 0;
	}
	if (argc != 4 || strcmp(argv[2], "paths"))
		return -1;
	options.count = strtoull(argv[3], NULL, 10);
	frames->build = build_path;
	return dart_flows__new(&options, &frames->flows);
}

/* return XDP_TX; */
static int load_turn(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_TX },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "turn", "GPL", program, 2, NULL);
}

/* Runs the program on a frame; adds its time to *@ns.  Returns its verdict, or -1. */
static int run(int program, uint32_t interface, const uint8_t *frame, size_t length, double *ns)
{
	struct xdp_md context = { .data_end = length, .ingress_ifindex = interface };
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = length, .ctx_in = &context,
			    .ctx_size_in = sizeof(context), .repeat = 1);

	if (bpf_prog_test_run_opts(program, &options))
		return -1;
	*ns += options.duration;
	return options.retval;
}

/* Prints the result; a frame that passes is an error. */
static int measure(const struct frames *frames, uint64_t count, uint32_t interface,
		   const int programs[2])
{
	uint64_t writes = 0, number;
	double ns[2] = { 0, 0 };
	uint8_t frame[FRAME_MAX];
	size_t length;
	int verdict;

	for (number = 0; number < count; number++) {
		length = frames->build(frames, number, frame);
		verdict = run(programs[0], interface, frame, length, &ns[0]);
		if (verdict != XDP_TX && verdict != XDP_DROP)
			return -1;
		writes += verdict == XDP_TX;
		if (run(programs[1], interface, frame, length, &ns[1]) != XDP_TX)
			return -1;
	}
	printf("{\"frames\": %ju, \"writes\": %ju, \"ns\": %.1f, \"xdp_tx_ns\": %.1f}\n",
	       (uintmax_t)count, (uintmax_t)writes, ns[0] / count, ns[1] / count);
	return 0;
}

int main(int argc, char **argv)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct frames frames = { .build = NULL };
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	uint32_t interface;
	int programs[2], status;

	if (!count || choose(&frames, argc, argv)) {
		fputs("Usage: primitive_run INTERFACE paths|postcards COUNT\n"
		      "       primitive_run INTERFACE strips COUNT FILE ADDRESS\n",
		      stderr);
		return 2;
	}
	interface = if_nametoindex(argv[1]);
	if (!interface || bpf_xdp_query(interface, 0, &query)) {
		perror("primitive_run: no program");
		return 1;
	}
	programs[0] = bpf_prog_get_fd_by_id(query.prog_id ?: query.skb_prog_id);
	programs[1] = load_turn();
	status = programs[0] < 0 || programs[1] < 0 ||
		 measure(&frames, count, interface, programs);
	if (status)
		fputs("primitive_run: a program did not run, or a frame passed\n", stderr);
	dart_flows__free(frames.flows);
	return status;
}
