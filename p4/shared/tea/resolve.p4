// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handles a packet whose entry the switch does not hold: finds its row and a server,
 * and takes the PSNs of a WRITE and a READ.  The architecture defines TeaShareHash,
 * WatchPeer, ProbePeer, TakePsns and TeaPortState.
 */
#ifndef DART_TEA_RESOLVE_P4
#define DART_TEA_RESOLVE_P4

#include <dart/tea.h>

#include "outcome.p4"
#include "shared/rdma/verdict.p4"
#include "state.p4"

#define TEA_PSNS	24w2	/* of a lookup */

/* The number of PSNs that may be outstanding, from the limit of the control plane. */
#define TEA_PSNS_MAX(limits)						\
	(((limits).outstanding > DART_TEA_OUTSTANDING_MAX ?		\
	  (bit<24>)DART_TEA_OUTSTANDING_MAX :				\
	  (bit<24>)(limits).outstanding) << 1)

/* Sends WRITE and READ to the server that the caller chose. */
control TeaSend(inout tea_request_t request, in bit<6> server,
		in bit<9> port, in bit<48> now)
{
	TakePsns() take_psns;

	apply {
		request.kind = REQUEST_LOOKUP;
		request.server = server;
		request.port = port;
		take_psns.apply(server, TEA_PSNS, now, request.psn);
	}
}

/*
 * Sets tea.outcome, and the request if it is TEA_SENT.  @probe: also send a probe to
 * @probe_server; its port is @probe_port.
 */
control TeaResolve(inout tea_t tea, inout tea_request_t request,
		   in tea_limits_t limits, in bit<48> now, out bool probe,
		   out bit<6> probe_server, out bit<9> probe_port,
		   out bit<24> probe_psn)
{
	TeaShareHash() share_hash;
	WatchPeer() watch_first;
	WatchPeer() watch_second;
	ProbePeer() probe_peer;
	TeaPortState() first_port_state;
	TeaPortState() second_port_state;
	TeaSend() send_first;
	TeaSend() send_second;
	bit<10> share;
	bit<6> first = 0;
	bit<9> first_port = 0;
	bit<6> second = 0;
	bit<9> second_port = 0;
	bit<8> first_state;
	bit<8> second_state = PEER_SILENT;
	bit<24> first_waits;
	bit<24> second_waits = 0;
	bool first_link;
	bool second_link = false;
	bit<32> first_use;
	bit<32> second_use = 0;
	bool first_due;
	bool second_due = false;
	bit<48> first_since;
	bit<48> second_since = 0;
	bit<24> first_psn;
	bit<24> second_psn = 0;
	bool can_first;
	bool can_second;
	bit<24> most;

	@name(".tea_assign")
	action assign(bit<6> server, bit<9> port, bit<6> replica,
		      bit<9> replica_port)
	{
		first = server;
		first_port = port;
		second = replica;
		second_port = replica_port;
	}

	/* The servers of each range of shares. */
	@name(".tea_share")
	table shares {
		key = { share : exact @name("share"); }
		actions = { assign; NoAction; }
		default_action = NoAction;
		size = DART_TEA_SHARES;
	}

	apply {
		probe = false;
		probe_server = 0;
		probe_port = 0;
		probe_psn = 0;
		if (tea.length > limits.packet_length) {
			tea.outcome = TEA_LONG;
			return;
		}
		share_hash.apply(tea.key, share);
		if (!shares.apply().hit) {
			tea.outcome = TEA_UNASSIGNED;
			return;
		}

		watch_first.apply(first, now, limits.timeout, first_state,
				  first_waits, first_due, first_since,
				  first_psn);
		first_port_state.apply(first_port, now, first_link, first_use);
		if (second != first) {
			watch_second.apply(second, now, limits.timeout,
					   second_state, second_waits,
					   second_due, second_since,
					   second_psn);
			second_port_state.apply(second_port, now, second_link,
						second_use);
		}
		/*
		 * Each packet sends one probe at most, first the probe that has been due for
		 * longer.
		 */
		if (first_due && !(second_due && second_since < first_since)) {
			probe = true;
			probe_server = first;
			probe_port = first_port;
			probe_psn = first_psn;
		} else if (second_due) {
			probe = true;
			probe_server = second;
			probe_port = second_port;
			probe_psn = second_psn;
		}
		if (probe)
			probe_peer.apply(probe_server, probe_psn, now);

		most = TEA_PSNS_MAX(limits);
		can_first = first_state == PEER_UP && first_link;
		can_second = second_state == PEER_UP && second_link;
		if (!can_first && !can_second) {
			tea.outcome = TEA_SILENT;
			return;
		}
		can_first = can_first && first_waits + TEA_PSNS <= most;
		can_second = can_second && second_waits + TEA_PSNS <= most;
		tea.outcome = TEA_SENT;
		if (can_first && !(can_second && second_use < first_use))
			send_first.apply(request, first, first_port, now);
		else if (can_second)
			send_second.apply(request, second, second_port, now);
		else
			tea.outcome = TEA_LIMIT;
	}
}

#endif /* DART_TEA_RESOLVE_P4 */
