// SPDX-License-Identifier: GPL-2.0-only
/* The strip of a sketch with four rows: see <dart/sketch.h>. */
#ifndef DART_V1MODEL_STRIP_P4
#define DART_V1MODEL_STRIP_P4

#define STRIP_BYTES		268

/* Counters of 16 columns, row 0 first. */
#define STRIP_COLUMNS							\
	bit<128> column0;						\
	bit<128> column1;						\
	bit<128> column2;						\
	bit<128> column3;						\
	bit<128> column4;						\
	bit<128> column5;						\
	bit<128> column6;						\
	bit<128> column7;						\
	bit<128> column8;						\
	bit<128> column9;						\
	bit<128> column10;						\
	bit<128> column11;						\
	bit<128> column12;						\
	bit<128> column13;						\
	bit<128> column14;						\
	bit<128> column15;

header strip_h {
	bit<32> period;
	bit<16> reporters;
	bit<16> number;
	STRIP_COLUMNS
	bit<32> crc;
}

/* All that the CRC of a strip covers. */
#define STRIP_FIELDS(s)							\
	s.period, s.reporters, s.number,				\
	s.column0, s.column1, s.column2, s.column3, s.column4,		\
	s.column5, s.column6, s.column7, s.column8, s.column9,		\
	s.column10, s.column11, s.column12, s.column13, s.column14,	\
	s.column15

#define FOR_EACH_COLUMN(DO)						\
	DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)			\
	DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)

/* Fills the columns of headers.strip, which is valid, from @from. */
#define STRIP_FILL(from)						\
	headers.strip.column0 = from.column0;				\
	headers.strip.column1 = from.column1;				\
	headers.strip.column2 = from.column2;				\
	headers.strip.column3 = from.column3;				\
	headers.strip.column4 = from.column4;				\
	headers.strip.column5 = from.column5;				\
	headers.strip.column6 = from.column6;				\
	headers.strip.column7 = from.column7;				\
	headers.strip.column8 = from.column8;				\
	headers.strip.column9 = from.column9;				\
	headers.strip.column10 = from.column10;				\
	headers.strip.column11 = from.column11;				\
	headers.strip.column12 = from.column12;				\
	headers.strip.column13 = from.column13;				\
	headers.strip.column14 = from.column14;				\
	headers.strip.column15 = from.column15;

#endif /* DART_V1MODEL_STRIP_P4 */
