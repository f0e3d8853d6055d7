// SPDX-License-Identifier: GPL-2.0-only
/*
 * path_postcards write FILE PORT COUNT: writes a capture with two packets' postcards of COUNT
 * flows, 5 hops each, to UDP port PORT: 4 % of the postcards are lost, and all come in another
 * order.
 *
 * path_postcards send INTERFACE PORT COUNT RATE: sends the same frames, RATE in a second, to all
 * hosts.
 *
 * path_postcards check HOST STORE COUNT: merges the slots of these flows in the store of HOST, by
 * READ.  Prints as JSON how many paths are complete, partial, not found and ambiguous, how many
 * have a value that no switch told of that hop (wrong), and the first complete and the first
 * ambiguous flow, or -1.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include <dart/control.h>
#include <libdart/error.h>
#include <libdart/random.h>
#include <libdart/report/flows.h>
#include <libdart/report/packet_socket.h>
#include <libdart/report/roce_frame.h>
#include <libdart/report/translator.h>
#include <libdart/store/store_reader.h>

#define HOPS		5
#define PACKETS		2	/* of each flow */
#define LOSS		0.04
#define AHEAD		50	/* postcards that one may overtake */
#define PERIOD_US	100	/* between two postcards */

/* A postcard of a packet: which flow, and which hop. */
struct turn {
	uint32_t flow;
	uint32_t hop;
};

static uint32_t value_of(uint32_t flow, uint32_t hop)
{
	return 1 + flow * HOPS + hop;
}

static struct dart_flows *open_flows(uint32_t count)
{
	const struct dart_flows_options options = {
		.kind = DART_FLOWS_UNIFORM, .count = count, .skew = 1,
	};
	struct dart_flows *flows;

	if (!count || dart_flows__new(&options, &flows))
		return NULL;
	return flows;
}

/* ---- write */

static size_t build(const struct dart_flow *flow, const struct turn *turn, uint16_t port,
		    uint8_t frame[128])
{
	struct {
		struct ethhdr ethernet;
		struct iphdr ip;
		struct udphdr udp;
		uint8_t header[4];
		__be32 value;
		uint8_t key[DART_FLOW_KEY_LENGTH];
	} __attribute__((packed)) packet = {
		.ethernet = {
			.h_dest = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
			.h_source = { 2, 0, 0, 0, 0, 1 },
			.h_proto = htobe16(ETH_P_IP),
		},
		.ip = {
			.version = 4,
			.ihl = 5,
			.tot_len = htobe16(sizeof(packet) - sizeof(packet.ethernet)),
			.ttl = 64,
			.protocol = IPPROTO_UDP,
		},
		.udp = {
			.dest = htobe16(port),
			.len = htobe16(sizeof(packet) - offsetof(typeof(packet), udp)),
		},
		.header = { DART_POSTCARD_VERSION, sizeof(packet.key), turn->hop, HOPS },
		.value = htobe32(value_of(turn->flow, turn->hop)),
	};

	memcpy(packet.key, flow->key, sizeof(packet.key));
	packet.ip.check = dart_roce_frame__ip_checksum(&packet.ip);
	memcpy(frame, &packet, sizeof(packet));
	return sizeof(packet);
}

/* All packets of all flows in turn, each packet from its first to its last hop, then mixed. */
static struct turn *make_turns(uint32_t flows, uint32_t *count, struct dart_random *random)
{
	struct turn *turns, other;
	uint32_t i, ahead;

	*count = flows * PACKETS * HOPS;
	turns = calloc(*count, sizeof(*turns));
	if (!turns)
		return NULL;
	for (i = 0; i < *count; i++)
		turns[i] = (struct turn){ i / HOPS % flows, i % HOPS };
	for (i = 0; i < *count; i++) {
		ahead = i + dart_random__below(random, AHEAD);
		if (ahead >= *count)
			continue;
		other = turns[ahead];
		turns[ahead] = turns[i];
		turns[i] = other;
	}
	return turns;
}

typedef int (*take_frame)(void *subject, uint32_t turn, const uint8_t *frame, size_t length);

/* Gives @take all frames that do not get lost. */
static int make_frames(uint16_t port, uint32_t count, take_frame take, void *subject)
{
	struct dart_random random = dart_random__of(1);
	struct dart_flows *flows = open_flows(count);
	uint32_t turn_count = 0, i;
	struct turn *turns = make_turns(count, &turn_count, &random);
	struct dart_flow flow;
	uint8_t frame[128];
	int ret = flows && turns ? 0 : -1;

	for (i = 0; !ret && i < turn_count; i++) {
		if (dart_random__fraction(&random) < LOSS)
			continue;
		dart_flows__get(flows, turns[i].flow, &flow);
		ret = take(subject, i, frame, build(&flow, &turns[i], port, frame));
	}
	dart_flows__free(flows);
	free(turns);
	return ret;
}

static int dump(void *dumper, uint32_t turn, const uint8_t *frame, size_t length)
{
	const uint64_t us = 1000000 + (uint64_t)turn * PERIOD_US;
	const struct pcap_pkthdr header = {
		.ts = { us / 1000000, us % 1000000 },
		.caplen = length,
		.len = length,
	};

	pcap_dump(dumper, &header, frame);
	return 0;
}

