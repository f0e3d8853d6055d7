// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_life HOST TABLE INTERFACE COUNT RATE ENDS PORTS TIMEOUT: hosts inside begin COUNT flows, RATE
 * in a second, with other hosts by a switch with NAT (lib/nat_switch.h), talk, end them and begin
 * others with the same ports, while other flows go on and dart-flows ages all of them.  There are
 * ENDS addresses with ports inside; 203.0.113.1 outside, with PORTS ports from 2000 on; dart-flows
 * keeps an idle flow for TIMEOUT seconds at least.
 *
 * One flow in 16 pauses for longer than that, and hosts outside still send to flows that have ended.
 * Each receiver compares the ends of each packet with the flow that its sender meant.  Prints as
 * JSON, among counts of the switch:
 *
 *   right      packets that arrived where they should
 *   wrong      packets at another host, or of another one
 *   doubled    ports that a flow got while the flow of another host had them
 *   moved      flows in use that got another port
 *   reused     ports that a flow got after a flow of another host
 *   repeated   packets that were sent again, because nothing came for 5 s
 *   late       packets that were sent for ended flows; they reach no host, or the host of the flow
 */
#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <libdart/random.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "selftests/lib/nat_switch.h"

#define SECOND_NS UINT64_C(1000000000)
#define POOL 0xcb007101 /* 203.0.113.1 */
#define FIRST_PORT 2000
#define INSIDE 0x0a000001
#define OUTSIDE 0xc6336401 /* 198.51.100.1 */
#define PORTS_OF_HOST 200
#define REMOTES 200
#define PATIENCE_NS (5 * SECOND_NS)
#define GAP_NS (3 * SECOND_NS / 2) /* the longest one but pauses */
#define PAUSING 16 /* one of this number of flows pauses */
#define LATE 4 /* one late packet for this number of flows */
#define SLOT_NS (10 * SECOND_NS / 1000)
#define SLOTS 8192
#define QUEUE (1 << 20)
#define PAST (1 << 16)
#define NONE UINT32_MAX
#define FLOW_BITS 24 /* of a mark, between its life and its exchange */
#define NO_ROUND 0xff

/* An address and a port inside, and its present flow. */
struct life {
	uint32_t next, before; /* in its slot of the wheel, if it waits there; or NONE */
	uint32_t flow;
	uint16_t outside; /* port; 0: none so far */
	uint8_t round, rounds,
		pause; /* exchanges done, and to do; the one before which it pauses */
	bool is_busy, has_port, waits;
	uint64_t sent_ns, used_ns; /* its last packet, and the last one that arrived */
	uint64_t due_ns;
};

struct past {
	uint32_t flow, life;
	uint16_t outside;
};

static struct world {
	struct nat_switch *nat;
	struct dart_random random;
	uint32_t count, ends, ports, born, ended;
	uint64_t timeout_ns;
	struct life *lives;
	uint32_t *idle, idle_count;
	uint32_t slots[SLOTS];
	uint64_t slot; /* the next one to be looked at */
	uint32_t owners[2][65536]; /* of ports of UDP and TCP: a life, or NONE */
	struct past past[PAST];
	struct nat_packet *queue;
	uint64_t first, last; /* of the queue */
	uint64_t right, wrong, doubled, moved, reused, repeated, late, most;
} world;

static uint64_t begun_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec - begun_ns;
}

/* ---- ends */

static uint8_t protocol_of(uint32_t life)
{
	return life & 1 ? IPPROTO_TCP : IPPROTO_UDP;
}

static struct nat_end inside_of(uint32_t life)
{
	return (struct nat_end){ INSIDE + life / PORTS_OF_HOST, 4000 + life % PORTS_OF_HOST };
}

/* No two flows have the same one. */
static struct nat_end remote_of(uint32_t flow)
{
	return (struct nat_end){ OUTSIDE + flow % REMOTES, 1024 + flow / REMOTES };
}

static bool is_same(struct nat_end one, struct nat_end other)
{
	return one.address == other.address && one.port == other.port;
}

static void complain(const char *what, uint32_t life, const struct nat_packet *packet)
{
	fprintf(stderr,
		"%s: flow %" PRIu32 " of end %" PRIu32 ": %08x:%u to %08x:%u, protocol %u\n", what,
		world.lives[life].flow, life, packet->source.address, packet->source.port,
		packet->destination.address, packet->destination.port, packet->protocol);
}

/* ---- what hosts send */

static void push(struct nat_end source, struct nat_end destination, uint32_t life, uint32_t flow,
		 uint8_t round, uint8_t flags)
{
	if (world.last - world.first == QUEUE)
		error(1, 0, "too many packets wait");
	world.queue[world.last++ % QUEUE] = (struct nat_packet){
		.source = source,
		.destination = destination,
		.protocol = protocol_of(life),
		.flags = flags,
		.mark = (uint64_t)life << 32 | (uint64_t)round << FLOW_BITS | flow,
	};
}

