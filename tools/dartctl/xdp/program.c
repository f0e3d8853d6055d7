// SPDX-License-Identifier: GPL-2.0-only
/* Loads the XDP program and fills its constants and maps. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include <libdart/report/roce_frame.h>

#include "program.h"

#define CRC32_IEEE 0x04c11db7
#define NS_PER_S 1000000000ULL

static const uint32_t polynomials[REPORTER_CRCS] = {
	[REPORTER_CRC_SLOT_0] = DART_STORE_SLOT_0,
	DART_STORE_SLOT_1, DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4, DART_STORE_SLOT_5, DART_STORE_SLOT_6,
	DART_STORE_SLOT_7,
	[REPORTER_CRC_CHECKSUM_0] = DART_STORE_CHECKSUM_0,
	[REPORTER_CRC_CHECKSUM_1] = DART_STORE_CHECKSUM_1,
	[REPORTER_CRC_SHARE] = DART_STORE_SHARE,
};

/* The effects of bytes if one more byte follows them; @effects: of the last byte. */
static void add_byte(uint32_t after[256], const uint32_t before[256], const uint32_t effects[256])
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		after[i] = before[i] >> 8 ^ effects[before[i] & 0xff];
}

/*
 * Fills the tables of a CRC: the effect of each byte on a register of zeros, computed from its effect
 * on a register of ones, and the effect of the bytes that follow it.
 */
static void fill_tables(struct reporter_crc_tables *tables, uint32_t polynomial)
{
	uint32_t (*after)[256] = tables->after;
	unsigned int i, distance;

	for (i = 0; i < 256; i++) {
		const uint8_t byte = ~i;

		after[0][i] = ~dart_store__crc(polynomial, &byte, 1) ^ 0x00ffffff;
	}
	for (distance = 1; distance < 4; distance++)
		add_byte(after[distance], after[distance - 1], after[0]);
}

/* The tables of a word that is the last one, and of a word that another word follows. */
static void fill_icrc_tables(struct reporter_crc_tables tables[2])
{
	const uint32_t *before = tables[0].after[3];
	unsigned int distance;

	fill_tables(&tables[0], CRC32_IEEE);
	for (distance = 0; distance < 4; distance++) {
		add_byte(tables[1].after[distance], before, tables[0].after[0]);
		before = tables[1].after[distance];
	}
}

/* Room for a report and for the WRITE of a batch. */
#define FRAME_MAX DART_JOURNAL_FRAME_MAX

_Static_assert(FRAME_MAX >= DART_ROCE_FRAME_MAX && FRAME_MAX >= DART_SKETCH_FRAME_MAX,
	       "batches are longer than slots and strips");

int xdp_program__lone(const struct dart_collector *collector, struct dart_collectors *collectors,
		      struct dart_error *error)
{
	uint32_t share;

	collectors->list = malloc(sizeof(*collectors->list));
	if (!collectors->list)
		return dart_error__no_memory(error);
	collectors->count = 1;
	collectors->list[0] = *collector;
	collectors->shares[0] = 0;
	for (share = 1; share < DART_STORE_SHARES; share++)
		collectors->shares[share] = DART_COLLECTOR_NONE;
	return 0;
}

static void build_strip(const struct xdp_setup *setup, uint8_t frame[FRAME_MAX])
{
	const uint8_t zeros[DART_SKETCH_STRIP_MAX] = { 0 };
	const struct dart_sketch_write write = {
		.length = dart_sketch_geometry__strip_length(&setup->sketch->geometry),
		.bytes = zeros,
	};

	dart_sketch_target__frame(setup->sketch, setup->out_mac, &write, 0, frame);
}

/*
 * Builds a WRITE to @collector, for its constant part: with PSN 0, to list 0 of a journal or of
 * strip 0 of a sketch.
 */
