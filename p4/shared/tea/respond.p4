// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks a response, and takes entry and packet from it, see "Responses" and "Changes" in
 * <dart/tea.h>.  The architecture defines WatchPeer, TakeResponse, FreePsns, TeaPortState,
 * TeaTagHash, TeaEntryHash and TeaRemoveCells; the network function defines FunctionKey.
 */
#ifndef DART_TEA_RESPOND_P4
#define DART_TEA_RESPOND_P4

#include "outcome.p4"
#include "resolve.p4"
#include "search.p4"
#include "shared/rdma/verdict.p4"
#include "state.p4"

/* Leaves only the packet. */
control TeaUnwrap(inout headers_t headers)
{
	TeaRemoveCells() remove_cells;

	apply {
		headers.rdma_ethernet.setInvalid();
		headers.rdma_ipv4.setInvalid();
		headers.rdma_udp.setInvalid();
		headers.bth.setInvalid();
		headers.aeth.setInvalid();
		headers.tea_row.setInvalid();
		remove_cells.apply(headers);
		headers.tea_row_end.setInvalid();
		headers.tea_tag.setInvalid();
	}
}

/*
 * Sets tea.outcome.  @port: where the response arrived; @flaw: the flaw that the parser
 * found, as an outcome, or TEA_FOUND.  From TEA_FOUND to TEA_ABSENT, headers contains the
 * packet alone, whose length is tea.length; with TEA_AGAIN and TEA_PROBED the switch sends
 * the request, which is REQUEST_NONE after the last probe.
 */
control TeaRespond(inout headers_t headers, inout tea_t tea,
		   inout tea_request_t request, in tea_limits_t limits,
		   in bit<9> port, in bit<8> flaw, in bool icrc_right,
		   in bit<48> now)
{
	FunctionKey() function_key;
	TakeResponse() take_response;
	FreePsns() free_psns;
	WatchPeer() watch_peer;
	TeaPortState() port_state;
	TeaTagHash() tag_hash;
	TeaSearch() search;
	TeaUnwrap() unwrap;
	TeaSend() send;
	bit<6> peer = 0;
	bit<9> way = 0;
	bit<24> table_epoch = 0;
	bit<8> verdict;
	bit<24> probe_psn;
	bit<8> state;
	bit<24> outstanding;
	bool due;
	bit<48> since;
	bool link;
	bit<32> use;
	bit<32> check;
	bool has_key;
	bool found;

	@name(".tea_response_of")
	action response_of(bit<6> server, bit<9> server_port, bit<24> epoch)
	{
		peer = server;
		way = server_port;
		table_epoch = epoch;
	}

	/* The servers that may respond, and where their responses arrive. */
	@name(".tea_from")
	table from {
		key = { headers.rdma_ipv4.source : exact @name("ip"); }
		actions = { response_of; NoAction; }
		default_action = NoAction;
		size = TEA_SERVERS;
	}

	apply {
		if (!from.apply().hit || way != port) {
			tea.outcome = TEA_SOURCE;
			return;
		}
		if (!icrc_right) {
			tea.outcome = TEA_ICRC;
			return;
		}
		if (flaw != TEA_FOUND) {
			tea.outcome = flaw;
			return;
		}
		take_response.apply(headers, peer, now, verdict, probe_psn);
		if (verdict == VERDICT_PROBED) {
			tea.outcome = TEA_PROBED;
			request.kind = REQUEST_PROBE;
			request.server = peer;
			request.port = way;
			request.psn = probe_psn;
			return;
		}
		if (verdict == VERDICT_STALE)
			tea.outcome = TEA_STALE;
		else if (verdict == VERDICT_ACKNOWLEDGED)
			tea.outcome = TEA_ACKNOWLEDGED;
		else if (verdict == VERDICT_SETTLED)
			tea.outcome = TEA_PROBED;
		else if (verdict == VERDICT_SEQUENCE)
			tea.outcome = TEA_NAK;
		else if (verdict == VERDICT_NAK_STALE)
			tea.outcome = TEA_NAK_STALE;
		else if (verdict == VERDICT_FATAL)
			tea.outcome = TEA_NAK_FATAL;
		else
			tea.outcome = TEA_MALFORMED;
		if (verdict != VERDICT_DATA || !headers.tea_tag.isValid())
			return;

		tea.length = headers.tea_tag.length;
		tea.arrival = headers.tea_tag.port;
		request.tries = headers.tea_tag.tries;
		function_key.apply(headers, tea.key, has_key);
		tag_hash.apply(headers.tea_tag, headers.tea_row.epoch, tea.key,
			       check);
		if (tea.length > limits.packet_length)
			tea.outcome = TEA_LENGTH;
		else if (headers.tea_tag.psn !=
			 (bit<32>)(headers.bth.psn - 1))
			tea.outcome = TEA_TAG;
		else if (headers.tea_row.epoch != table_epoch)
			tea.outcome = TEA_EPOCH;
		else if (!has_key || headers.tea_tag.check != check)
			tea.outcome = TEA_CHECK;
		else
			tea.outcome = TEA_FOUND;
		if (tea.outcome != TEA_FOUND)
			return;

		free_psns.apply(peer, headers.bth.psn, now);
		search.apply(headers, tea, found);
		if (!found) {
			if (headers.tea_row.sequence !=
			    headers.tea_row_end.sequence ||
			    headers.tea_row.sequence[0:0] == 1)
				tea.outcome = TEA_CHANGING;
			else if (headers.tea_row.stashed != 0)
				tea.outcome = TEA_STASHED;
			else
				tea.outcome = TEA_ABSENT;
		}
		unwrap.apply(headers);
		if (tea.outcome == TEA_CHANGING &&
		    request.tries < limits.tries) {
			watch_peer.apply(peer, now, limits.timeout, state,
					 outstanding, due, since, probe_psn);
			port_state.apply(way, now, link, use);
			if (state == PEER_UP && link &&
			    outstanding + TEA_PSNS <= TEA_PSNS_MAX(limits)) {
				tea.outcome = TEA_AGAIN;
				request.tries = request.tries + 1;
				send.apply(request, peer, way, now);
			}
		}
	}
}

#endif /* DART_TEA_RESPOND_P4 */
