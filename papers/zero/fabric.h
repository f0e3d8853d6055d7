/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A controller and its hosts in virtual time: the controller's own flow control
 * (tools/controller/flow/credit_groups.h), and a model of everything below it.  The same settings
 * and seed give the same result.
 *
 * The model: an I/O thread, or two (io_thread.h), posts READs of one fragment and takes
 * completions, each for a fixed time.  Adapters may lack the state of a queue pair (adapter.h); no
 * more than 16 READs of a pair are in flight, because the flow control knows this limit of
 * adapters.  A request takes half of the round trip.  The machine of a host (machine.h) answers
 * one fragment after the other at the speed of its link.  The answers meet in the queue of the
 * switch port that leads to the controller, first in, first out.  With PFC the switch pauses all
 * machines while this queue is long, whatever they have to send; otherwise it drops packets that do
 * not fit into its buffer, and the READ is sent again after a time-out.  With ECN it marks packets
 * while the queue is long; no sender slows down: DCQCN with its published constants changed no mean
 * latency of a burst of 128 KiB a host by more than half a percent, because it reacts too late.
 */
#ifndef PAPERS_FABRIC_H
#define PAPERS_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "io_thread.h"

struct fabric_settings {
	uint32_t hosts;
	uint32_t machines; /* that the hosts share, in turn; 0: each host has its own */
	uint32_t group; /* hosts of a group, see credit_groups.h; 0: there are no groups */
	uint32_t first_class; /* in class 0; all other hosts in class 1 */
	uint32_t bytes; /* of a scrape */
	uint32_t small_hosts; /* the first hosts hold small_bytes instead */
	uint32_t small_bytes;
	uint64_t interval_ns; /* between scrapes of a host */
	uint32_t scrapes; /* of each host */
	bool spread; /* hosts are due at different times of an interval */

	double link_bytes_ns; /* speed of the controller's link */
	double host_bytes_ns; /* and of each machine's */
	uint64_t round_trip_ns;
	enum io_kind io;
	uint64_t post_ns; /* CPU time of the controller for a READ */
	uint64_t poll_ns; /* and for its completion */
	uint64_t wake_ns; /* to run a blocked thread: 0.5 to 1.5 times this */
	uint64_t wake_cpu_ns; /* CPU time of that */
	uint64_t buffer; /* bytes of the switch port's queue */
	uint64_t pause_above; /* PFC; 0: no PFC */
	uint64_t pause_until; /* bytes are left in the queue */
	uint64_t mark_above; /* ECN: marks some packets above, 0: no ECN */
	uint64_t mark_all; /* and all above; between them the chance rises evenly */
	uint32_t cached_pairs; /* queue pairs in the cache of an adapter; 0: all */
	uint64_t fetch_ns; /* until an adapter has a pair that is not in its cache */
	uint64_t service_ns; /* between packets of each machine's services to others; 0: none */

	uint64_t credit; /* bytes in flight, of all */
	uint64_t flow_credit; /* limit of one host */

	/* Faults. */
	double loss; /* of answers, a share */
	uint64_t retry_ns; /* until a READ is sent again */
	double mortality; /* chance of a host to die in a scrape: it comes back later */
	uint64_t seed;
};

struct fabric_result {
	uint64_t elapsed_ns; /* until the last scrape had landed */
	uint64_t scrapes, missed, failed;
	uint64_t latency_mean_ns, latency_p99_ns, latency_max_ns;
	uint64_t first_class_ns; /* mean latency of class 0 */
	uint64_t small_mean_ns, small_p99_ns; /* latency of small hosts */
	uint64_t busy_ns; /* CPU time of the I/O threads */
	uint64_t bytes; /* landed */
	uint64_t queue_max; /* bytes in the switch port */
	uint64_t in_flight_max; /* bytes posted and not completed */
	uint64_t paused_ns;
	uint64_t fragments, marked, dropped, lost;
	uint64_t fetches; /* of queue pairs, by all adapters */
	uint64_t service_packets, service_mean_ns, service_max_ns; /* their wait in the machine */
	uint64_t wait_max_ns; /* of a flow for its first credit */
};

/* Exits the program if out of memory. */
void fabric__run(const struct fabric_settings *settings, struct fabric_result *result);

/*
 * Settings with faults, by their number: 1 to 200 hosts of two classes, losses, hosts that
 * die and come back, and a switch whose buffer is as large as the credit.
 */
void fabric__random_settings(uint64_t seed, struct fabric_settings *settings);

/*
 * Checks that the bytes in flight and in the queue stayed within the credit, the switch
 * dropped nothing, no flow waited longer than a turn can take, and each scrape landed, was
 * missed or failed. Returns the broken rule, or NULL.
 */
const char *fabric__broken_rule(const struct fabric_settings *settings,
				const struct fabric_result *result);

#endif /* PAPERS_FABRIC_H */
