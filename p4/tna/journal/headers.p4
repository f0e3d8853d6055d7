// SPDX-License-Identifier: GPL-2.0-only
/* A batch of two entries of 41 bytes, in 128 bytes: see <dart/journal.h>. */
#ifndef DART_TNA_JOURNAL_HEADERS_P4
#define DART_TNA_JOURNAL_HEADERS_P4

#define JOURNAL_LISTS		64
#define JOURNAL_ENTRY		8w41	/* bytes: time, flow, path */
#define JOURNAL_BATCH		16w128	/* bytes */
#define JOURNAL_BATCH_LOG2	7

header batch_h {
	bit<32> sequence;
	bit<48> start;
	bit<8> count;
	bit<8> entry_length;
}

/* In words that registers take; the key as in clone_h. */
header entry_h {
	bit<32> time_high;
	bit<32> time_low;
	bit<32> source;
	bit<32> tail_0;
	bit<8> tail_1;
	bit<32> tail_2;
	bit<32> hop_0;
	bit<32> hop_1;
	bit<32> hop_2;
	bit<32> hop_3;
	bit<32> hop_4;
}

#define WHOLE_ENTRY(e) e.time_high, e.time_low, e.source, e.tail_0, e.tail_1, \
	e.tail_2, e.hop_0, e.hop_1, e.hop_2, e.hop_3, e.hop_4

header zeros_h {
	bit<240> zeros;
}

header batch_crc_h {
	bit<32> crc;
}

#define HEADERS_OF_PAYLOAD						\
	batch_h batch;							\
	entry_h former;							\
	entry_h latter;							\
	zeros_h zeros;							\
	batch_crc_h batch_crc;

#endif /* DART_TNA_JOURNAL_HEADERS_P4 */