/* Of the present exchange. */
static uint8_t flags_of(const struct life *life, bool is_answer)
{
	if (!life->round)
		return is_answer ? NAT_SYN | NAT_ACK : NAT_SYN;
	return life->round + 1 == life->rounds ? NAT_FIN | NAT_ACK : NAT_ACK;
}

static uint32_t *slot_of(const struct life *life)
{
	return &world.slots[life->due_ns / SLOT_NS % SLOTS];
}

static void wait_no_longer(uint32_t number)
{
	struct life *life = &world.lives[number];

	if (!life->waits)
		return;
	life->waits = false;
	*(life->before == NONE ? slot_of(life) : &world.lives[life->before].next) = life->next;
	if (life->next != NONE)
		world.lives[life->next].before = life->before;
}

static void wait_until(uint32_t number, uint64_t due_ns)
{
	struct life *life = &world.lives[number];

	wait_no_longer(number);
	life->waits = true;
	life->due_ns = due_ns;
	life->before = NONE;
	life->next = *slot_of(life);
	if (life->next != NONE)
		world.lives[life->next].before = number;
	*slot_of(life) = number;
}

static void talk(uint32_t number, uint64_t now)
{
	struct life *life = &world.lives[number];

	life->sent_ns = now;
	push(inside_of(number), remote_of(life->flow), number, life->flow, life->round,
	     flags_of(life, false));
	wait_until(number, now + PATIENCE_NS);
}

static void begin(uint64_t now)
{
	const uint32_t place = dart_random__below(&world.random, world.idle_count);
	const uint32_t number = world.idle[place];
	struct life *life = &world.lives[number];

	world.idle[place] = world.idle[--world.idle_count];
	life->is_busy = true;
	life->flow = world.born++;
	life->round = 0;
	life->rounds = 2 + dart_random__below(&world.random, 3);
	/* Not before the last exchange: FIN begins no flow. */
	life->pause = life->rounds > 2 && !dart_random__below(&world.random, PAUSING) ? 1 : 0;
	talk(number, now);
	if (world.born - world.ended > world.most)
		world.most = world.born - world.ended;
}

/* To a flow of the past. */
static void send_late(void)
{
	const uint32_t known = world.ended < PAST ? world.ended : PAST;
	const struct past *past =
		&world.past[(world.ended - 1 - dart_random__below(&world.random, known)) % PAST];

	world.late++;
	push(remote_of(past->flow), (struct nat_end){ POOL, past->outside }, past->life, past->flow,
	     NO_ROUND, NAT_ACK);
}

static void end(uint32_t number)
{
	struct life *life = &world.lives[number];

	wait_no_longer(number);
	world.past[world.ended++ % PAST] = (struct past){ life->flow, number, life->outside };
	life->is_busy = false;
	world.idle[world.idle_count++] = number;
	if (!dart_random__below(&world.random, LATE))
		send_late();
}

static void come_due(uint32_t number, uint64_t now)
{
	struct life *life = &world.lives[number];

	if (life->due_ns == life->sent_ns + PATIENCE_NS)
		world.repeated++;
	talk(number, now);
}

/* All lives whose time has come. */
static void turn(uint64_t now)
{
	uint32_t number, next;

	for (; world.slot < now / SLOT_NS; world.slot++)
		for (number = world.slots[world.slot % SLOTS]; number != NONE; number = next) {
			next = world.lives[number].next;
			if (world.lives[number].due_ns / SLOT_NS == world.slot)
				come_due(number, now);
		}
}

/* ---- what hosts receive */

static void take_port(uint32_t number, const struct nat_packet *packet)
{
	uint32_t *owner = &world.owners[packet->protocol == IPPROTO_TCP][packet->source.port];
	const struct life *other = *owner == NONE ? NULL : &world.lives[*owner];
	struct life *life = &world.lives[number];

	/* A flow lives for the time-out after its last packet at least. */
	if (other && *owner != number) {
		if (other->outside == packet->source.port &&
		    life->sent_ns < other->used_ns + world.timeout_ns) {
			world.doubled++;
			complain("a port of another host", number, packet);
		}
		world.reused++;
	}
	if (life->has_port && life->outside != packet->source.port &&
	    life->sent_ns < life->used_ns + world.timeout_ns) {
		world.moved++;
		complain("another port", number, packet);
	}
	*owner = number;
	life->outside = packet->source.port;
	life->has_port = true;
}

static void arrive_outside(uint32_t number, uint32_t flow, uint8_t round,
			   const struct nat_packet *packet)
{
	struct life *life = &world.lives[number];

	if (packet->source.address != POOL || packet->source.port < FIRST_PORT ||
	    packet->source.port >= FIRST_PORT + world.ports ||
	    !is_same(packet->destination, remote_of(flow))) {
		world.wrong++;
		complain("a packet outside", number, packet);
		return;
	}
	world.right++;
	if (!life->is_busy || life->flow != flow || life->round != round)
		return; /* it was sent again before */
	take_port(number, packet);
	life->used_ns = life->sent_ns;
	push(packet->destination, packet->source, number, flow, round, flags_of(life, true));
}

