// SPDX-License-Identifier: GPL-2.0-only
/* The daemon: see flows.h. */
#include "flows.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <net/ethernet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "flows_internal.h"
#include "tools/flows/balancer/balancer.h"
#include "tools/flows/firewall/firewall.h"
#include "tools/flows/gateway/gateway.h"
#include "tools/flows/nat/nat.h"

#define SECOND_US 1000000ULL
/* Changes of the table that wait for dartd: of each flow, and a few more. */
#define CHANGES_OF_FLOW 3
#define CHANGES_FEW 65536
/* The queue has twice PORT_QUEUE of the kernel's memory, of which a frame takes more than this. */
#define QUEUE_FRAMES (2 * PORT_QUEUE / 512)

/* ---- packets */

/* May the sender of this frame be answered?  One host that asks for many takes none of others. */
static bool may_answer(struct flows *flows, const uint8_t *frame, size_t length, uint64_t now)
{
	return shares__take(flows->answered_shares, frame, length, flows->policy->refusal_rate, now);
}

/* Can the frame be looked into? */
static bool take_frame(struct flows *flows, const struct port_frame *frame, uint64_t now)
{
	if (!shares__take(flows->taken_shares, frame->bytes, frame->length, flows->policy->rate,
			  now)) {
		flows->limited++;
		return false;
	}
	flows->tagged += frame->is_tagged;
	flows->long_frames += frame->is_long;
	return !frame->is_long;
}

/*
 * Makes the answer, in @answer, to a packet whose time to live ends here (RFC 1812, 5.3.1).  A
 * packet that does not come from the next hop of its source is not answered.
 */
static bool expire(struct flows *flows, struct packet *packet, uint8_t *answer, uint64_t now)
{
	const uint8_t *frame = packet->frame;
	const size_t length = packet->length;

	if (policy__is_spoofed(flows->policy, packet) ||
	    !packet__expire(packet, policy__own_address(flows->policy, packet->is_ipv6), answer) ||
	    !may_answer(flows, frame, length, now))
		return false;
	flows->exceeded++;
	return true;
}

static uint16_t mtu_of(const struct flows *flows, const struct policy_route *route)
{
	return route->mtu && route->mtu < flows->mtu ? route->mtu : flows->mtu;
}

/* False: there is no route, or the packet is longer than the next link takes. */
static bool route(struct flows *flows, struct packet *packet)
{
	const struct policy_route *route =
		policy__route(flows->policy, packet->destination.address);

	if (!route) {
		flows->unrouted++;
		return false;
	}
	if (packet->frame + packet->length - packet->ip > mtu_of(flows, route)) {
		flows->oversized++;
		return false;
	}
	packet__route(packet, route->mac);
	return true;
}

/* The beginning of a packet as it arrived, to be quoted after the packet was rewritten. */
struct original {
	struct packet packet;
	uint8_t frame[PACKET_ANSWER_MAX];
};

static void keep(struct original *original, const struct packet *packet)
{
	const size_t most = sizeof(original->frame);

	original->packet = *packet;
	original->packet.length = packet->length < most ? packet->length : most;
	memcpy(original->frame, packet->frame, original->packet.length);
	original->packet.frame = original->frame;
	original->packet.ip = original->frame + (packet->ip - packet->frame);
	original->packet.transport = original->frame + (packet->transport - packet->frame);
}

/*
 * Makes the answer, in @answer, to a packet that does not leave because it is longer than @mtu and
 * must not be fragmented (RFC 1812, 4.3.2.3), as expire() does.
 */
static bool tell_mtu(struct flows *flows, struct original *original, uint16_t mtu, uint8_t *answer,
		     uint64_t now)
{
	const size_t length = original->packet.length;

	if (policy__is_spoofed(flows->policy, &original->packet) ||
	    !function__tell_mtu(flows->function, &original->packet, mtu, answer) ||
	    !may_answer(flows, original->frame, length, now))
		return false;
	flows->mtu_told++;
	return true;
}

/*
 * The switch can look no frame up that is longer than the place for it in a row of the table, so
 * all packets of such a flow come here.  False: the frame has room there, or the place is
 * smaller than any MTU.
 */
static bool is_beyond_row(const struct flows *flows, const struct packet *packet, uint16_t *mtu)
{
	const size_t link = packet->ip - packet->frame, most = table__frame_length(flows->table);

	if (packet->length <= most || most < link + (packet->is_ipv6 ? PACKET_LEAST_6 :
								       PACKET_LEAST_4))
		return false;
	*mtu = most - link;
	return true;
}

