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
 * A probe is a WRITE of 0 bytes with a PSN of the past, which the peer acknowledges with
 * the last PSN that it carried out.  Some peers do not count READs there, so the PSN
 * after it may be used or unused: a second such WRITE, with this PSN, settles the
 * question.
 *
 * The program that includes this defines RDMA_NAME(register): its name for the control
 * plane.
 */
#ifndef DART_V1MODEL_RDMA_QUEUE_PAIR_P4
#define DART_V1MODEL_RDMA_QUEUE_PAIR_P4

#include "shared/rdma/headers.p4"
#include "shared/rdma/verdict.p4"

#define PSNS_AHEAD	24w0x800000	/* from here on a PSN is of the past */

@name(RDMA_NAME(psn))
register<bit<32>>(QUEUE_PAIRS) peer_next;
@name(RDMA_NAME(outstanding))
register<bit<32>>(QUEUE_PAIRS) peer_outstanding; /* PSNs */
@name(RDMA_NAME(state))
register<bit<8>>(QUEUE_PAIRS) peer_state;
@name(RDMA_NAME(progress))
register<bit<48>>(QUEUE_PAIRS) peer_progress;	/* microseconds */

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
		probe_psn = next[23:0] - 1 - outstanding;
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
control ProbePeer(in bit<6> number, in bit<48> now)
{
	apply {
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
 * Frees all outstanding PSNs up to @psn, which is outstanding.  Responses come in
 * order, so earlier responses are lost.
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
		peer_progress.write(index, now);
	}
}

/*
 * Takes a response whose source and ICRC are right.  After VERDICT_DATA the caller
 * checks the rest and calls FreePsns if it is right.  After VERDICT_PROBED the caller
 * sends the second probe, with @probe_psn.
 */
control TakeResponse(in headers_t headers, in bit<6> number, in bit<48> now,
		     out bit<8> verdict, out bit<24> probe_psn)
{
	FreePsns() free_psns;
	bit<32> index;
	bit<32> next;
	bit<32> waiting;
	bit<8> state;
	bit<24> ahead;	/* of the last PSN that is not outstanding */
	bool is_waiting;

	apply {
		index = (bit<32>)number;
		peer_next.read(next, index);
		peer_outstanding.read(waiting, index);
		peer_state.read(state, index);
		ahead = headers.bth.psn - (next[23:0] - 1 - waiting[23:0]);
		is_waiting = ahead != 0 && ahead <= waiting[23:0];
		probe_psn = headers.bth.psn + 1;
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
				if (is_waiting && state != PEER_STOPPED) {
					verdict = VERDICT_SEQUENCE;
					peer_next.write(index,
						(bit<32>)headers.bth.psn);
					peer_outstanding.write(index, 0);
					peer_progress.write(index, now);
				}
			} else if (headers.aeth.syndrome[7:5] ==
				   SYNDROME_NAK) {
				verdict = VERDICT_NAK_STALE;
				if (is_waiting)
					verdict = VERDICT_FATAL;
				if (is_waiting && state != PEER_STOPPED) {
					peer_state.write(index, PEER_SILENT);
					peer_progress.write(index, now);
				}
			} else if (headers.aeth.syndrome[7:5] ==
				   SYNDROME_ACK) {
				verdict = VERDICT_ACKNOWLEDGED;
				/*
				 * Moves only forward, except past the WRITE before an
				 * answered READ. The peer may be ahead of all requests:
				 * a duplicate NAK set the PSN back.
				 */
				if (state == PEER_SILENT &&
				    ahead + 1 < PSNS_AHEAD) {
					verdict = VERDICT_PROBED;
					peer_next.write(index,
						(bit<32>)(headers.bth.psn + 2));
					peer_outstanding.write(index, 0);
					peer_progress.write(index, now);
					peer_state.write(index, PEER_UP);
				} else if (is_waiting) {
					free_psns.apply(number,
							headers.bth.psn, now);
				}
			}
		}
	}
}

#endif /* DART_V1MODEL_RDMA_QUEUE_PAIR_P4 */
