// SPDX-License-Identifier: GPL-2.0-only
/* The feed of dart-report: generated flows, and captures of packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/report/feed.h"

#define PORT	5000
#define FLOWS	100

static const uint8_t mac[] = { 2, 0, 0, 0, 0, 9 };
static char path[] = "/tmp/report_feed.XXXXXX";

static struct options options_of(const char *capture)
{
	return (struct options){
		.pcap = capture,
		.flows = {
			.kind = DART_FLOWS_FAT_TREE,
			.k = 8,
			.count = FLOWS,
			.seed = 3,
		},
		.int_port = PORT,
	};
}

static void dump(pcap_dumper_t *dumper, const uint8_t *frame, size_t length)
{
	const struct pcap_pkthdr header = { .caplen = length, .len = length };

	pcap_dump((u_char *)dumper, &header, frame);
}

/* A packet of each flow, a packet for another port, a truncated packet. */
static void write_capture(int link_type)
{
	const struct options options = options_of(NULL);
	pcap_t *capture = pcap_open_dead(link_type, 256);
	pcap_dumper_t *dumper = pcap_dump_open(capture, path);
	uint8_t frame[INT_PACKET_MAX];
	struct dart_flows *flows;
	struct dart_flow flow;
	size_t length = 0, i;

	assert_non_null(dumper);
	assert_int_equal(dart_flows__new(&options.flows, &flows), 0);
	for (i = 0; i < FLOWS; i++) {
		dart_flows__get(flows, i, &flow);
		length = int_packet__build(&flow, mac, PORT, frame);
		dump(dumper, frame, length);
		if (i == 5) {
			dump(dumper, frame, length - 1);
			length = int_packet__build(&flow, mac, PORT + 1, frame);
			dump(dumper, frame, length);
		}
	}
	dart_flows__free(flows);
	pcap_dump_close(dumper);
	pcap_close(capture);
}

static struct feed *open_feed(const struct options *options)
{
	struct dart_error error;
	struct feed *feed;

	if (feed__open(options, &feed, &error))
		fail_msg("%s", error.text);
	return feed;
}

static void test_capture(void **state)
{
	const struct options generated = options_of(NULL);
	const struct options captured = options_of(path);
	struct int_packet of_flow, of_capture;
	struct feed *flows, *capture;
	struct dart_error error;
	int i;

	write_capture(DLT_EN10MB);
	flows = open_feed(&generated);
	capture = open_feed(&captured);
	for (i = 0; i < FLOWS; i++) {
		assert_int_equal(feed__next(flows, &of_flow, &error), 1);
		assert_int_equal(feed__next(capture, &of_capture, &error), 1);
		assert_int_equal(of_flow.key_length, of_capture.key_length);
		assert_memory_equal(of_flow.key, of_capture.key, of_flow.key_length);
		assert_int_equal(of_flow.hops, of_capture.hops);
		assert_memory_equal(of_flow.path, of_capture.path, 4 * of_flow.hops);
	}
	assert_int_equal(feed__next(flows, &of_flow, &error), 0);
	assert_int_equal(feed__next(capture, &of_capture, &error), 0);
	assert_int_equal(capture->others, 1);
	assert_int_equal(capture->malformed, 1);
	feed__close(flows);
	feed__close(capture);
}

/* Dumps a postcard of a key of one byte at 1.5 s; @cut bytes of the frame are missing. */
static void dump_postcard(pcap_dumper_t *dumper, uint16_t port, uint8_t version, size_t cut)
{
	const uint8_t postcard[] = { version, 1, 2, 5, 0, 0, 0, 7, 'k' };
	/* After Ethernet, IPv4 and UDP. */
	const size_t at = 42, length = at + sizeof(postcard) - cut;
	const struct pcap_pkthdr header = {
		.ts = { 1, 500000 }, .caplen = length, .len = length,
	};
	const struct dart_flow flow = { .hops = DART_FLOW_HOPS_MAX };
	uint8_t frame[INT_PACKET_MAX];

	int_packet__build(&flow, mac, port, frame);
	frame[at - 4] = 0;
	frame[at - 3] = 8 + sizeof(postcard);
	memcpy(frame + at, postcard, sizeof(postcard));
	pcap_dump((u_char *)dumper, &header, frame);
}

static void test_postcards(void **state)
{
	struct options options = options_of(path);
	pcap_t *capture = pcap_open_dead(DLT_EN10MB, 256);
	pcap_dumper_t *dumper = pcap_dump_open(capture, path);
	struct dart_postcard postcard;
	struct dart_error error;
	struct feed *feed;
	uint64_t ns;

	assert_non_null(dumper);
	dump_postcard(dumper, PORT + 1, 1, 0);
	dump_postcard(dumper, PORT, 1, 1);
	dump_postcard(dumper, PORT, 9, 0);
	dump_postcard(dumper, PORT, 1, 0);
	pcap_dump_close(dumper);
	pcap_close(capture);
	options.postcard_port = PORT;
	feed = open_feed(&options);
	assert_int_equal(feed__next_postcard(feed, &postcard, &ns, &error), 1);
	assert_int_equal(ns, 1500000000);
	assert_int_equal(postcard.key_length, 1);
	assert_int_equal(postcard.key[0], 'k');
	assert_int_equal(postcard.hop, 2);
	assert_int_equal(postcard.hops, 5);
	assert_int_equal(postcard.value, 7);
	assert_int_equal(feed__next_postcard(feed, &postcard, &ns, &error), 0);
	assert_int_equal(feed->others, 1);
	assert_int_equal(feed->malformed, 2);
	feed__close(feed);
}

static void test_more_packets(void **state)
{
	struct options options = options_of(NULL);
	struct int_packet packet, first;
	struct dart_error error;
	struct feed *feed;
	int i;

	options.packets = FLOWS + 1;
	feed = open_feed(&options);
	for (i = 0; i <= FLOWS; i++) {
		assert_int_equal(feed__next(feed, &packet, &error), 1);
		if (!i)
			first = packet;
	}
	assert_memory_equal(packet.key, first.key, first.key_length);
	assert_int_equal(feed__next(feed, &packet, &error), 0);
	feed__close(feed);
}

static void test_refused(void **state)
{
	struct options options = options_of("/nonexistent/file");
	struct int_packet packet;
	struct dart_error error;
	struct feed *feed;
	int ret;

	assert_int_equal(feed__open(&options, &feed, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/file"));
	write_capture(DLT_RAW);
	options.pcap = path;
	assert_int_equal(feed__open(&options, &feed, &error), -EINVAL);
	assert_non_null(strstr(error.text, "Ethernet"));

	/* A capture that ends within a packet. */
	write_capture(DLT_EN10MB);
	assert_int_equal(truncate(path, 300), 0);
	feed = open_feed(&options);
	do
		ret = feed__next(feed, &packet, &error);
	while (ret == 1);
	assert_int_equal(ret, -EIO);
	feed__close(feed);
}

static int make_path(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a capture of generated flows feeds the same keys and paths, and counts other and malformed packets",
		     test_capture),
		TEST("a capture of postcards feeds them with their times, and counts others",
		     test_postcards),
		TEST("packets beyond the number of flows begin with the first flow again",
		     test_more_packets),
		TEST("a capture that is missing, not of Ethernet or truncated is refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
