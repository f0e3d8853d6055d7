// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PSNs of reports, for v1model.  Over a reliable connection the switch follows the PSN that the
 * queue pair expects, as "Transports" in <dart/store.h> says: a packet that is to be reported makes
 * a probe due, and leads to the probe and then to its report.
 *
 * All state of a collector belongs to egress of its port, which handles one packet at a time:
 * ingress sends the answers of the collector there.
 */
#ifndef DART_V1MODEL_SEQUENCE_P4
#define DART_V1MODEL_SEQUENCE_P4

#include <dart/store.h>

#include "shared/rdma/headers.p4"
#include "shared/sizes.p4"
#include "headers.p4"

/* Bits of dart_state.  All are 0 until the first report. */
#define SEQUENCE_FOLLOWED	8w0x01	/* the expected PSN is known */
#define SEQUENCE_PROBING	8w0x02	/* a probe is under way */
#define SEQUENCE_FAR		8w0x04	/* it is the one far from the first PSN */
#define SEQUENCE_REFUSED	8w0x08	/* the queue pair has sent its NAK of the expected PSN */
#define SEQUENCE_BROKEN		8w0x10	/* the queue pair is in the error state */
#define SEQUENCE_NOT(bits)	(8w0xff ^ (bits))

#define FAR_PSN			24w0x7fffff
#define PROBE_REPORTS		(24w0 + DART_STORE_PROBE_REPORTS)
#define PROBE_QUIET_US		48w100000	/* reports without an answer are asked for then */
#define PROBE_RETRY_US		48w20000

@name(".dart_psn")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_next;
@name(".dart_expected")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_expected;	/* the last one known */
@name(".dart_top")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_top; /* after all reports that can have arrived */
@name(".dart_probe_end")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_probe_end; /* after the reports before the probe */
@name(".dart_probe_at")
register<bit<48>>(COLLECTOR_ENTRIES) sequence_probe_at;	/* microseconds */
@name(".dart_state")
register<bit<8>>(COLLECTOR_ENTRIES) sequence_state;
@name(".dart_lost")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_lost;	/* reports, modulo 2^32 */
@name(".dart_stops")
register<bit<32>>(COLLECTOR_ENTRIES) sequence_stops;

struct sequence_t {
	bit<8> state;
	bit<24> next;
	bit<24> expected;
	bit<24> top;
	bit<24> probe_end;
	bit<48> probe_at;
	bit<32> lost;
}

control ReadSequence(in bit<32> index, out sequence_t sequence)
{
	bit<32> next;
	bit<32> expected;
	bit<32> top;
	bit<32> probe_end;

	apply {
		sequence_state.read(sequence.state, index);
		sequence_next.read(next, index);
		sequence_expected.read(expected, index);
		sequence_top.read(top, index);
		sequence_probe_end.read(probe_end, index);
		sequence_probe_at.read(sequence.probe_at, index);
		sequence_lost.read(sequence.lost, index);
		sequence.next = next[23:0];
		sequence.expected = expected[23:0];
		sequence.top = top[23:0];
		sequence.probe_end = probe_end[23:0];
	}
}

control WriteSequence(in bit<32> index, in sequence_t sequence)
{
	apply {
		sequence_state.write(index, sequence.state);
		sequence_next.write(index, (bit<32>)sequence.next);
		sequence_expected.write(index, (bit<32>)sequence.expected);
		sequence_top.write(index, (bit<32>)sequence.top);
		sequence_probe_end.write(index, (bit<32>)sequence.probe_end);
		sequence_probe_at.write(index, sequence.probe_at);
		sequence_lost.write(index, sequence.lost);
	}
}

/* Takes a PSN and returns true if a probe is due. */
control TakeProbe(in bit<48> now, inout sequence_t sequence, out bit<24> psn,
		  out bool is_due)
{
	bit<48> since;

	apply {
		since = now - sequence.probe_at;
		psn = 0;
		is_due = true;
		if (sequence.state & SEQUENCE_PROBING != 0) {
			is_due = since > PROBE_RETRY_US;
		} else if (sequence.state & SEQUENCE_FOLLOWED != 0) {
			is_due = sequence.next - sequence.probe_end >=
				 PROBE_REPORTS ||
				 (since > PROBE_QUIET_US &&
				  sequence.next != sequence.expected);
		}
		if (is_due) {
			sequence.probe_at = now;
			if (sequence.state & SEQUENCE_FOLLOWED != 0) {
				psn = sequence.expected - 1;
				if (sequence.state & SEQUENCE_PROBING == 0)
					sequence.probe_end = sequence.next;
			} else if (sequence.state & SEQUENCE_PROBING == 0) {
				/* This probe takes the place of a report. */
				psn = sequence.next;
				sequence.expected = sequence.next;
				sequence.next = sequence.next + 1;
				sequence.top = sequence.next;
				sequence.probe_end = sequence.next;
			} else {
				sequence.state = sequence.state ^ SEQUENCE_FAR;
				psn = sequence.expected;
				if (sequence.state & SEQUENCE_FAR != 0)
					psn = psn + FAR_PSN;
			}
			sequence.state = sequence.state | SEQUENCE_PROBING;
		}
	}
}

/*
 * The PSN of the next report, or if @is_probe of a probe before it. @is_lost: the queue pair takes
 * nothing any more.
 */