static void build(const struct xdp_setup *setup, const struct dart_collector *collector,
		  uint32_t share, uint8_t frame[FRAME_MAX])
{
	const struct dart_store_place place = { .checksum = 1, .share = share };
	const uint8_t zeros[DART_JOURNAL_BATCH_MAX] = { 0 };
	struct dart_journal_write write = { .bytes = zeros };

	if (setup->sketch) {
		build_strip(setup, frame);
		return;
	}
	if (!setup->journal) {
		dart_roce_frame__build(collector, setup->out_mac, &place, 0, zeros, 0, frame);
		return;
	}
	write.length = 1u << setup->journal->geometry.batch_log2;
	dart_journal_target__frame(setup->journal, setup->out_mac, 0, &write, 0, frame);
}

void xdp_program__share_row(const struct xdp_setup *setup, uint32_t share,
			    struct reporter_share *row)
{
	const size_t bth_end = offsetof(struct dart_roce_headers, reth);
	uint16_t collector = setup->collectors.shares[share];
	uint8_t frame[FRAME_MAX];

	*row = (struct reporter_share){ .collector = COLLECTOR_NONE };
	if (collector == DART_COLLECTOR_NONE)
		return;
	row->collector = collector;
	build(setup, &setup->collectors.list[collector], share, frame);
	row->icrc = ~le32toh(dart_roce_frame__icrc(frame, bth_end + DART_ROCE_ICRC_LENGTH));
}

static int fill_shares(const struct xdp_setup *setup, int map)
{
	struct reporter_share share;
	uint32_t number;

	for (number = 0; number < DART_STORE_SHARES; number++) {
		xdp_program__share_row(setup, number, &share);
		if (bpf_map_update_elem(map, &number, &share, BPF_ANY))
			return -errno;
	}
	return 0;
}

static struct reporter_journal journal_of(const struct dart_journal_target *target)
{
	return (struct reporter_journal){
		.lists_log2 = target->geometry.lists_log2,
		.batches_log2 = target->geometry.batches_log2,
		.batch_log2 = target->geometry.batch_log2,
		.entry_length = target->geometry.entry_length,
	};
}

bool xdp_program__has_answers(const struct dart_collectors *collectors)
{
	uint32_t i;

	for (i = 0; i < collectors->count; i++)
		if (collectors->list[i].is_reliable)
			return true;
	return false;
}

/* Nothing will answer the reports to the former queue pair. */
void xdp_program__sequence_row(const struct dart_collector *collector,
			       const struct reporter_sequence *former,
			       struct reporter_sequence *row)
{
	*row = (struct reporter_sequence){
		.first_psn = collector->first_psn,
		.next = collector->first_psn,
		.lost = former->lost,
		.stops = former->stops,
	};
	if (former->state & (SEQUENCE_FOLLOWED | SEQUENCE_ASKING))
		row->lost += (former->next - former->expected) & DART_ROCE_PSN_MASK;
}

struct reporter_source xdp_program__source(const struct dart_collector *collector)
{
	return (struct reporter_source){ collector->ip.s_addr, htobe32(collector->qpn) };
}

static int fill_sequence(const struct dart_collector *collector, uint32_t number,
			 const struct xdp_reporter_bpf *object)
{
	const struct reporter_sequence none = { .state = 0 };
	const struct reporter_source source = xdp_program__source(collector);
	struct reporter_sequence row;

	xdp_program__sequence_row(collector, &none, &row);
	if (bpf_map_update_elem(bpf_map__fd(object->maps.sequences), &number, &row, BPF_ANY))
		return -errno;
	if (!collector->is_reliable)
		return 0;
	return bpf_map_update_elem(bpf_map__fd(object->maps.answers), &source, &number, BPF_ANY) ?
		       -errno : 0;
}

void xdp_program__collector_row(const struct xdp_setup *setup, uint32_t number,
				struct reporter_collector *row)
{
	const struct dart_collector *collector = &setup->collectors.list[number];
	uint8_t frame[FRAME_MAX];

