// SPDX-License-Identifier: GPL-2.0-only
/* Flaws that the bytes of a response alone show: see "Responses" in <dart/tea.h>. */
#ifndef DART_TNA_TEA_JUDGE_P4
#define DART_TNA_TEA_JUDGE_P4

#include "hash.p4"
#include "headers.p4"
#include "shared/tea/outcome.p4"

/* Sets @outcome: TEA_FOUND if the data of a READ are right. */
control TeaJudge(inout headers_t headers, in bool is_damaged,
		 in bit<16> excess, in bit<8> server_known,
		 in bit<24> table_epoch, inout bit<8> outcome)
{
	TeaTagHash() tag_hash;
	bit<32> check;
	bit<32> psn_excess;
	bit<24> epoch_excess;

	action judge(bit<8> result)
	{
		outcome = result;
	}

	table flaws {
		key = {
			server_known : ternary;
			headers.response.queue_pair : ternary;
			headers.response.opcode : ternary;
			headers.response.syndrome : ternary;
			headers.ports.isValid() : ternary;
			is_damaged : ternary;
			excess : ternary;
			psn_excess[23:0] : ternary @name("psn_excess");
			epoch_excess : ternary;
			check : ternary;
		}
		actions = { judge; }
		const default_action = judge(TEA_CHECK);
		const entries = {
			(0, _, _, _, _, _, _, _, _, _) : judge(TEA_SOURCE);
			(_, DART_TEA_SWITCH_QPN, RDMA_ACKNOWLEDGE,
			 SYNDROME_SEQUENCE, _, _, _, _, _, _) : judge(TEA_NAK);
			(_, DART_TEA_SWITCH_QPN, RDMA_ACKNOWLEDGE,
			 0x60 &&& 0xe0, _, _, _, _, _, _) :
				judge(TEA_NAK_FATAL);
			(_, DART_TEA_SWITCH_QPN, RDMA_ACKNOWLEDGE,
			 0 &&& 0xe0, _, _, _, _, _, _) :
				judge(TEA_ACKNOWLEDGED);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, true, false, 0, 1, 0, 0) :
				judge(TEA_FOUND);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, true, false, 0, 1, 0, _) :
				judge(TEA_CHECK);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, _, _, 0, 1, 0, _) : judge(TEA_CHECK);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, _, _, 0, 1, _, _) : judge(TEA_EPOCH);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, _, _, 0, _, _, _) : judge(TEA_TAG);
			(_, DART_TEA_SWITCH_QPN, RDMA_READ_RESPONSE_ONLY,
			 0 &&& 0xe0, _, _, _, _, _, _) : judge(TEA_LENGTH);
			(_, _, _, _, _, _, _, _, _, _) : judge(TEA_MALFORMED);
		}
		size = 12;
	}

	apply {
		tag_hash.apply(headers, headers.row.epoch, check);
		check = check ^ headers.tag.check;
		psn_excess = headers.response.psn - headers.tag.psn;
		epoch_excess = headers.row.epoch - table_epoch;
		flaws.apply();
	}
}

#endif /* DART_TNA_TEA_JUDGE_P4 */