static void arrive_inside(uint32_t number, uint32_t flow, uint8_t round,
			  const struct nat_packet *packet, uint64_t now)
{
	struct life *life = &world.lives[number];
	uint64_t due_ns;

	if (!is_same(packet->source, remote_of(flow)) ||
	    !is_same(packet->destination, inside_of(number))) {
		world.wrong++;
		complain("a packet inside", number, packet);
		return;
	}
	world.right++;
	if (!life->is_busy || life->flow != flow || life->round != round)
		return; /* late, or the answer to a packet that was sent twice */
	life->used_ns = now;
	if (++life->round == life->rounds) {
		end(number);
		return;
	}
	due_ns = now + SLOT_NS + dart_random__below(&world.random, GAP_NS);
	if (life->pause == life->round)
		due_ns += 2 * world.timeout_ns;
	wait_until(number, due_ns);
}

static void arrived(const struct nat_packet *packet, bool is_inside, uint64_t now)
{
	const uint32_t number = packet->mark >> 32, flow = packet->mark & ((1U << FLOW_BITS) - 1);
	const uint8_t round = packet->mark >> FLOW_BITS;

	if (number >= world.ends || flow >= world.born || protocol_of(number) != packet->protocol) {
		world.wrong++;
		return;
	}
	if (is_inside)
		arrive_inside(number, flow, round, packet, now);
	else
		arrive_outside(number, flow, round, packet);
}

/* ---- the whole */

static void prepare(char *argv[])
{
	uint32_t i;

	world.count = strtoul(argv[4], NULL, 10);
	world.ends = strtoul(argv[6], NULL, 10);
	world.ports = strtoul(argv[7], NULL, 10);
	world.timeout_ns = strtoul(argv[8], NULL, 10) * SECOND_NS;
	world.random = dart_random__of(20);
	world.lives = calloc(world.ends, sizeof(*world.lives));
	world.idle = calloc(world.ends, sizeof(*world.idle));
	world.queue = calloc(QUEUE, sizeof(*world.queue));
	if (!world.lives || !world.idle || !world.queue)
		error(1, ENOMEM, "no room for %" PRIu32 " ends", world.ends);
	for (i = 0; i < world.ends; i++)
		world.idle[world.idle_count++] = i;
	for (i = 0; i < SLOTS; i++)
		world.slots[i] = NONE;
	for (i = 0; i < 2 * 65536; i++)
		world.owners[i / 65536][i % 65536] = NONE;
}

static void forward(void)
{
	struct nat_packet packets[NAT_SWITCH_BATCH];
	size_t count = 0;

	while (count < NAT_SWITCH_BATCH && world.first < world.last)
		packets[count++] = world.queue[world.first++ % QUEUE];
	if (count)
		nat_switch__forward(world.nat, packets, count, now_ns());
}

static void print(uint64_t elapsed_ns)
{
	const struct nat_switch_counts *counts = nat_switch__counts(world.nat);

	printf("{\"born\": %" PRIu32 ", \"ended\": %" PRIu32
	       ", \"seconds\": %.1f, \"at_once\": %" PRIu64 ", \"right\": %" PRIu64
	       ", \"wrong\": %" PRIu64 ", \"doubled\": %" PRIu64 ", \"moved\": %" PRIu64
	       ", \"reused\": %" PRIu64 ", \"repeated\": %" PRIu64 ", \"late\": %" PRIu64,
	       world.born, world.ended, elapsed_ns / 1e9, world.most, world.right, world.wrong,
	       world.doubled, world.moved, world.reused, world.repeated, world.late);
	printf(", \"found\": %" PRIu64 ", \"absent\": %" PRIu64 ", \"changing\": %" PRIu64
	       ", \"tracked\": %" PRIu64 ", \"handed\": %" PRIu64 ", \"returned\": %" PRIu64
	       ", \"damaged\": %" PRIu64 ", \"questions\": %" PRIu64 "}\n",
	       counts->found, counts->absent, counts->changing, counts->tracked, counts->handed,
	       counts->returned, counts->damaged, counts->questions);
}

int main(int argc, char *argv[])
{
	uint64_t rate, born_ns = 0;

	if (argc != 9)
		error(2, 0, "usage: flows_life HOST TABLE INTERFACE COUNT RATE ENDS PORTS TIMEOUT");
	prepare(argv);
	rate = strtoul(argv[5], NULL, 10);
	world.nat = nat_switch__open(argv[1], argv[2], argv[3], arrived);
	begun_ns = now_ns();
	while (world.ended < world.count) {
		const uint64_t now = now_ns();

		for (; world.born < world.count && world.idle_count &&
		       world.born < now / SECOND_NS * rate + now % SECOND_NS * rate / SECOND_NS;)
			begin(now);
		if (world.born == world.count && !born_ns)
			born_ns = now;
		turn(now);
		forward();
		nat_switch__poll(world.nat, world.first < world.last ? 0 : 1, now_ns());
	}
	print(born_ns ?: now_ns());
	nat_switch__close(world.nat);
	return 0;
}