	/* Comparisons of rows include their padding. */
	memset(row, 0, sizeof(*row));
	row->out_interface = setup->out_interface;
	row->redundancy_max = dart_collector__redundancy_max(collector);
	row->is_reliable = collector->is_reliable;
	if (setup->sketch)
		row->kind = setup->sketch->geometry.kind;
	if (setup->journal)
		row->journal = journal_of(setup->journal);
	else if (setup->sketch)
		row->slots_log2 = setup->sketch->geometry.columns_log2;
	else
		row->slots_log2 = __builtin_ctzll(collector->geometry.slots);
	row->memories[0] = (struct reporter_memory){
		.rkey = htobe32(collector->rkey),
		.redundancy = collector->geometry.redundancy,
		.base = collector->base,
	};
	build(setup, collector, 0, frame);
	memcpy(row->constant, frame, sizeof(row->constant));
}

static int fill_collector(const struct xdp_setup *setup, uint32_t number, int map)
{
	struct reporter_collector row;

	xdp_program__collector_row(setup, number, &row);
	return bpf_map_update_elem(map, &number, &row, BPF_ANY) ? -errno : 0;
}

static int fill_reports(const struct dart_collector *collector, uint32_t number, int map)
{
	struct reporter_reports row = {
		.first_psn = collector->first_psn,
		.qpn = collector->qpn,
		.address = { 0, 0, htobe32(0xffff), collector->ip.s_addr },
	};

	memcpy(row.store, collector->name, sizeof(row.store));
	return bpf_map_update_elem(map, &number, &row, BPF_ANY) ? -errno : 0;
}

/* The highest redundancy of all collectors, 1 without stores; others get fewer clones. */
static uint32_t clones_of(const struct dart_collectors *collectors)
{
	uint32_t clones = 1, i;

	for (i = 0; i < collectors->count; i++)
		if (dart_collector__redundancy_max(&collectors->list[i]) > clones)
			clones = dart_collector__redundancy_max(&collectors->list[i]);
	return clones;
}

static int fill_copies(const struct xdp_setup *setup, const struct xdp_reporter_bpf *object)
{
	const struct bpf_devmap_val way = {
		.ifindex = setup->out_interface,
		.bpf_prog.fd = bpf_program__fd(object->progs.dart_copy),
	};
	uint32_t i;

	for (i = 0; i < clones_of(&setup->collectors); i++)
		if (bpf_map_update_elem(bpf_map__fd(object->maps.copies), &i, &way, BPF_ANY))
			return -errno;
	return 0;
}

static int fill_maps(const struct xdp_setup *setup, const struct xdp_reporter_bpf *object)
{
	uint32_t number;
	int ret;

	ret = fill_shares(setup, bpf_map__fd(object->maps.shares));
	for (number = 0; !ret && number < setup->collectors.count; number++)
		ret = fill_collector(setup, number, bpf_map__fd(object->maps.collectors)) ?:
			      fill_sequence(&setup->collectors.list[number], number, object) ?:
			      fill_reports(&setup->collectors.list[number], number,
					   bpf_map__fd(object->maps.reporter_to));
	if (!ret && setup->all_copies)
		ret = fill_copies(setup, object);
	return ret;
}

/* The kernel counts TAI from UTC by this offset, which is 0 where no program has set it. */
static uint64_t tai_ahead(void)
{
	struct timex time = { .modes = 0 };

	return adjtimex(&time) < 0 || time.tai < 0 ? 0 : time.tai * NS_PER_S;
}

static int configure_journal(const struct dart_journal_target *target,
			     struct xdp_reporter_bpf *object)
{
	struct xdp_reporter_bpf__rodata *constants = object->rodata;

	constants->journal = journal_of(target);
	constants->journal_capacity = dart_journal_geometry__capacity(&target->geometry);
	constants->journal_start = dart_journal__start();
	constants->tai_ahead = tai_ahead();
	return bpf_map__set_max_entries(object->maps.lists, 1u << target->geometry.lists_log2);
}

