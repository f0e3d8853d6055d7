// SPDX-License-Identifier: GPL-2.0-only
/* Takes packets from generated flows or from a capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"

static int open_capture(struct feed *feed, struct dart_error *error)
{
	char reason[PCAP_ERRBUF_SIZE];

	feed->capture = pcap_open_offline(feed->path, reason);
	if (!feed->capture)
		return dart_error__set(error, EINVAL, "cannot read '%s': %s", feed->path, reason);
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
