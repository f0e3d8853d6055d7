// SPDX-License-Identifier: GPL-2.0-only
/* Takes packets from generated flows or from a capture. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <libdart/clock.h>

#include "feed.h"

#define NS_PER_MS UINT64_C(1000000)

static int open_capture(struct feed *feed, struct dart_error *error)
{
	FILE *file = strcmp(feed->path, "-") ? fopen(feed->path, "re") : stdin;
	char reason[PCAP_ERRBUF_SIZE];
	struct stat status;

	if (!file || fstat(fileno(file), &status))
		return dart_error__system(error, errno, "cannot read '%s'", feed->path);
	if (!S_ISREG(status.st_mode)) {
		/* Bytes in a buffer would not show in poll(). */
		feed->pipe = fileno(file);
		setvbuf(file, NULL, _IONBF, 0);
	}
	feed->capture = pcap_fopen_offline(file, reason);
	if (!feed->capture) {
		if (file != stdin)
			fclose(file);
		return dart_error__set(error, EINVAL, "cannot read '%s': %s", feed->path, reason);
	}
	if (pcap_datalink(feed->capture) == DLT_EN10MB)
		return 0;
	pcap_close(feed->capture);
	return dart_error__set(error, EINVAL, "cannot read '%s': not a capture of Ethernet frames",
			       feed->path);
}

int feed__open(const struct options *options, struct feed **result, struct dart_error *error)
{
	struct feed *feed = calloc(1, sizeof(*feed));
	int ret;

	dart_error__set(error, 0, "out of memory");
	if (!feed)
		return -ENOMEM;
	feed->path = options->pcap;
	feed->pipe = -1;
	feed->int_port = options->int_port;
	feed->postcard_port = options->postcard_port;
	feed->packets = options->packets ?: options->flows.count;
	ret = feed->path ? open_capture(feed, error) :
			   dart_flows__new(&options->flows, &feed->flows);
	if (ret)
		free(feed);
	else
		*result = feed;
	return ret;
}

void feed__close(struct feed *feed)
{
	if (!feed)
		return;
	if (feed->capture)
		pcap_close(feed->capture);
	dart_flows__free(feed->flows);
	free(feed);
}

bool feed__await(const struct feed *feed, uint64_t until)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct pollfd pipe = { .fd = feed->pipe, .events = POLLIN };

	return feed->pipe < 0 ||
	       poll(&pipe, 1, until > now ? (until - now + NS_PER_MS - 1) / NS_PER_MS : 0) > 0;
}

static int next_of_flows(struct feed *feed, struct int_packet *packet)
{
	struct dart_flow flow;

	if (feed->done == feed->packets)
		return 0;
	dart_flows__get(feed->flows, dart_flows__of_packet(feed->flows, feed->done++), &flow);
	*packet = (struct int_packet){
		.key_length = sizeof(flow.key), .hops = flow.hops,
	};
	memcpy(packet->key, flow.key, sizeof(flow.key));
	memcpy(packet->path, flow.path, flow.hops * sizeof(*flow.path));
	return 1;
}

static int parse_postcard(const uint8_t *frame, size_t length, uint16_t port,
			  struct dart_postcard *postcard)
{
	const uint8_t *datagram;
	size_t datagram_length;
	int ret = int_packet__find_datagram(frame, length, port, &datagram, &datagram_length);

	return ret ?: dart_postcard__read(datagram, datagram_length, postcard);
}

/* Takes @packet or @postcard, whichever the capture has; *@ns is the time of the frame. */
static int next_of_capture(struct feed *feed, struct int_packet *packet,
			   struct dart_postcard *postcard, uint64_t *ns, struct dart_error *error)
{
	struct pcap_pkthdr *header;
	const uint8_t *frame;
	int ret;

	while ((ret = pcap_next_ex(feed->capture, &header, &frame)) == 1) {
		ret = postcard ? parse_postcard(frame, header->caplen, feed->postcard_port,
						postcard) :
				 int_packet__parse(frame, header->caplen, feed->int_port, packet);
		switch (ret) {
		case 0:
			*ns = header->ts.tv_sec * UINT64_C(1000000000) +
			      header->ts.tv_usec * UINT64_C(1000);
			return 1;
		case -ENODATA:
			feed->others++;
			break;
		case -E2BIG:
			feed->tagged++;
			break;
		default:
			feed->malformed++;
		}
	}
	if (ret == PCAP_ERROR_BREAK)
		return 0;
	return dart_error__set(error, EIO, "cannot read '%s': %s", feed->path,
			       pcap_geterr(feed->capture));
}

int feed__next(struct feed *feed, struct int_packet *packet, struct dart_error *error)
{
	uint64_t ns;

	return feed->capture ? next_of_capture(feed, packet, NULL, &ns, error) :
			       next_of_flows(feed, packet);
}

int feed__next_postcard(struct feed *feed, struct dart_postcard *postcard, uint64_t *ns,
			struct dart_error *error)
{
	return next_of_capture(feed, NULL, postcard, ns, error);
}
