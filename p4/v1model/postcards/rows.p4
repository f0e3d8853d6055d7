// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a translator, for v1model: see <dart/postcard.h>.  A packet makes one report: a path that
 * is complete when its postcard already has to report the former path of its row is reported when the
 * next postcard of its flow comes, or by its age.  All state belongs to ingress, which handles one
 * packet at a time.
 */
#ifndef DART_V1MODEL_POSTCARDS_ROWS_P4
#define DART_V1MODEL_POSTCARDS_ROWS_P4

#include <dart/postcard.h>

#include "shared/report.p4"
#include "shared/sizes.p4"

#define POSTCARD_ROWS		32768

@name(".postcards_key")
register<bit<520>>(POSTCARD_ROWS) postcards_key;	/* its length, 0: the row is free; the key */
@name(".postcards_path")
register<bit<168>>(POSTCARD_ROWS) postcards_path;	/* hops, values */
@name(".postcards_crcs")
register<bit<352>>(POSTCARD_ROWS) postcards_crcs;
@name(".postcards_since")
register<bit<48>>(POSTCARD_ROWS) postcards_since;	/* the first postcard came, us */
@name(".postcards_reported")
register<bit<8>>(POSTCARD_ROWS) postcards_reported;
@name(".postcards_hand")
register<bit<32>>(1) postcards_hand;		/* the row that is looked at next */
@name(".postcards_incomplete")
register<bit<32>>(1) postcards_incomplete;	/* incomplete paths that were reported */
@name(".postcards_turn")
register<bit<16>>(1) postcards_turn;		/* the same, modulo TURNS */

#define TURNS			840	/* a multiple of each redundancy */

/* How the switch gathers; @port 0: it does not. */
struct translation_t {
	bit<16> port;
	bit<32> mask;		/* rows - 1 */
	bit<48> age;		/* us */
}

#define POSTCARD_IS_UNKNOWN(number, high, low)				\
	(hops > number && values[high:low] == DART_POSTCARD_UNKNOWN)

/* Moves the path of row @index to @report, unless it was reported. */
control ReportRow(in bit<32> index, inout report_t report, inout bool is_due)
{
	bit<8> reported;
	bit<8> hops;
	bit<168> path;
	bit<160> values;
	bit<352> crcs;

	apply {
		postcards_reported.read(reported, index);
		if (reported == 0) {
			postcards_reported.write(index, 1);
			postcards_path.read(path, index);
			postcards_crcs.read(crcs, index);
			hops = path[167:160];
			values = path[159:0];
			report.is_complete = 1;
			if (POSTCARD_IS_UNKNOWN(0, 159, 128) || POSTCARD_IS_UNKNOWN(1, 127, 96) ||
			    POSTCARD_IS_UNKNOWN(2, 95, 64) || POSTCARD_IS_UNKNOWN(3, 63, 32) ||
			    POSTCARD_IS_UNKNOWN(4, 31, 0))
				report.is_complete = 0;
			/* DART_POSTCARD_NO_HOP after the last hop */
			report.value = values | (~160w0 >> (hops << 5));
			report.crcs.share = crcs[351:320];
			report.crcs.checksum0 = crcs[319:288];
			report.crcs.checksum1 = crcs[287:256];
			report.crcs.slot0 = crcs[255:224];
			report.crcs.slot1 = crcs[223:192];
			report.crcs.slot2 = crcs[191:160];
			report.crcs.slot3 = crcs[159:128];
			report.crcs.slot4 = crcs[127:96];
			report.crcs.slot5 = crcs[95:64];
			report.crcs.slot6 = crcs[63:32];
			report.crcs.slot7 = crcs[31:0];
			is_due = true;
		}
	}
}

/* Counts an incomplete path that is reported. */
control TakeTurn(inout report_t report)
{
	bit<32> incomplete;

	apply {
		postcards_turn.read(report.turn, 0);
		if (report.is_complete == 0) {
			postcards_incomplete.read(incomplete, 0);
			postcards_incomplete.write(0, incomplete + 1);
			if (report.turn == TURNS - 1)
				postcards_turn.write(0, 0);
			else
				postcards_turn.write(0, report.turn + 1);
		}
	}
}

/* Adds a postcard to its row, and tells whether @report is due. */
control AddPostcard(in postcard_h postcard, in bit<512> key_bytes, in postcard_crcs_t crcs,
		    in translation_t translation, in bit<48> now, inout report_t report,
		    out bool is_due)
{
	ReportRow() report_former;
	ReportRow() report_row;
	bit<520> key;
	bit<520> row_key;
	bit<168> path;
	bit<160> values;
	bit<48> since;
	bit<32> index;
	bit<32> known;
	bit<8> hops;
	bit<8> shift;
	bool is_complete;

	apply {
		is_due = false;
		index = crcs.checksum1 & translation.mask;
		key = postcard.key_length ++ key_bytes;
		shift = (8w4 - postcard.hop) << 5;
		postcards_key.read(row_key, index);
		postcards_path.read(path, index);
		postcards_since.read(since, index);
		known = (path[159:0] >> shift)[31:0];
		if (row_key != 0 &&
		    (row_key != key || path[167:160] != postcard.hops ||
		     (known != DART_POSTCARD_UNKNOWN && known != postcard.value) ||
		     now - since >= translation.age)) {
			report_former.apply(index, report, is_due);
			row_key = 0;
		}
		if (row_key == 0) {
			path = postcard.hops ++ 160w0;
			postcards_key.write(index, key);
			postcards_crcs.write(index, crcs.share ++ crcs.checksum0 ++
				crcs.checksum1 ++ crcs.slot0 ++ crcs.slot1 ++ crcs.slot2 ++
				crcs.slot3 ++ crcs.slot4 ++ crcs.slot5 ++ crcs.slot6 ++ crcs.slot7);
			postcards_since.write(index, now);
			postcards_reported.write(index, 0);
		}
		path = path | ((bit<168>)postcard.value << shift);
		postcards_path.write(index, path);
		hops = path[167:160];
		values = path[159:0];
		is_complete = !(POSTCARD_IS_UNKNOWN(0, 159, 128) || POSTCARD_IS_UNKNOWN(1, 127, 96) ||
				POSTCARD_IS_UNKNOWN(2, 95, 64) || POSTCARD_IS_UNKNOWN(3, 63, 32) ||
				POSTCARD_IS_UNKNOWN(4, 31, 0));
		if (!is_due && is_complete)
			report_row.apply(index, report, is_due);
	}
}

/* Looks at the row that is next: frees it if its time has passed, and reports its path. */
control LookAtRow(in translation_t translation, in bit<48> now, inout report_t report,
		  inout bool is_due)
{
	ReportRow() report_row;
	bit<520> key;
	bit<48> since;
	bit<32> index;

	apply {
		if (!is_due) {
			postcards_hand.read(index, 0);
			index = (index + 1) & translation.mask;
			postcards_hand.write(0, index);
			postcards_key.read(key, index);
			postcards_since.read(since, index);
			if (key != 0 && now - since >= translation.age) {
				postcards_key.write(index, 0);
				report_row.apply(index, report, is_due);
			}
		}
	}
}

#endif /* DART_V1MODEL_POSTCARDS_ROWS_P4 */
