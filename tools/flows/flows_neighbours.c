// SPDX-License-Identifier: GPL-2.0-only
/* Hosts that ask for the Ethernet address of the switch get it. */
#include <string.h>

#include "flows_internal.h"
#include "tools/flows/packet/neighbour.h"

#define ETHERTYPE 12 /* offset */
#define ETHERNET_LENGTH 14
#define TAG_LENGTH 4
#define TAG 0x8100 /* IEEE 802.1Q */
#define OUTER_TAG 0x88a8 /* IEEE 802.1ad */

static uint32_t type_at(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static bool is_tag(uint32_t type)
{
	return type == TAG || type == OUTER_TAG;
}

/* Bytes of the header of Ethernet, with up to two tags; 0: the frame is shorter. */
static size_t link_length(const struct port_frame *frame)
{
	size_t length = ETHERNET_LENGTH;

	while (length <= frame->length && length < PACKET_LINK_MAX &&
	       is_tag(type_at(frame->bytes + length - 2)))
		length += TAG_LENGTH;
	return length <= frame->length ? length : 0;
}

bool flows__answer_neighbour(struct flows *flows, const struct port_frame *frame,
			     struct packet *packet, uint8_t answer[static PACKET_ANSWER_MAX])
{
	const uint8_t *sender = frame->bytes + PACKET_MAC_LENGTH;
	const struct policy_neighbour *neighbour = NULL;
	const size_t link = link_length(frame);
	struct neighbour_request request;

	if (link && !(*sender & 1) &&
	    neighbour__read(&request, type_at(frame->bytes + link - 2), frame->bytes + link,
			    frame->length - link))
		neighbour = policy__find_neighbour(flows->policy, request.wanted);
	if (!neighbour)
		return false;

	memcpy(answer, sender, PACKET_MAC_LENGTH);
	memcpy(answer + PACKET_MAC_LENGTH, neighbour->mac, PACKET_MAC_LENGTH);
	/* With the tags of the request. */
	memcpy(answer + ETHERTYPE, frame->bytes + ETHERTYPE, link - ETHERTYPE);
	*packet = (struct packet){
		.frame = answer,
		.length = link + neighbour__answer(&request, neighbour->mac, answer + link),
	};
	flows->neighbours_told++;
	return true;
}
