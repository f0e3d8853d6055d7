// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of requests to a ledger, for v1model: each adds an amount to the word at an offset.
 * Ingress writes a request before its first frame is on its way, and overwrites it only after it
 * was executed; a frame that egress forms of it later repeats a PSN that the collector ignores.
 */
#ifndef DART_V1MODEL_LEDGER_REQUESTS_P4
#define DART_V1MODEL_LEDGER_REQUESTS_P4

#include "shared/ledger/state.p4"
#include "shared/report.p4"
#include "v1model/rdma/window.p4"

@name(".ledger_offset")
register<bit<64>>(WINDOW_REQUESTS) ledger_offset;
@name(".ledger_amount")
register<bit<64>>(WINDOW_REQUESTS) ledger_amount;
/* Of the ledger, or the number of rows for the total: the control plane counts what is lost. */
@name(".ledger_row")
register<bit<8>>(WINDOW_REQUESTS) ledger_row;
@name(".ledger_total")
register<bit<64>>(1) ledger_total;	/* which no request has yet */
@name(".ledger_total_since")
register<bit<48>>(1) ledger_total_since;

/* Amounts of requests that the collector may or may not have executed, by row. */
@name(".ledger_lost")
register<bit<64>>(DART_LEDGER_ROWS_MAX + 1) ledger_lost;

#define LEDGER_AT(number)	((number) & (WINDOW_REQUESTS - 1))

#define LEDGER_ENQUEUE(number_of_row, word, sum)			\
	ledger_offset.write(LEDGER_AT(window.end), (word) << 3);	\
	ledger_amount.write(LEDGER_AT(window.end), sum);		\
	ledger_row.write(LEDGER_AT(window.end), number_of_row);		\
	window.end = window.end + 1;

#define LEDGER_ENQUEUE_ROW(n)						\
	if (n < ledger.rows) {						\
		FLOW_CRC(slot##n, report)				\
		word = n * ((bit<64>)ledger.mask + 1) +		\
		       (bit<64>)(slot##n & ledger.mask);		\
		LEDGER_ENQUEUE(n, word, row.sum)			\
	}

/* Makes requests of a row of the cache, for which there is room. */
control SendRow(in ledger_row_t row, in ledger_t ledger, inout window_t window)
{
	report_t report;
	bit<64> word;
	bit<64> total;
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;
	bit<32> slot4;
	bit<32> slot5;
	bit<32> slot6;
	bit<32> slot7;

	apply {
		report.key = row.key[303:296];
		report.source = row.key[295:168];
		report.destination = row.key[167:40];
		report.source_port = row.key[39:24];
		report.destination_port = row.key[23:8];
		report.protocol = row.key[7:0];
		LEDGER_ENQUEUE_ROW(0)
		LEDGER_ENQUEUE_ROW(1)
		LEDGER_ENQUEUE_ROW(2)
		LEDGER_ENQUEUE_ROW(3)
		LEDGER_ENQUEUE_ROW(4)
		LEDGER_ENQUEUE_ROW(5)
		LEDGER_ENQUEUE_ROW(6)
		LEDGER_ENQUEUE_ROW(7)
		ledger_total.read(total, 0);
		if (total == 0)
			ledger_total_since.write(0, row.since);
		ledger_total.write(0, total + row.sum);
	}
}

/* Makes a request of the amounts for the total, if it is due and there is room. */
control SendTotal(in ledger_t ledger, in bit<48> now, inout window_t window)
{
	bit<64> total;
	bit<48> since;

	apply {
		ledger_total.read(total, 0);
		ledger_total_since.read(since, 0);
		if (total != 0 && now - since >= LEDGER_FLUSH_US &&
		    window.end - window.oldest < WINDOW_REQUESTS) {
			LEDGER_ENQUEUE(ledger.rows, (bit<64>)ledger.rows *
				       ((bit<64>)ledger.mask + 1), total)
			ledger_total.write(0, 0);
		}
	}
}

/* In the state PEER_LOSING: one request more is lost, or the next queue pair begins. */
control LoseRequest(inout window_t window)
{
	bit<64> amount;
	bit<64> lost;
	bit<8> row;

	apply {
		if (window.state == PEER_LOSING) {
			if (window.oldest == window.fresh) {
				window.next = window.fresh;
				window.pause = WINDOW_RETRY_US;
				window.state = PEER_UP;
			} else {
				ledger_amount.read(amount,
						   LEDGER_AT(window.oldest));
				ledger_row.read(row, LEDGER_AT(window.oldest));
				ledger_lost.read(lost, (bit<32>)row);
				ledger_lost.write((bit<32>)row, lost + amount);
				window.oldest = window.oldest + 1;
			}
		}
	}
}

#endif /* DART_V1MODEL_LEDGER_REQUESTS_P4 */
