// SPDX-License-Identifier: GPL-2.0-only
/* See nat_switch.h. */
#include "nat_switch.h"

#include <arpa/inet.h>
#include <dart/control.h>
#include <dart/tea.h>
#include <dart/tea_use.h>
#include <errno.h>
#include <error.h>
#include <libdart/store/store_hash.h>
#include <libdart/tea/tea_reader.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nat_entry.h"

#define SOCKET_BYTES (1 << 24)
#define STAMPS (1 << 16) /* cells of a register */
#define STAMP_NS ((1ULL << DART_TEA_USE_SHIFT) * 1000)
#define VALUE_SOURCE 1 /* p4/functions/nat.p4 */
#define VALUE_TRACKED 2
#define IP 14
#define TRANSPORT (IP + 20)
#define TCP_LENGTH 20
#define UDP_LENGTH 8
#define FRAME_MAX (TRANSPORT + TCP_LENGTH + sizeof(uint64_t))

struct nat_switch {
	struct dart_tea_reader *reader;
	int socket;
	void (*arrived)(const struct nat_packet *packet, bool is_inside, uint64_t now_ns);
	struct nat_switch_counts counts;
	uint32_t stamps[DART_TEA_USE_STAMPS][STAMPS];
};

/* ---- bytes */

static void put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = value >> 8;
	bytes[1] = value;
}

static void put32(uint8_t *bytes, uint32_t value)
{
	put16(bytes, value >> 16);
	put16(bytes + 2, value);
}

