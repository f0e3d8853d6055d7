// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_ageing_speed INTERFACE PEER FLOWS TIMEOUT: the cost of ageing FLOWS flows of UDP that are
 * all in use, with a time-out of TIMEOUT seconds.  Questions leave through INTERFACE; the program is
 * the switch, too, at PEER, the other end, and its work there does not count.  Time is virtual, so
 * two time-outs pass as fast as the work is done.  Prints a JSON object: nanoseconds of the processor
 * for all questions and answers of the second time-out.
 */
#include <arpa/inet.h>
#include <dart/tea_use.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/flows/function/function.h"
#include "tools/flows/nat/nat.h"
#include "tools/flows/packet/port.h"
#include "tools/flows/packet/question.h"

#define SECOND 1000000000ULL
#define POLICY                                                        \
	"interface: x\ntable: nat\ninside: [10.0.0.0/8]\nflows: %u\n" \
	"pools: [{addresses: 203.0.113.1}]\nlimits: {flows: %u}\n"    \
	"routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"     \
	"timeouts: {udp: %us}\n"

struct bench {
	struct function *function;
	struct port *daemon, *machine;
	uint64_t now_ns, questions;
	uint32_t idle; /* units that each flow is idle */
};

static void fail(const char *what)
{
	fprintf(stderr, "flows_ageing_speed: %s\n", what);
	exit(1);
}

/* Of this thread. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static void ask(void *subject, uint32_t number, struct flow *const *flows, unsigned int count)
{
	uint8_t key[FLOW_KEY_MAX], value[FLOW_VALUE_MAX], mac[6];
	struct bench *bench = subject;
	struct question_frame frame;
	const struct packet packet = { .frame = frame.bytes, .length = sizeof(frame.bytes) };
	unsigned int i;

	port__mac(bench->daemon, mac);
	question__begin(&frame, mac, number);
	for (i = 0; i < 2 * count; i++) {
		function__entry(bench->function, flows[i / 2], i % 2, key, value);
		question__put_key(&frame, i, key, function__key_length(bench->function));
	}
	/* Ports take no frames to all hosts. */
	frame.bytes[0] = 2;
	if (port__send(bench->daemon, &packet, 1))
		fail("a question was not sent");
	bench->questions++;
}

/* Nothing is recorded, and the table makes each change at once. */
static void ignore(void *subject, const struct flow *flow)
{
}

static bool enter(void *subject, struct flow *flow)
{
	return true;
}

static bool leave(void *subject, struct flow *flow)
{
	fail("a flow in use was removed");
	return true;
}

static const struct function_handlers handlers = {
	.begun = ignore,
	.closed = ignore,
	.ended = ignore,
	.enter = enter,
	.leave = leave,
	.ask = ask,
};

/* The switch answers everything that is there. */
static void answer(struct bench *bench)
{
	struct port_frame frames[PORT_FRAMES];
	struct packet packets[PORT_FRAMES];
	uint32_t age = htonl(bench->idle);
	int received, i, j;

	while ((received = port__receive(bench->machine, frames)) >= 0) {
		for (i = 0; i < received; i++) {
			memcpy(frames[i].bytes, frames[i].bytes + 6, 6);
			frames[i].bytes[11] ^= 1;
			frames[i].bytes[15] = DART_TEA_USE_ANSWER;
			for (j = 22; j < DART_TEA_USE_LENGTH; j += 4)
				memcpy(frames[i].bytes + j, &age, 4);
			packets[i].frame = frames[i].bytes;
			packets[i].length = frames[i].length;
		}
		if (port__send(bench->machine, packets, received))
			fail("an answer was not sent");
	}
}

static void take(struct bench *bench)
{
	uint64_t idle[DART_TEA_USE_KEYS], least[FUNCTION_QUESTION_FLOWS];
	struct port_frame frames[PORT_FRAMES];
	uint32_t number;
	int received, i, j;

	while ((received = port__receive(bench->daemon, frames)) >= 0)
		for (i = 0; i < received; i++) {
			if (!question__read_answer(frames[i].bytes, frames[i].length, &number,
						   idle))
				fail("an answer is wrong");
			for (j = 0; j < FUNCTION_QUESTION_FLOWS; j++)
				least[j] = idle[2 * j] < idle[2 * j + 1] ? idle[2 * j] :
									   idle[2 * j + 1];
			function__answered(bench->function, number, least, bench->now_ns);
		}
}

/* Returns the cost of a second. */
static uint64_t pass_second(struct bench *bench)
{
	uint64_t spent_ns = 0, begun_ns;
	bool has_more;

	bench->now_ns += SECOND;
	do {
		begun_ns = cpu_ns();
		has_more = function__tick(bench->function, bench->now_ns, true);
		spent_ns += cpu_ns() - begun_ns;
		answer(bench);
		begun_ns = cpu_ns();
		take(bench);
		spent_ns += cpu_ns() - begun_ns;
	} while (has_more);
	return spent_ns;
}

static void fill(struct bench *bench, unsigned int flows, unsigned int timeout)
{
	struct flow_record record = {
		IPPROTO_UDP, { 0x0a000001, 4000 }, { 0xcb007101, 2000 }, { 0, 53 }
	};
	struct flow *flow;
	unsigned int i;

	for (i = 0; i < flows; i++) {
		/* Each second of a time-out has as many flows. */
		record.remote.address = 0x30000000 + i;
		if (function__restore(bench->function, &record,
				      bench->now_ns + (uint64_t)i * timeout / flows * SECOND))
			fail("a flow cannot be made");
	}
	function__compare(bench->function);
	for (i = 0; i < flows; i++) {
		record.remote.address = 0x30000000 + i;
		flow = function__find(bench->function, IPPROTO_UDP, &record.inside, &record.remote);
		function__entered(bench->function, flow, true, bench->now_ns);
	}
}

int main(int argc, char *argv[])
{
	struct bench bench = { .now_ns = 1000000 * SECOND, .idle = 2 };
	uint64_t spent_ns = 0, most_ns = 0, second_ns;
	unsigned int flows, timeout, i;
	static const uint16_t types[PORT_TYPES] = { DART_TEA_USE_ETHERTYPE };
	struct dart_error error;
	struct policy policy;
	char text[1000];

	if (argc != 5)
		fail("usage: INTERFACE PEER FLOWS TIMEOUT");
	flows = atoi(argv[3]);
	timeout = atoi(argv[4]);
	snprintf(text, sizeof(text), POLICY, flows, flows, timeout);
	if (policy__parse(&policy, text, strlen(text), "flows.yaml", &error) ||
	    port__open(argv[1], types, false, &bench.daemon, &error) ||
	    port__open(argv[2], types, false, &bench.machine, &error) ||
	    function__new(&nat_type, &policy, &handlers, &bench, &bench.function, &error))
		fail(error.text);
	fill(&bench, flows, timeout);
	for (i = 0; i < timeout; i++)
		pass_second(&bench);
	bench.questions = 0;
	for (i = 0; i < timeout; i++) {
		second_ns = pass_second(&bench);
		spent_ns += second_ns;
		most_ns = second_ns > most_ns ? second_ns : most_ns;
	}
	printf("{\"flows\": %u, \"timeout\": %u, \"questions\": %" PRIu64 ", \"ns\": %" PRIu64
	       ", \"ns_of_longest_second\": %" PRIu64 "}\n",
	       flows, timeout, bench.questions, spent_ns, most_ns);
	function__free(bench.function);
	port__close(bench.daemon);
	port__close(bench.machine);
	policy__clear(&policy);
	return 0;
}