static int write_capture(const char *path, uint16_t port, uint32_t count)
{
	pcap_t *capture = pcap_open_dead(DLT_EN10MB, 128);
	pcap_dumper_t *dumper = pcap_dump_open(capture, path);
	int ret;

	if (!dumper)
		return -1;
	ret = make_frames(port, count, dump, dumper) ?: pcap_dump_flush(dumper);
	pcap_dump_close(dumper);
	pcap_close(capture);
	return ret;
}

static int push(void *socket, uint32_t turn, const uint8_t *frame, size_t length)
{
	(void)turn;
	memcpy(dart_packet_socket__next(socket), frame, length);
	return dart_packet_socket__push(socket, length);
}

static int send_frames(const char *interface, uint16_t port, uint32_t count, uint64_t rate)
{
	struct dart_packet_socket *socket;
	struct dart_error error;
	int ret;

	if (dart_packet_socket__open(interface, rate, &socket, &error)) {
		fprintf(stderr, "path_postcards: %s\n", error.text);
		return -1;
	}
	ret = make_frames(port, count, push, socket) ?: dart_packet_socket__flush(socket);
	dart_packet_socket__close(socket);
	return ret;
}

/* ---- check */

/* How many values of the path are known; -1 if one of them is wrong. */
static int count_known(const uint8_t *path, uint32_t flow)
{
	uint32_t hop, value;
	int known = 0;

	for (hop = 0; hop < HOPS; hop++) {
		memcpy(&value, path + 4 * hop, sizeof(value));
		if (!value)
			continue;
		if (be32toh(value) != value_of(flow, hop))
			return -1;
		known++;
	}
	return known;
}

static void print_answers(const struct dart_store_answer *answers, uint32_t count)
{
	uint32_t complete = 0, partial = 0, empty = 0, ambiguous = 0, wrong = 0, i;
	int64_t first_complete = -1, first_ambiguous = -1;
	int known;

	for (i = 0; i < count; i++) {
		if (answers[i].outcome == DART_STORE_AMBIGUOUS && first_ambiguous < 0)
			first_ambiguous = i;
		empty += answers[i].outcome == DART_STORE_EMPTY;
		ambiguous += answers[i].outcome == DART_STORE_AMBIGUOUS;
		if (answers[i].outcome != DART_STORE_FOUND)
			continue;
		known = count_known(answers[i].value, i);
		wrong += known < 0;
		if (known == HOPS && first_complete < 0)
			first_complete = i;
		complete += known == HOPS;
		partial += known >= 0 && known < HOPS;
	}
	printf("{\"complete\": %" PRIu32 ", \"partial\": %" PRIu32 ", \"empty\": %" PRIu32
	       ", \"ambiguous\": %" PRIu32 ", \"wrong\": %" PRIu32 ", \"first_complete\": %" PRIi64
	       ", \"first_ambiguous\": %" PRIi64 "}\n",
	       complete, partial, empty, ambiguous, wrong, first_complete, first_ambiguous);
}

static int check_store(const char *host, const char *store, uint32_t count)
{
	const struct dart_store_rule rule = { DART_STORE_MERGE, 0 };
	struct dart_store_answer *answers = calloc(count, sizeof(*answers));
	uint8_t *keys = calloc(count, DART_FLOW_KEY_LENGTH);
	struct dart_flows *flows = open_flows(count);
	struct dart_store_reader *reader;
	struct dart_error error;
	struct dart_flow flow;
	uint32_t i;
	int ret;

	if (!answers || !keys || !flows)
		return -1;
	for (i = 0; i < count; i++) {
		dart_flows__get(flows, i, &flow);
		memcpy(keys + i * DART_FLOW_KEY_LENGTH, flow.key, DART_FLOW_KEY_LENGTH);
	}
	ret = dart_store_reader__open(host, DART_CONTROL_PORT, store, &reader, &error);
	if (!ret) {
		ret = dart_store_reader__query_batch(reader, keys, DART_FLOW_KEY_LENGTH, count,
						     &rule, answers, &error);
		dart_store_reader__close(reader);
	}
	if (ret)
		fprintf(stderr, "path_postcards: %s\n", error.text);
	else
		print_answers(answers, count);
	dart_flows__free(flows);
	free(answers);
	free(keys);
	return ret;
}

int main(int argc, char *argv[])
{
	int ret = -1;

	if (argc == 5 && !strcmp(argv[1], "write"))
		ret = write_capture(argv[2], atoi(argv[3]), strtoul(argv[4], NULL, 10));
	else if (argc == 6 && !strcmp(argv[1], "send"))
		ret = send_frames(argv[2], atoi(argv[3]), strtoul(argv[4], NULL, 10),
				  strtoul(argv[5], NULL, 10));
	else if (argc == 5 && !strcmp(argv[1], "check"))
		ret = check_store(argv[2], argv[3], strtoul(argv[4], NULL, 10));
	else
		fputs("usage: path_postcards write FILE PORT COUNT |\n"
		      "       send INTERFACE PORT COUNT RATE | check HOST STORE COUNT\n",
		      stderr);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