/* Sends a packet on that the function passes.  True: it leaves, or an answer to its sender. */
static bool pass(struct flows *flows, struct original *original, struct packet *packet,
		 uint8_t *answer, uint64_t now)
{
	const struct policy_route *next =
		policy__route(flows->policy, packet->destination.address);
	uint16_t mtu;

	/* A packet that gets no answer leaves, as long as the next link takes it. */
	if (next && is_beyond_row(flows, packet, &mtu) &&
	    tell_mtu(flows, original, mtu < mtu_of(flows, next) ? mtu : mtu_of(flows, next), answer,
		     now)) {
		*packet = original->packet;
		return true;
	}
	if (route(flows, packet))
		return true;
	if (!next || !tell_mtu(flows, original, mtu_of(flows, next), answer, now))
		return false;
	*packet = original->packet;
	return true;
}

/* A fragment that is not the first one: it leaves like that, or waits for it. */
static bool follow(struct flows *flows, struct packet *packet, uint64_t now)
{
	/* NAT asks no packet for its way. */
	const bool is_spoofed = flows->policy->function != POLICY_NAT &&
				policy__is_spoofed(flows->policy, packet);

	if (!is_spoofed && fragments__follow(flows->fragments, packet, now)) {
		flows->followed++;
		return route(flows, packet);
	}
	if (is_spoofed || !fragments__hold(flows->fragments, packet, now))
		flows->flaws[PACKET_FRAGMENT]++;
	return false;
}

/* Does what the function says about the packet; the other fragments of its datagram follow it. */
static enum function_action take(struct flows *flows, struct packet *packet, uint64_t now)
{
	const struct fragments_key key = fragments__key(packet);
	const bool is_fragment = packet->is_fragment;
	enum function_action action;

	action = function__take(flows->function, packet, now);
	if (is_fragment && action == FUNCTION_PASSES)
		fragments__pass(flows->fragments, &key, packet, now);
	else if (is_fragment)
		fragments__stop(flows->fragments, &key);
	return action;
}

/* A frame to a group of hosts, or to all. */
static bool pass_over(struct flows *flows)
{
	flows->for_many++;
	return false;
}

/* Returns whether the packet leaves: routed, or as an answer to its sender, in @answer. */
static bool judge(struct flows *flows, const struct port_frame *frame, struct packet *packet,
		  uint8_t *answer, uint64_t now)
{
	enum function_action action;
	struct original original;
	enum packet_flaw flaw;

	flows->received++;
	/* A host asks for all of many when it does not know the address of the switch. */
	if (frame->is_for_many && !flows->policy->neighbour_count)
		return pass_over(flows);
	if (!take_frame(flows, frame, now))
		return false;
	if (flows->policy->neighbour_count && flows__answer_neighbour(flows, frame, packet, answer))
		return true;
	if (frame->is_for_many)
		return pass_over(flows);
	flaw = packet__read(packet, frame->bytes, frame->length);
	/* Behind the tags that the filter of the port saw. */
	if (packet->is_ipv6 && !flows->policy->has_ipv6)
		flaw = PACKET_OTHER;
	if (flaw == PACKET_FRAGMENT)
		return follow(flows, packet, now);
	if (flaw) {
		flows->flaws[flaw]++;
		return flaw == PACKET_EXPIRED && expire(flows, packet, answer, now);
	}
	if (frame->has_partial_checksum)
		packet__complete(packet);
	keep(&original, packet);
	action = take(flows, packet, now);
	if (action == FUNCTION_ANSWERS &&
	    may_answer(flows, packet->frame, packet->length, now) &&
	    function__answer(flows->function, packet, answer)) {
		flows->answered++;
		return true;
	}
	return action == FUNCTION_PASSES && pass(flows, &original, packet, answer, now);
}

static void send_held(void *subject, struct packet *packet)
{
	struct flows *flows = subject;

	flows->followed++;
	if (route(flows, packet))
		flows->unsent += port__send(flows->port, packet, 1);
}

static void end_loop(struct flows *flows, int status)
{
	flows->status = status;
	sd_event_exit(flows->event, 0);
}

