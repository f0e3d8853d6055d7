// SPDX-License-Identifier: GPL-2.0-only
/* Reads the path of a packet from its INT. */
#ifndef DART_PATH_P4
#define DART_PATH_P4

#include "headers.p4"
#include "outcome.p4"
#include "report.p4"

/* The value and the outcome of a packet; the headers do not change. */
control ReadPath(in headers_t headers, inout report_t report,
		 out bit<8> outcome)
{
	apply {
		report.value = 0;
		if (headers.hop[0].isValid())
			report.value[159:128] = headers.hop[0].node;
		if (headers.hop[1].isValid())
			report.value[127:96] = headers.hop[1].node;
		if (headers.hop[2].isValid())
			report.value[95:64] = headers.hop[2].node;
		if (headers.hop[3].isValid())
			report.value[63:32] = headers.hop[3].node;
		if (headers.hop[4].isValid())
			report.value[31:0] = headers.hop[4].node;

		if (!headers.hop[0].isValid())
			outcome = OUTCOME_ANONYMOUS;
		else if (headers.int_md.exceeded == 1 ||
			 headers.int_md.mtu_exceeded == 1)
			outcome = OUTCOME_INCOMPLETE;
		else
			outcome = OUTCOME_REPORT;
	}
}

#endif /* DART_PATH_P4 */