/* Loads only the programs that the setup needs: older kernels lack helpers of the others. */
static int choose_programs(const struct xdp_setup *setup, struct xdp_reporter_bpf *object)
{
	const bool appends = setup->journal, gathers = setup->translation.port;
	const bool merges = setup->sketch;
	const struct {
		struct bpf_program *program;
		bool is_needed;
	} programs[] = {
		{ object->progs.dart_reporter, !appends && !gathers && !merges },
		{ object->progs.dart_copy, setup->all_copies },
		{ object->progs.dart_appender, appends },
		{ object->progs.dart_flush, appends },
		{ object->progs.dart_translator, gathers },
		{ object->progs.dart_flush_row, gathers },
		{ object->progs.dart_merger, merges },
		{ object->progs.dart_flush_sum, merges },
	};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(programs) / sizeof(programs[0]); i++)
		ret = bpf_program__set_autoload(programs[i].program, programs[i].is_needed);
	return ret;
}

const struct bpf_program *xdp_program__main(const struct xdp_reporter_bpf *object)
{
	if (bpf_program__autoload(object->progs.dart_appender))
		return object->progs.dart_appender;
	if (bpf_program__autoload(object->progs.dart_translator))
		return object->progs.dart_translator;
	if (bpf_program__autoload(object->progs.dart_merger))
		return object->progs.dart_merger;
	return object->progs.dart_reporter;
}

static int configure(const struct xdp_setup *setup, struct xdp_reporter_bpf *object)
{
	const struct dart_collectors *collectors = &setup->collectors;
	struct xdp_reporter_bpf__rodata *constants = object->rodata;
	int cpus = libbpf_num_possible_cpus(), ret, i;

	if (cpus < 0)
		return cpus;
	ret = setup->journal ? configure_journal(setup->journal, object) : 0;
	if (ret)
		return ret;
	for (i = 0; i < REPORTER_CRCS; i++)
		fill_tables(&constants->key_tables[i], polynomials[i]);
	fill_icrc_tables(constants->icrc_tables);
	constants->int_port = htobe16(setup->int_port);
	constants->report_port = htobe16(setup->report_port);
	constants->out_interface = setup->out_interface;
	constants->checksum_length = collectors->list[0].geometry.checksum_bits / 8;
	constants->all_copies = setup->all_copies;
	constants->has_answers = xdp_program__has_answers(collectors);
	constants->clones = clones_of(collectors);
	constants->translation = setup->translation;
	constants->merging = setup->merging;

	return bpf_map__set_max_entries(object->maps.reporter, cpus)			     ?:
		       bpf_map__set_max_entries(object->maps.reporter_to, collectors->count) ?:
		       bpf_map__set_max_entries(object->maps.collectors, collectors->count)  ?:
		       bpf_map__set_max_entries(object->maps.sequences, collectors->count)   ?:
		       bpf_map__set_max_entries(object->maps.answers, 2 * collectors->count) ?:
		       bpf_map__set_max_entries(object->maps.copies, constants->clones)	     ?:
		       bpf_map__set_max_entries(object->maps.rows,
						1u << setup->translation.rows_log2)	     ?:
		       bpf_map__set_max_entries(object->maps.sums,
						DART_SKETCH_BANKS
							<< setup->merging.strips_log2)	     ?:
		       choose_programs(setup, object);
}

int xdp_program__load(const struct xdp_setup *setup, struct xdp_reporter_bpf **result,
		      struct dart_error *error)
{
	struct xdp_reporter_bpf *object = xdp_reporter_bpf__open();
	int ret = object ? 0 : -errno;

	if (!ret)
		ret = configure(setup, object) ?:
		      xdp_reporter_bpf__load(object) ?:
		      fill_maps(setup, object);
	if (ret) {
		xdp_reporter_bpf__destroy(object);
		return dart_error__system(error, -ret, "cannot load the XDP program");
	}
	*result = object;
	return 0;
}