/* Returns whether there may be more. */
static bool take_frames(struct flows *flows)
{
	struct port_frame frames[PORT_FRAMES];
	struct packet packets[PORT_FRAMES];
	const uint64_t now = flows__now_ns();
	const bool was_unwritable = flows->is_unwritable;
	struct dart_error error;
	unsigned int count = 0;
	int received, i;

	received = port__receive(flows->port, frames);
	for (i = 0; i < received; i++)
		count += judge(flows, &frames[i], &packets[count], flows->answers[count], now);
	/* Nothing of a flow leaves before the journal has it.  Later on, no flow begins. */
	if (flows__write_journal(flows, &error) && !was_unwritable) {
		flows->unwritten += count;
		fragments__stop_all(flows->fragments);
		return received == PORT_FRAMES;
	}
	flows->unsent += port__send(flows->port, packets, count);
	/* After their first ones, which the journal has. */
	flows->flaws[PACKET_FRAGMENT] +=
		fragments__release(flows->fragments, now, send_held, flows);
	return received == PORT_FRAMES;
}

static int on_packets(sd_event_source *source, int fd, uint32_t events, void *data)
{
	take_frames(data);
	return 0;
}

/*
 * Takes all frames that have come so far, and some that come meanwhile.  When this process was
 * stopped, or had no processor, flows that had a packet in time are in use, although their
 * time-outs have passed.
 */
static void take_frames_before_now(struct flows *flows)
{
	unsigned int turns = QUEUE_FRAMES / PORT_FRAMES;

	while (take_frames(flows) && --turns)
		;
}

/* ---- time, reloads and the status */

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	struct flows *flows = data;
	struct dart_error error;
	bool has_more;

	if (!port__is_there(flows->port)) {
		end_loop(flows, dart_error__set(&flows->error, ENODEV, "the interface '%s' is gone",
						flows->policy->interface));
		return 0;
	}
	port__overrun(flows->port);
	flows->mtu = port__mtu(flows->port);
	take_frames_before_now(flows);
	flows->flaws[PACKET_FRAGMENT] +=
		fragments__release(flows->fragments, flows__now_ns(), send_held, flows);
	has_more = function__tick(flows->function, flows__now_ns(), table__is_there(flows->table));
	flows__compact_journal(flows);
	flows__write_journal(flows, &error);
	sd_event_source_set_time_relative(source, has_more ? SECOND_US / 100 : SECOND_US);
	sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	return 0;
}

static int reload(struct flows *flows, struct dart_error *error)
{
	struct policy *next = malloc(sizeof(*next)), *before;
	int ret;

	if (!next)
		return dart_error__no_memory(error);
	ret = policy__read(next, flows->options->policy, error);
	if (ret)
		goto err_free;
	ret = policy__check_reload(flows->policy, next, error) ?:
		      function__set_policy(flows->function, next, error);
	if (ret < 0) {
		policy__clear(next);
		goto err_free;
	}
	if (ret)
		flows__say("out of memory: static mappings are missing until the next reload");
	before = flows->policy;
	flows->policy = next;
	flows__name_table(flows);
	fragments__stop_all(flows->fragments);
	flows__renew_servers(flows);
	policy__clear(before);
	free(before);
	return flows__write_journal(flows, error);

err_free:
	free(next);
	return ret;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct flows *flows = data;
	struct dart_error error;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		   flows__clock_ns(CLOCK_MONOTONIC) / 1000);
	if (reload(flows, &error))
		flows__say("%s: the policy stays as it was", error.text);
	else
		flows__say("the policy of %s is in use", flows->options->policy);
	sd_notify(0, "READY=1");
	return 0;
}

static json_t *pack_status(void *subject)
{
	return flows__status(subject);
}

static json_t *pack_servers(void *subject)
{
	return flows__servers(subject);
}

static int settle(void *subject, struct dart_error *error)
{
	return flows__write_journal(subject, error);
}

/* ---- life */

static int open_signals(struct flows *flows)
{
	sigset_t signals;
	int ret;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -errno;
	ret = sd_event_add_signal(flows->event, NULL, SIGINT, NULL, NULL);
	if (ret >= 0)
		ret = sd_event_add_signal(flows->event, NULL, SIGTERM, NULL, NULL);
	if (ret >= 0)
		ret = sd_event_add_signal(flows->event, NULL, SIGHUP, on_hangup, flows);
	return ret;
}

