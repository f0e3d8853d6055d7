// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reliable connected queue pairs that a switch drives, for Tofino: ingress holds their
 * entire state.
 *
 * A packet accesses a register once, in the stage where the register is: so requests and
 * responses access all of them in the same order.  A response must also change registers
 * that lie before the register that confirms it; a clone of the response, which passes
 * ingress again, changes these.
 *
 *   tea_end	  the first PSN that may not be taken yet: 32 after the first outstanding one
 *   tea_psn	  the next PSN
 *   tea_waiting  the PSN of the WRITE of each READ that waits, in the place of its server
 *		  and of 4 bits of the PSN, or 0: a response takes it once
 *
 * A switch cannot send a request again.  When the peer reports a lost request by a NAK,
 * the switch gives the request up, and the next request takes its PSN. A lost NAK, or the
 * loss of all responses, leaves the queue pair at its limit, until the control plane
 * writes the PSN that the peer expects: see Documentation/p4.md.
 */
#ifndef DART_TNA_RDMA_QUEUE_PAIR_P4
#define DART_TNA_RDMA_QUEUE_PAIR_P4

#include <dart/tea.h>

#include "shared/rdma/headers.p4"
#include "number.p4"

#define QUEUE_PAIRS	64	/* all numbers of 6 bits */
#define WAITING_PLACES	1024	/* QUEUE_PAIRS * DART_TEA_OUTSTANDING_MAX */

/*
 * The PSNs of one lookup; and the distance from an answered READ to the end of the PSNs that it
 * frees.
 */
#define PSNS_AT_ONCE	PSN(2 * DART_TEA_OUTSTANDING_MAX)
#define PSNS_AHEAD	(PSNS_AT_ONCE + PSN(1))

control PsnsEnd(in bit<8> server, in bit<8> loop, in bit<32> to,
		out bit<32> end)
{
	@name(".tea_end")
	Register<bit<32>, bit<8>>(QUEUE_PAIRS, 1) ends;
	RegisterAction<bit<32>, bit<8>, bit<32>>(ends) get = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
		}
	};
	RegisterAction<bit<32>, bit<8>, bit<32>>(ends) set = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			value = to;
			found = to;
		}
	};

	apply {
		if (loop != LOOP_NONE)
			end = set.execute(server);
		else
			end = get.execute(server);
	}
}

/* @psn: the PSN that was taken, 0 if none; or the next PSN. @to: the PSN to set. */
control NextPsn(in bit<8> server, in bit<8> loop, in bool take,
		in bit<32> end, in bit<32> to, out bit<32> psn)
{
	@name(".tea_psn")
	Register<bit<32>, bit<8>>(QUEUE_PAIRS, 1) next;
	RegisterAction<bit<32>, bit<8>, bit<32>>(next) get = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
		}
	};
	RegisterAction<bit<32>, bit<8>, bit<32>>(next) set = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			value = to;
			found = to;
		}
	};
	RegisterAction<bit<32>, bit<8>, bit<32>>(next) add = {
		void apply(inout bit<32> value, out bit<32> taken)
		{
			taken = 0;
			if (value != end) {
				taken = value;
				value = value + PSN(2);
			}
		}
	};

	apply {
		if (take)
			psn = add.execute(server);
		else if (loop == LOOP_REWIND)
			psn = set.execute(server);
		else
			psn = get.execute(server);
	}
}

/*
 * READs that wait, by the PSNs of their WRITEs: adds @next, or removes @asked; @there:
 * whether @asked was among them.
 */
control WaitingRead(in bit<8> server, in bool put, in bit<32> next,
		    in bit<32> asked, out bit<8> there)
{
	Hash<bit<10>>(HashAlgorithm_t.IDENTITY) put_place;
	Hash<bit<10>>(HashAlgorithm_t.IDENTITY) take_place;

	@name(".tea_waiting")
	Register<bit<32>, bit<10>>(WAITING_PLACES, 0) waiting;
	RegisterAction<bit<32>, bit<10>, bit<8>>(waiting) set = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			value = next;
			found = 0;
		}
	};
	RegisterAction<bit<32>, bit<10>, bit<8>>(waiting) take = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			found = 0;
			if (value == asked) {
				found = 1;
				value = 0;
			}
		}
	};

	apply {
		if (put)
			there = set.execute(put_place.get({ server[5:0],
							    next[12:9] }));
		else
			there = take.execute(take_place.get({ server[5:0],
							      asked[12:9] }));
	}
}

#endif /* DART_TNA_RDMA_QUEUE_PAIR_P4 */