control NextPsn(in bit<8> collector, in bool is_reliable, in bit<48> now,
		out bit<24> psn, out bool is_probe, out bool is_lost)
{
	ReadSequence() read_sequence;
	WriteSequence() write_sequence;
	TakeProbe() take_probe;
	sequence_t sequence;
	bit<32> index;
	bit<32> value;

	apply {
		index = (bit<32>)collector;
		is_probe = false;
		is_lost = false;
		if (!is_reliable) {
			@atomic {
				sequence_next.read(value, index);
				sequence_next.write(index, value + 1);
			}
			psn = value[23:0];
			return;
		}
		read_sequence.apply(index, sequence);
		if (sequence.state & SEQUENCE_BROKEN != 0) {
			sequence.lost = sequence.lost + 1;
			is_lost = true;
			psn = 0;
		} else {
			take_probe.apply(now, sequence, psn, is_probe);
		}
		if (!is_probe && !is_lost) {
			psn = sequence.next;
			sequence.next = sequence.next + 1;
			/* Nothing was answered for all PSNs there are. */
			if (sequence.next == sequence.expected) {
				sequence.next = sequence.expected + 1;
				sequence.lost = sequence.lost + 0xffffff;
			} else if (sequence.next - sequence.expected >
				   sequence.top - sequence.expected) {
				sequence.top = sequence.next;
			}
		}
		write_sequence.apply(index, sequence);
	}
}

/* Takes an answer until it is known where the queue pair stands; a probe is under way. */
control BeginAt(in bit<24> expected, in bool is_acknowledged, in bit<48> now,
		inout sequence_t sequence)
{
	bit<24> sent;	/* PSN of the probe, which is not counted as a report */

	apply {
		sent = sequence.next - sequence.expected;
		if (is_acknowledged &&
		    expected - sequence.expected - 1 < sent) {
			sequence.state = SEQUENCE_FOLLOWED;
			sequence.probe_end = expected;
		} else {
			/*
			 * It stands elsewhere.  After a NAK the next probe has its PSN, as only an
			 * acknowledgement is certain to count from there.
			 */
			sequence.lost = sequence.lost + (bit<32>)(sent - 1);
			sequence.next = expected;
			sequence.top = expected;
			sequence.probe_end = expected;
			sequence.state = 0;
			if (is_acknowledged)
				sequence.state = SEQUENCE_FOLLOWED;
		}
		sequence.expected = expected;
		sequence.probe_at = now;
	}
}

/* Takes an answer with a PSN that the queue pair can expect. */
control GoOn(in bit<24> expected, in bool is_acknowledged,
	     inout sequence_t sequence, out bool has_stopped)
{
	bool is_repeated;	/* a former NAK */

	apply {
		has_stopped = false;
		if (expected != sequence.expected)
			sequence.state = sequence.state &
					 SEQUENCE_NOT(SEQUENCE_REFUSED);
		is_repeated = sequence.state & SEQUENCE_REFUSED != 0;
		sequence.expected = expected;
		/* Reports before the expected PSN were dropped: other reports had their PSNs. */
		if (sequence.next - expected > sequence.top - expected) {
			sequence.lost = sequence.lost -
					(bit<32>)(expected - sequence.next);
			sequence.next = expected;
			sequence.probe_end = expected;
			sequence.state = sequence.state &
					 SEQUENCE_NOT(SEQUENCE_PROBING);
		}
		if (is_acknowledged) {
			has_stopped = sequence.state & SEQUENCE_PROBING != 0 &&
				      sequence.probe_end != expected &&
				      sequence.probe_end - expected <=
				      sequence.top - expected;
			sequence.state = sequence.state &
					 SEQUENCE_NOT(SEQUENCE_PROBING);
		} else if (!is_repeated && sequence.next != expected) {
			has_stopped = true;
		}
		if (has_stopped) {
			sequence.lost = sequence.lost +
					(bit<32>)(sequence.next - expected);
			sequence.next = expected;
			sequence.probe_end = expected;
			sequence.state = SEQUENCE_FOLLOWED | SEQUENCE_REFUSED;
		}
	}
}

/* Takes an answer of a collector, whose source and ICRC are right. */
control TakeAnswer(in headers_t headers, in bit<8> collector, in bit<48> now)
{
	ReadSequence() read_sequence;
	WriteSequence() write_sequence;
	BeginAt() begin_at;
	GoOn() go_on;
	sequence_t sequence;
	bit<32> index;
	bit<32> stops;
	bit<24> expected;
	bool is_acknowledged;
	bool is_known;		/* the PSN can be the expected one */
	bool has_stopped;

	apply {
		index = (bit<32>)collector;
		read_sequence.apply(index, sequence);
		is_acknowledged = headers.aeth.syndrome[7:5] == SYNDROME_ACK;
		expected = headers.bth.psn;
		if (is_acknowledged)
			expected = expected + 1;
		is_known = expected - sequence.expected <=
			   sequence.top - sequence.expected;
		if (sequence.state & SEQUENCE_FOLLOWED == 0)
			is_known = sequence.state & SEQUENCE_PROBING != 0;
		if (sequence.state & SEQUENCE_BROKEN != 0)
			is_known = false;
		if (!is_known)
			return;
		if (is_acknowledged ||
		    headers.aeth.syndrome == SYNDROME_SEQUENCE) {
			if (sequence.state & SEQUENCE_FOLLOWED == 0) {
				begin_at.apply(expected, is_acknowledged, now,
					       sequence);
			} else {
				go_on.apply(expected, is_acknowledged,
					    sequence, has_stopped);
				sequence_stops.read(stops, index);
				if (has_stopped)
					sequence_stops.write(index, stops + 1);
			}
		} else if (headers.aeth.syndrome[7:5] == SYNDROME_NAK) {
			if (sequence.state & SEQUENCE_FOLLOWED == 0)
				expected = sequence.expected + 1;
			sequence.lost = sequence.lost +
					(bit<32>)(sequence.next - expected);
			sequence.next = expected;
			sequence.expected = expected;
			sequence.state = SEQUENCE_BROKEN;
		}
		write_sequence.apply(index, sequence);
	}
}

#endif /* DART_V1MODEL_SEQUENCE_P4 */
