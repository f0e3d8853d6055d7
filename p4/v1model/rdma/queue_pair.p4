// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reliable connected queue pairs that a switch drives, for v1model: the state of each,
 * and the controls that change it.  All state belongs to ingress, which handles one
 * packet at a time.
 *
 * A switch cannot send a request again.  When the peer reports a lost request by a NAK,
 * the switch gives the request up, and the next request takes its PSN. If the NAK itself
 * or a response is lost, the peer may send nothing more: when requests have been
 * outstanding for the time-out, the switch marks the peer as silent and sends a probe,
 * which asks for the PSN that the peer expects.
 *
 * A probe is a WRITE of 0 bytes.  The first one has a PSN of the past, and the peer
 * acknowledges it with the PSN of its last WRITE.  Some peers do not count the READs after
 * that WRITE, so the switch sends a probe with each PSN from there on, one after the other,
 * until the peer carries one out: then it acknowledges the probe's own PSN, and expects the
 * next one.  A probe beyond the expected PSN gets a NAK, which also tells that PSN.
 *
 * Anyone may send a response.  So only a PSN that the peer can expect counts: at least the
 * PSN after the last READ whose data came, and at most PSNS_OUTSTANDING after the first
 * outstanding PSN.  An acknowledgement moves no PSN, it only leads to the next probe.
 *
 * The program that includes this defines RDMA_NAME(register): its name for the control
 * plane.
 */
#ifndef DART_V1MODEL_RDMA_QUEUE_PAIR_P4
#define DART_V1MODEL_RDMA_QUEUE_PAIR_P4

#include "shared/rdma/headers.p4"
#include "shared/rdma/verdict.p4"

@name(RDMA_NAME(psn))
register<bit<32>>(QUEUE_PAIRS) peer_next;
@name(RDMA_NAME(outstanding))
register<bit<32>>(QUEUE_PAIRS) peer_outstanding; /* PSNs */
@name(RDMA_NAME(state))
register<bit<8>>(QUEUE_PAIRS) peer_state;
@name(RDMA_NAME(progress))
register<bit<48>>(QUEUE_PAIRS) peer_progress;	/* microseconds */
@name(RDMA_NAME(proven))
register<bit<32>>(QUEUE_PAIRS) peer_proven;	/* after the last READ with data */
@name(RDMA_NAME(probe))
register<bit<32>>(QUEUE_PAIRS) peer_probe;	/* PSN of the last probe */

/*
 * For each packet that needs a peer: the state and the outstanding PSNs of the peer.
 * @due: send a probe with @probe_psn; @progress: the time since which the probe is due.
 */
control WatchPeer(in bit<6> number, in bit<48> now, in bit<32> timeout,
		  out bit<8> state, out bit<24> outstanding, out bool due,
		  out bit<48> progress, out bit<24> probe_psn)
{
	bit<32> index;
	bit<32> next;
	bit<32> waiting;

	apply {
		index = (bit<32>)number;
		peer_state.read(state, index);
		peer_next.read(next, index);
		peer_outstanding.read(waiting, index);
		peer_progress.read(progress, index);
		outstanding = waiting[23:0];
		probe_psn = next[23:0] - outstanding - PSNS_PAST;
		due = false;
		if (now - progress > (bit<48>)timeout) {
			if (state == PEER_UP && outstanding != 0) {
				state = PEER_SILENT;
				peer_state.write(index, state);
			}
			due = state == PEER_SILENT;
		}
	}
}

/* Call this when a probe is sent: the next probe is due after another time-out. */
control ProbePeer(in bit<6> number, in bit<24> psn, in bit<48> now)
{
	apply {
		peer_probe.write((bit<32>)number, (bit<32>)psn);
		peer_progress.write((bit<32>)number, now);
	}
}

/* Takes the next @count PSNs; the peer responds to the last one. */
control TakePsns(in bit<6> number, in bit<24> count, in bit<48> now,
		 out bit<24> psn)
{
	bit<32> index;
	bit<32> next;
	bit<32> waiting;

	apply {
		index = (bit<32>)number;
		peer_next.read(next, index);
		peer_outstanding.read(waiting, index);
		psn = next[23:0];
		peer_next.write(index, (bit<32>)(psn + count));
		peer_outstanding.write(index, waiting + (bit<32>)count);
		if (waiting == 0)
			peer_progress.write(index, now);
	}
}

/*
 * Call this for a READ whose data are right, with its PSN, which is outstanding.  Frees all
 * outstanding PSNs up to it: responses come in order, so earlier responses are lost.
 */
control FreePsns(in bit<6> number, in bit<24> psn, in bit<48> now)
{
	bit<32> index;
	bit<32> next;

	apply {
		index = (bit<32>)number;
		peer_next.read(next, index);
		peer_outstanding.write(index,
				       (bit<32>)(next[23:0] - 1 - psn));
		peer_proven.write(index, (bit<32>)(psn + 1));
		peer_progress.write(index, now);
	}
}