static uint16_t get16(const uint8_t *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

static uint32_t get32(const uint8_t *bytes)
{
	return (uint32_t)get16(bytes) << 16 | get16(bytes + 2);
}

/* RFC 1071; of an even number of bytes. */
static uint16_t sum_of(const uint8_t *bytes, size_t length, uint32_t sum)
{
	size_t i;

	for (i = 0; i < length; i += 2)
		sum += get16(bytes + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* With the addresses of the header of IPv4. */
static uint16_t transport_sum(const uint8_t *frame, size_t length)
{
	return sum_of(frame + TRANSPORT, length,
		      sum_of(frame + IP + 12, 8, frame[IP + 9] + length));
}

/* ---- frames of dart-flows */

/* The next hops of its policy end with 0a for hosts inside, 0b for those outside. */
static size_t make_frame(uint8_t *frame, const struct nat_packet *packet)
{
	const bool is_tcp = packet->protocol == IPPROTO_TCP;
	const size_t header = is_tcp ? TCP_LENGTH : UDP_LENGTH;
	const size_t length = header + sizeof(packet->mark);
	uint8_t *transport = frame + TRANSPORT;
	uint16_t sum;

	memset(frame, 0, FRAME_MAX);
	frame[0] = 2;
	frame[5] = 1;
	frame[6] = 2;
	frame[11] = packet->source.address >> 24 == 10 ? 0xa : 0xb;
	put16(frame + 12, ETHERTYPE_IP);
	frame[IP] = 0x45;
	put16(frame + IP + 2, 20 + length);
	frame[IP + 8] = 64;
	frame[IP + 9] = packet->protocol;
	put32(frame + IP + 12, packet->source.address);
	put32(frame + IP + 16, packet->destination.address);
	put16(frame + IP + 10, ~sum_of(frame + IP, 20, 0));
	put16(transport, packet->source.port);
	put16(transport + 2, packet->destination.port);
	if (is_tcp) {
		transport[12] = 5 << 4;
		transport[13] = packet->flags;
	} else {
		put16(transport + 4, length);
	}
	memcpy(transport + header, &packet->mark, sizeof(packet->mark));
	sum = ~transport_sum(frame, length);
	put16(transport + (is_tcp ? 16 : 6), sum ?: 0xffff);
	return TRANSPORT + length;
}

static void hand(struct nat_switch *self, const struct nat_packet *packet)
{
	uint8_t frame[FRAME_MAX];
	const size_t length = make_frame(frame, packet);

	self->counts.handed++;
	if (send(self->socket, frame, length, 0) < 0 && errno != ENOBUFS)
		error(1, errno, "cannot send to dart-flows");
}

static void take_packet(struct nat_switch *self, const uint8_t *frame, size_t length,
			uint64_t now_ns)
{
	const uint8_t *transport = frame + TRANSPORT;
	const size_t header = frame[IP + 9] == IPPROTO_TCP ? TCP_LENGTH : UDP_LENGTH;
	struct nat_packet packet;

	/* An ICMP error comes from dart-flows, and not from a host. */
	if (length != TRANSPORT + header + sizeof(packet.mark) ||
	    (frame[IP + 9] != IPPROTO_TCP && frame[IP + 9] != IPPROTO_UDP))
		return;
	self->counts.returned++;
	if (sum_of(frame + IP, 20, 0) != 0xffff ||
	    transport_sum(frame, header + sizeof(packet.mark)) != 0xffff) {
		self->counts.damaged++;
		return;
	}
	packet = (struct nat_packet){
		.source = { get32(frame + IP + 12), get16(transport) },
		.destination = { get32(frame + IP + 16), get16(transport + 2) },
		.protocol = frame[IP + 9],
		.flags = frame[IP + 9] == IPPROTO_TCP ? transport[13] : 0,
	};
	memcpy(&packet.mark, transport + header, sizeof(packet.mark));
	self->arrived(&packet, frame[5] == 0xa, now_ns);
}

/* ---- entries in use */

static uint32_t stamp_at(uint64_t now_ns)
{
	return (now_ns / STAMP_NS) & ((1U << DART_TEA_USE_TIME_BITS) - 1);
}

static void stamp(struct nat_switch *self, const uint8_t *key, uint64_t now_ns)
{
	const uint32_t now = stamp_at(now_ns);

	self->stamps[0][dart_store__crc(DART_TEA_ROW_0, key, NAT_KEY) % STAMPS] = now;
	self->stamps[1][dart_store__crc(DART_TEA_ROW_1, key, NAT_KEY) % STAMPS] = now;
}

static void answer(struct nat_switch *self, uint8_t *frame, uint64_t now_ns)
{
	uint8_t *hashes = frame + 22;
	unsigned int i;

	self->counts.questions++;
	memcpy(frame, frame + 6, 6);
	memset(frame + 6, 0, 6);
	frame[6] = 2;
	frame[11] = 1;
	frame[15] = DART_TEA_USE_ANSWER;
	for (i = 0; i < DART_TEA_USE_KEYS * DART_TEA_USE_STAMPS; i++, hashes += 4)
		put32(hashes,
		      stamp_at(now_ns) -
			      self->stamps[i % DART_TEA_USE_STAMPS][get32(hashes) % STAMPS]);
	if (send(self->socket, frame, DART_TEA_USE_LENGTH, 0) < 0 && errno != ENOBUFS)
		error(1, errno, "cannot answer dart-flows");
}

/* ---- lookups */

static void put_key(uint8_t *key, const struct nat_packet *packet)
{
	put32(key, packet->source.address);
	put32(key + 4, packet->destination.address);
	put16(key + 8, packet->source.port);
	put16(key + 10, packet->destination.port);
	key[12] = packet->protocol;
}

static void pass(struct nat_switch *self, const struct nat_packet *packet, const uint8_t *key,
		 const uint8_t *value, uint64_t now_ns)
{
	const struct nat_end end = { get32(value), get16(value + 4) };
	const uint8_t flags = value[6];
	struct nat_packet leaving = *packet;

	stamp(self, key, now_ns);
	if (flags & VALUE_TRACKED && packet->flags & (NAT_SYN | NAT_FIN)) {
		self->counts.tracked++;
		hand(self, packet);
		return;
	}
	*(flags & VALUE_SOURCE ? &leaving.source : &leaving.destination) = end;
	self->arrived(&leaving, !(flags & VALUE_SOURCE), now_ns);
}

void nat_switch__forward(struct nat_switch *self, const struct nat_packet *packets, size_t count,
			 uint64_t now_ns)
{
	struct dart_tea_answer answers[NAT_SWITCH_BATCH];
	uint8_t keys[NAT_SWITCH_BATCH][NAT_KEY] = {};
	struct dart_error reason;
	size_t i;

	for (i = 0; i < count; i++)
		put_key(keys[i], &packets[i]);
	if (dart_tea__lookup_batch(self->reader, keys, count, answers, &reason))
		error(1, 0, "cannot look packets up: %s", reason.text);
	for (i = 0; i < count; i++)
		switch (answers[i].ret) {
		case 0:
			self->counts.found++;
			pass(self, &packets[i], keys[i], answers[i].value, now_ns);
			break;
		case -ENOENT:
			self->counts.absent++;
			hand(self, &packets[i]);
			break;
		default:
			self->counts.changing++;
			hand(self, &packets[i]);
			break;
		}
}

void nat_switch__poll(struct nat_switch *self, int timeout_ms, uint64_t now_ns)
{
	struct pollfd waiting = { .fd = self->socket, .events = POLLIN };
	uint8_t frame[2048];
	struct sockaddr_ll from;
	socklen_t from_length;
	ssize_t length;

	if (poll(&waiting, 1, timeout_ms) <= 0)
		return;
	for (;;) {
		from_length = sizeof(from);
		length = recvfrom(self->socket, frame, sizeof(frame), MSG_DONTWAIT,
				  (struct sockaddr *)&from, &from_length);
		if (length < 0)
			return;
		if (from.sll_pkttype == PACKET_OUTGOING || length < IP)
			continue;
		if (get16(frame + 12) == DART_TEA_USE_ETHERTYPE && length >= DART_TEA_USE_LENGTH &&
		    frame[15] == DART_TEA_USE_QUESTION)
			answer(self, frame, now_ns);
		else if (get16(frame + 12) == ETHERTYPE_IP && length >= TRANSPORT)
			take_packet(self, frame, length, now_ns);
	}
}

/* ---- life */

struct nat_switch *nat_switch__open(const char *host, const char *table, const char *interface,
				    void (*arrived)(const struct nat_packet *packet, bool is_inside,
						    uint64_t now_ns))
{
	struct nat_switch *self = calloc(1, sizeof(*self));
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(interface),
	};
	const int bytes = SOCKET_BYTES;
	struct dart_error reason;

	if (!self)
		error(1, ENOMEM, "no room for a switch");
	self->arrived = arrived;
	if (dart_tea_reader__open(host, DART_CONTROL_PORT, table, &self->reader, &reason))
		error(1, 0, "%s", reason.text);
	if (dart_tea_reader__geometry(self->reader)->key_length != NAT_KEY ||
	    dart_tea_reader__geometry(self->reader)->value_length != NAT_VALUE)
		error(1, 0, "%s is not a table of NAT", table);
	self->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (self->socket < 0 || !address.sll_ifindex ||
	    setsockopt(self->socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(self->socket, (struct sockaddr *)&address, sizeof(address)))
		error(1, errno, "cannot use the interface %s", interface);
	return self;
}

void nat_switch__close(struct nat_switch *self)
{
	close(self->socket);
	dart_tea_reader__close(self->reader);
	free(self);
}

const struct nat_switch_counts *nat_switch__counts(const struct nat_switch *self)
{
	return &self->counts;
}
