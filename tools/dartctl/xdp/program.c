// SPDX-License-Identifier: GPL-2.0-only
/* Loads the XDP program and fills its constants and maps. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include <libdart/report/roce_frame.h>

#include "program.h"

#define CRC32_IEEE 0x04c11db7

static const uint32_t polynomials[REPORTER_CRCS] = {
	[REPORTER_CRC_SLOT_0] = DART_STORE_SLOT_0,
	DART_STORE_SLOT_1, DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4, DART_STORE_SLOT_5, DART_STORE_SLOT_6,
	DART_STORE_SLOT_7,
	[REPORTER_CRC_CHECKSUM_0] = DART_STORE_CHECKSUM_0,
	[REPORTER_CRC_CHECKSUM_1] = DART_STORE_CHECKSUM_1,
	[REPORTER_CRC_SHARE] = DART_STORE_SHARE,
};

/*
 * Fills the CRC table: the effect of each byte on a register of zeros, computed from its effect on
 * a register of ones.
 */
static void table__fill(uint32_t table[256], uint32_t polynomial)
{
	unsigned int i;

	for (i = 0; i < 256; i++) {
		const uint8_t byte = ~i;

		table[i] = ~dart_store__crc(polynomial, &byte, 1) ^ 0x00ffffff;
	}
}

static void tables__fill(struct xdp_reporter_bpf__rodata *constants)
{
	uint32_t (*icrc)[256] = constants->icrc_tables;
	unsigned int i, distance;

	for (i = 0; i < REPORTER_CRCS; i++)
		table__fill(constants->crc_tables[i], polynomials[i]);
	table__fill(icrc[0], CRC32_IEEE);
	for (distance = 1; distance < 4; distance++)
		for (i = 0; i < 256; i++)
			icrc[distance][i] = icrc[distance - 1][i] >> 8 ^
					    icrc[0][icrc[distance - 1][i] & 0xff];
}

/* Builds a report to @collector, for its constant part. */
static void build(const struct xdp_setup *setup, const struct dart_collector *collector,
		  uint32_t share, uint8_t frame[DART_ROCE_FRAME_MAX])
{
	const struct dart_store_place place = { .checksum = 1, .share = share };
	const uint8_t value[DART_STORE_VALUE_MAX] = { 0 };

	dart_roce_frame__build(collector, setup->out_mac, &place, 0, value, 0, frame);
}

void xdp_program__share_row(const struct xdp_setup *setup, uint32_t share,
			    struct reporter_share *row)
{
	const size_t bth_end = offsetof(struct dart_roce_headers, reth);
	uint16_t collector = setup->collectors.shares[share];
	uint8_t frame[DART_ROCE_FRAME_MAX];

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

void xdp_program__collector_row(const struct xdp_setup *setup, uint32_t number,
				struct reporter_collector *row)
{
	const struct dart_collector *collector = &setup->collectors.list[number];
	uint8_t frame[DART_ROCE_FRAME_MAX];

	/* Comparisons of rows include their padding. */
	memset(row, 0, sizeof(*row));
	row->redundancy_max = dart_collector__redundancy_max(collector);
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

/* The highest redundancy of all collectors; collectors with a lower one get fewer clones. */
static uint32_t clones_of(const struct dart_collectors *collectors)
{
	uint32_t clones = 0, i;

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
			      fill_reports(&setup->collectors.list[number], number,
					   bpf_map__fd(object->maps.reporter_to));
	if (!ret && setup->all_copies)
		ret = fill_copies(setup, object);
	return ret;
}

static int configure(const struct xdp_setup *setup, struct xdp_reporter_bpf *object)
{
	const struct dart_collectors *collectors = &setup->collectors;
	struct xdp_reporter_bpf__rodata *constants = object->rodata;
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 0)
		return cpus;
	tables__fill(constants);
	constants->int_port = htobe16(setup->int_port);
	constants->report_port = htobe16(setup->report_port);
	constants->out_interface = setup->out_interface;
	constants->checksum_length = collectors->list[0].geometry.checksum_bits / 8;
	constants->all_copies = setup->all_copies;
	constants->clones = clones_of(collectors);

	return bpf_map__set_max_entries(object->maps.reporter, cpus)			     ?:
		       bpf_map__set_max_entries(object->maps.reporter_to, collectors->count) ?:
		       bpf_map__set_max_entries(object->maps.collectors, collectors->count)  ?:
		       bpf_map__set_max_entries(object->maps.copies, constants->clones)	     ?:
		       bpf_program__set_autoload(object->progs.dart_copy, setup->all_copies);
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