/* The peer expects this PSN: requests that were outstanding are lost. */
control SettlePsn(in bit<6> number, in bit<24> psn, in bit<48> now)
{
	bit<32> index;

	apply {
		index = (bit<32>)number;
		peer_next.write(index, (bit<32>)psn);
		peer_outstanding.write(index, 0);
		peer_state.write(index, PEER_UP);
		peer_progress.write(index, now);
	}
}

/*
 * Takes an ACK of a silent peer, with the PSN @psn.  The peer can expect the @span PSNs
 * after @low, and @low. @probe_psn: of the next probe if the verdict is VERDICT_PROBED.
 */
control TakeProbed(in bit<6> number, in bit<24> psn, in bit<24> low,
		   in bit<24> span, in bit<48> now, out bit<8> verdict,
		   out bit<24> probe_psn)
{
	SettlePsn() settle;
	ProbePeer() probe_peer;
	bit<32> probe;
	bit<24> tried;	/* PSNs after @low, with the last probe */

	apply {
		verdict = VERDICT_ACKNOWLEDGED;
		peer_probe.read(probe, (bit<32>)number);
		tried = probe[23:0] - low;
		probe_psn = psn + 1;
		if (low - probe_psn <= PSNS_PAST ||
		    (psn == PSN_OF_NO_WRITE && probe_psn - low > span))
			probe_psn = low;
		if (tried <= span &&
		    probe[23:0] + 1 - probe_psn <= PSNS_PAST)
			probe_psn = probe[23:0] + 1;
		if (tried <= span && psn == probe[23:0]) {
			verdict = VERDICT_SETTLED;
			settle.apply(number, psn + 1, now);
		} else if (probe_psn - low <= span) {
			verdict = VERDICT_PROBED;
			probe_peer.apply(number, probe_psn, now);
		}
	}
}

/*
 * Takes a response whose source and ICRC are right.  After VERDICT_DATA the caller
 * checks the rest and calls FreePsns if it is right.  After VERDICT_PROBED the caller
 * sends the next probe, with @probe_psn.
 */
control TakeResponse(in headers_t headers, in bit<6> number, in bit<48> now,
		     out bit<8> verdict, out bit<24> probe_psn)
{
	SettlePsn() settle;
	TakeProbed() take_probed;
	bit<32> index;
	bit<32> next;
	bit<32> waiting;
	bit<32> proven;
	bit<8> state;
	bit<24> psn;
	bit<24> first;	/* outstanding PSN */
	bit<24> low;	/* lowest PSN that the peer can expect */
	bit<24> span;	/* from there to the highest one */
	bool is_waiting;

	apply {
		index = (bit<32>)number;
		peer_next.read(next, index);
		peer_outstanding.read(waiting, index);
		peer_proven.read(proven, index);
		peer_state.read(state, index);
		psn = headers.bth.psn;
		first = next[23:0] - waiting[23:0];
		is_waiting = psn - first < waiting[23:0];
		low = first;
		if (first - proven[23:0] <= PSNS_BEHIND)
			low = proven[23:0];
		span = first - low + PSNS_OUTSTANDING;
		probe_psn = 0;
		verdict = VERDICT_OTHER;

		if (headers.bth.opcode == RDMA_READ_RESPONSE_ONLY ||
		    headers.bth.opcode == RDMA_ATOMIC_ACKNOWLEDGE) {
			if (headers.aeth.syndrome[7:5] == SYNDROME_ACK) {
				if (is_waiting)
					verdict = VERDICT_DATA;
				else
					verdict = VERDICT_STALE;
			}
		} else if (headers.bth.opcode == RDMA_ACKNOWLEDGE) {
			if (headers.aeth.syndrome == SYNDROME_SEQUENCE) {
				/*
				 * The PSN of the NAK is the PSN that the peer expects.
				 * Only the control plane sets the PSN of a stopped
				 * peer.
				 */
				verdict = VERDICT_NAK_STALE;
				if ((state == PEER_UP && is_waiting) ||
				    (state == PEER_SILENT &&
				     psn - low <= span)) {
					verdict = VERDICT_SEQUENCE;
					settle.apply(number, psn, now);
				}
			} else if (headers.aeth.syndrome[7:5] ==
				   SYNDROME_NAK) {
				verdict = VERDICT_NAK_STALE;
				if (is_waiting)
					verdict = VERDICT_FATAL;
				/* A probe shows whether that is true. */
				if (is_waiting && state == PEER_UP) {
					peer_state.write(index, PEER_SILENT);
					peer_progress.write(index, 0);
				}
			} else if (headers.aeth.syndrome[7:5] ==
				   SYNDROME_ACK) {
				verdict = VERDICT_ACKNOWLEDGED;
				if (state == PEER_SILENT) {
					take_probed.apply(number, psn, low,
							  span, now, verdict,
							  probe_psn);
				} else if (is_waiting) {
					peer_outstanding.write(index,
						(bit<32>)(next[23:0] - 1 -
							  psn));
					peer_progress.write(index, now);
				}
			}
		}
	}
}

#endif /* DART_V1MODEL_RDMA_QUEUE_PAIR_P4 */
