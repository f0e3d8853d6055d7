// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reliable connected queue pair whose requests a switch keeps and sends again, for v1model: which
 * requests are sent when, as "Exactly once" in <dart/ledger.h> says.  The program keeps the
 * requests themselves, in a ring of WINDOW_REQUESTS.
 *
 * Requests are numbered from 0, modulo 2^32: oldest <= next <= fresh <= end, and only requests
 * from oldest on are in the ring.  Requests before oldest are answered, next is sent next, requests
 * from fresh on were never sent.  The lowest 24 bits of a number plus the shift are its PSN.
 *
 * All state belongs to ingress, which handles one packet at a time: it reads the state, changes it
 * and writes it back.  For another queue pair the control plane stops the present one, sets the
 * shift so that fresh gets its first PSN, and sets the state PEER_LOSING, in which the program
 * takes note of the requests without an answer, one after the other, because they are never sent
 * again.  While the queue pair is stopped or broken, ingress changes only the end.
 *
 * The program that includes this defines RDMA_NAME(register): its name for the control plane.
 */
#ifndef DART_V1MODEL_RDMA_WINDOW_P4
#define DART_V1MODEL_RDMA_WINDOW_P4

#include <dart/ledger.h>

#include "shared/rdma/headers.p4"
#include "shared/rdma/verdict.p4"

#define WINDOW_REQUESTS		32w256
#define WINDOW_OUTSTANDING	(32w0 + DART_LEDGER_OUTSTANDING)
#define WINDOW_RETRY_US		(48w1000 * DART_LEDGER_RETRY_MS)
#define WINDOW_RETRY_MAX_US	(48w1000 * DART_LEDGER_RETRY_MAX_MS)

@name(RDMA_NAME(state))
register<bit<8>>(1) window_state;
@name(RDMA_NAME(shift))
register<bit<32>>(1) window_shift;
@name(RDMA_NAME(oldest))
register<bit<32>>(1) window_oldest;
@name(RDMA_NAME(next))
register<bit<32>>(1) window_next;
@name(RDMA_NAME(fresh))
register<bit<32>>(1) window_fresh;
@name(RDMA_NAME(end))
register<bit<32>>(1) window_end;
@name(RDMA_NAME(due))
register<bit<48>>(1) window_due;	/* when all are sent again */
@name(RDMA_NAME(pause))
register<bit<48>>(1) window_pause;	/* how long after the last progress */

struct window_t {
	bit<8> state;
	bit<24> shift;
	bit<32> oldest;
	bit<32> next;
	bit<32> fresh;
	bit<32> end;
	bit<48> due;
	bit<48> pause;
}

control ReadWindow(out window_t window)
{
	bit<32> shift;

	apply {
		window_state.read(window.state, 0);
		window_shift.read(shift, 0);
		window_oldest.read(window.oldest, 0);
		window_next.read(window.next, 0);
		window_fresh.read(window.fresh, 0);
		window_end.read(window.end, 0);
		window_due.read(window.due, 0);
		window_pause.read(window.pause, 0);
		window.shift = shift[23:0];
		if (window.pause == 0)
			window.pause = WINDOW_RETRY_US;
	}
}

/* @state: which ReadWindow() read. */
control WriteWindow(in window_t window, in bit<8> state)
{
	apply {
		window_end.write(0, window.end);
		if (state == PEER_UP || state == PEER_LOSING) {
			if (window.state != state)
				window_state.write(0, window.state);
			window_oldest.write(0, window.oldest);
			window_next.write(0, window.next);
			window_fresh.write(0, window.fresh);
			window_due.write(0, window.due);
			window_pause.write(0, window.pause);
		}
	}
}

/*
 * Takes a response whose source and ICRC are right.  Only a PSN that is outstanding counts, because
 * the network repeats and delays responses, and anyone may send one.
 */
control TakeAnswer(in headers_t headers, in bit<48> now,
		   inout window_t window, out bit<8> verdict)
{
	bit<32> executed;	/* requests before this response */

	apply {
		executed = (bit<32>)(headers.bth.psn - window.oldest[23:0] -
				     window.shift);
		if (window.state != PEER_UP ||
		    executed >= window.fresh - window.oldest) {
			verdict = VERDICT_STALE;
			executed = 0;
		} else if (headers.aeth.syndrome[7:5] == SYNDROME_ACK) {
			verdict = VERDICT_ACKNOWLEDGED;
			executed = executed + 1;
		} else if (headers.aeth.syndrome == SYNDROME_SEQUENCE) {
			verdict = VERDICT_SEQUENCE;
		} else if (headers.aeth.syndrome[7:5] == SYNDROME_NAK) {
			verdict = VERDICT_FATAL;
		} else {
			verdict = VERDICT_OTHER;
			executed = 0;
		}

		if (executed != 0) {
			window.oldest = window.oldest + executed;
			if (window.next - window.oldest > WINDOW_REQUESTS)
				window.next = window.oldest;
			window.pause = WINDOW_RETRY_US;
			window.due = now + WINDOW_RETRY_US;
		}
		if (verdict == VERDICT_SEQUENCE) {
			window.next = window.oldest;
		} else if (verdict == VERDICT_FATAL) {
			/* None of the others was executed, and another queue pair gets them. */
			window.next = window.oldest;
			window.fresh = window.oldest;
			window.state = PEER_BROKEN;
		}
	}
}

/* The requests that are sent now: @count of them, from the number @first on. */
control SendRequests(in bit<48> now, inout window_t window, out bit<32> first,
		     out bit<32> count)
{
	bit<32> room;

	apply {
		count = 0;
		if (window.state == PEER_UP) {
			if (window.oldest != window.fresh &&
			    now >= window.due) {
				window.next = window.oldest;
				window.pause = window.pause << 1;
				if (window.pause > WINDOW_RETRY_MAX_US)
					window.pause = WINDOW_RETRY_MAX_US;
				window.due = now + window.pause;
			}
			room = WINDOW_OUTSTANDING -
			       (window.next - window.oldest);
			count = window.end - window.next;
			if (count > room)
				count = room;
		}
		first = window.next;
		if (count != 0) {
			if (window.oldest == window.fresh)
				window.due = now + window.pause;
			window.next = window.next + count;
			if (window.next - window.fresh <= WINDOW_REQUESTS)
				window.fresh = window.next;
		}
	}
}

#endif /* DART_V1MODEL_RDMA_WINDOW_P4 */