static int open_loop(struct flows *flows, struct dart_error *error)
{
	int ret;

	ret = sd_event_new(&flows->event);
	if (ret >= 0)
		ret = open_signals(flows);
	if (ret >= 0)
		ret = sd_event_set_watchdog(flows->event, true);
	if (ret >= 0)
		ret = sd_event_add_time_relative(flows->event, &flows->timer, CLOCK_MONOTONIC,
						 SECOND_US, 10000, on_time, flows);
	if (ret >= 0)
		ret = sd_event_add_io(flows->event, &flows->packets, port__fd(flows->port), EPOLLIN,
				      on_packets, flows);
	return ret < 0 ? dart_error__system(error, -ret, "cannot set up the event loop") : 0;
}

static const struct function_type *const types[] = {
	[POLICY_NAT] = &nat_type,
	[POLICY_FIREWALL] = &firewall_type,
	[POLICY_BALANCER] = &balancer_type,
	[POLICY_GATEWAY] = &gateway_type,
};

static int open_port(struct flows *flows, struct dart_error *error)
{
	const uint16_t types[PORT_TYPES] = { ETHERTYPE_IP,
					     flows->policy->has_ipv6 ? ETHERTYPE_IPV6 : 0,
					     ETHERTYPE_ARP };

	return port__open(flows->policy->interface, types, true, &flows->port, error);
}

static int open_all(struct flows *flows, struct dart_error *error)
{
	struct control_subject control = { NULL, pack_status, NULL, settle, flows };
	int ret;

	flows->policy = calloc(1, sizeof(*flows->policy));
	flows->fragments = fragments__new();
	flows->taken_shares = shares__new();
	flows->answered_shares = shares__new();
	if (!flows->policy || !flows->fragments || !flows->taken_shares || !flows->answered_shares)
		return dart_error__no_memory(error);
	ret = policy__read(flows->policy, flows->options->policy, error)	?:
		      open_port(flows, error)					?:
		      open_loop(flows, error);
	if (ret)
		return ret;
	flows->mtu = port__mtu(flows->port);
	ret = function__new(types[flows->policy->function], flows->policy, &flows__function_handlers,
			    flows, &flows->function, error);
	ret = ret ?: flows__open_questions(flows, error);
	if (ret)
		return ret;
	flows->table_settings = (struct table_settings){
		.key_length = function__key_length(flows->function),
		.value_length = function__value_length(flows->function),
		/* A comparison enters all flows, and meanwhile others begin and end. */
		.changes_max = CHANGES_OF_FLOW * flows->policy->flows + CHANGES_FEW,
	};
	flows__name_table(flows);
	ret = flows__open_journal(flows, error) ?:
		      table__new(flows->event, &flows->table_settings, &flows__table_handlers, flows,
				 &flows->table, error);
	control.function = flows->function;
	if (flows->policy->function == POLICY_BALANCER) {
		control.servers = pack_servers;
		ret = ret ?: flows__open_servers(flows, error);
	}
	return ret   ?:
		       control__new(flows->event, flows->options->control, &control,
				    &flows->control, error);
}

/*
 * The ports are open, and nothing else needs a capability: a packet that takes this process over
 * gets none.
 */
static int give_up_capabilities(struct dart_error *error)
{
	struct __user_cap_header_struct process = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capset, &process, none))
		return dart_error__system(error, errno, "cannot give up capabilities");
	return 0;
}

static void close_all(struct flows *flows)
{
	control__free(flows->control);
	health__free(flows->health);
	table__free(flows->table);
	flows__close_journal(flows);
	function__free(flows->function);
	sd_event_source_disable_unref(flows->packets);
	sd_event_source_disable_unref(flows->timer);
	sd_event_source_disable_unref(flows->answers_source);
	port__close(flows->port);
	port__close(flows->questions);
	fragments__free(flows->fragments);
	shares__free(flows->taken_shares);
	shares__free(flows->answered_shares);
	sd_event_unref(flows->event);
	if (flows->policy)
		policy__clear(flows->policy);
	free(flows->policy);
}

int flows__run(const struct flows_options *options, struct dart_error *error)
{
	struct flows flows = { .options = options };
	int ret;

	ret = open_all(&flows, error) ?: give_up_capabilities(error);
	if (!ret) {
		sd_notify(0, "READY=1");
		ret = sd_event_loop(flows.event);
		sd_notify(0, "STOPPING=1");
		if (ret < 0)
			dart_error__system(error, -ret, "the event loop failed");
		if (!ret && flows.status) {
			ret = flows.status;
			*error = flows.error;
		}
		/* Flows stay in the table and in the journal. */
	}
	close_all(&flows);
	return ret;
}
