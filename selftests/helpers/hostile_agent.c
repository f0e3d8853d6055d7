// SPDX-License-Identifier: GPL-2.0-only
/*
 * hostile_agent KIND...: listens in place of an agent, and answers the first connection
 * in the first of these ways, the second in the second, and all further connections in
 * the last.
 *
 *   noise        a handshake of random bytes
 *   silence      an empty handshake
 *   version      a handshake of another version
 *   older        a handshake of the version before
 *   tiny, huge   a control region of 1 byte, of 2^32 - 1 bytes
 *   reject       a rejected connection, without a reason
 *   outdated     a rejection by an agent of an older version
 *   unwilling    a rejection for a reason
 *   damaged      a table of random bytes
 *   unfinished   a table that is being changed for ever
 *   growing      a table that is longer than the region
 *   rkey         a table whose memory region has a wrong rkey
 *   honest       a valid table with one counter
 *   many         a valid table with 10,000 entries, and another that comes and goes
 *                four times a second
 *   mute         no answer to the request for a connection
 *   mirror-noise a valid table with one counter, and updates with random bytes, as fast as
 *                the controller takes them
 *   mirror-beyond the same table, and one byte WRITTEN beyond the mirror
 *
 * To readers of stores:
 *
 *   store-version, store-slots, store-value, store-redundancy, store-base
 *                a store of another version, or of invalid geometry
 *   store-rkey   a store with a wrong rkey
 *
 * To readers of lookup tables:
 *
 *   table-version, table-rows, table-rkey
 *                a table of another version, of invalid geometry, with a wrong rkey
 *   table-zeros  a table whose rows have bytes of 0 only
 *
 * Serves until it is killed; notifies that it is ready as dartd does.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_cma.h>
#include <systemd/sd-daemon.h>

#include <dart/store_access.h>
#include <dart/tea.h>
#include <dart/tea_access.h>

#include <libdart/table/table_writer.h>

#define REGION_LENGTH	65536
#define MANY_LENGTH	(4 << 20)
#define MANY_ENTRIES	10000
#define MANY_CHANGE_MS	250

static const char *kind = "";
static _Alignas(4096) uint8_t region[MANY_LENGTH];
static _Alignas(4096) uint64_t value;
static _Alignas(4096) uint8_t noise_bytes[REGION_LENGTH];
static struct dart_table_writer *writer;
static struct dart_control_mirror mirror; /* that the last controller offered */

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "hostile_agent: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int is(const char *name)
{
	return !strcmp(kind, name);
}

/* The objects of the table and its entries. */
static struct {
	struct dart_memory_region memory_region;
	struct dart_range range;
	struct dart_entry entries[MANY_ENTRIES];
	char names[MANY_ENTRIES][sizeof("entry-1234567890")];
	struct dart_table table;
} content = {
	.range = {
		.stride = sizeof(value),
		.copies = 1,
		.length = sizeof(value),
	},
	.table = {
		.generation = 1,
		.instance = 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 1,
		.page_size = 4096,
		.lease_ms = 2 * DART_CONTROL_RETRIES_MS,
		.memory_regions = &content.memory_region,
		.memory_region_count = 1,
		.entries = content.entries,
	},
};

static struct dart_schema *make_schema(void)
{
	static const struct dart_field field = {
		.name = "value",
		.unit = "",
		.width = 8,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	struct dart_schema *schema = dart_schema__new("schema", sizeof(value));

	if (!schema || dart_schema__add(schema, &field))
		fail("schema");
	return schema;
}

static void fill_content(uint32_t rkey)
{
	struct dart_schema *schema = make_schema();
	struct dart_table *table = &content.table;
	uint32_t i;

	content.memory_region = (struct dart_memory_region){
		.address = (uintptr_t)&value,
		.length = sizeof(value),
		.rkey = is("rkey") ? rkey ^ 0x5500 : rkey,
	};
	content.range.address = content.memory_region.address;
	table->entry_count = is("many") ? MANY_ENTRIES : 1;
	for (i = 0; i < table->entry_count; i++) {
		snprintf(content.names[i], sizeof(content.names[i]),
			 is("many") ? "entry-%u" : "entry", i);
		content.entries[i] = (struct dart_entry){
			.name = content.names[i],
			.schema = schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_CPU,
			.copies = 1,
			.ranges = &content.range,
			.range_count = 1,
		};
	}
}

/* Returns the length of the table, bytes. */
static int write_table(uint32_t rkey)
{
	struct dart_control_header *header = (void *)region;
	int used;
	size_t i;

	fill_content(rkey);
	dart_table_writer__free(writer);
	writer = dart_table_writer__new(region, sizeof(region));
	if (!writer)
		fail("writer");
	used = dart_table_writer__rewrite(writer, &content.table);
	if (used < 0) {
		errno = -used;
		fail("table");
	}
	if (is("damaged"))
		for (i = 0; i < REGION_LENGTH; i++)
			region[i] = random();
	if (is("unfinished"))
		header->generation_begin = htole64(2);
	if (is("growing"))
		header->table_length = htole32(2 * sizeof(region));
	return used;
}

/* Adds an entry to the table of "many", or removes it. */
static void change_table(void)
{
	static bool is_there;
	struct dart_entry entry = content.entries[0];
	struct dart_table more = content.table;
	int used;

	entry.name = "one-more";
	more.generation = ++content.table.generation;
	more.memory_region_count = 0;
	more.entries = &entry;
	more.entry_count = !is_there;
	used = is_there ? dart_table_writer__remove(writer, &more, entry.name) :
			  dart_table_writer__append(writer, &more);
	is_there = !is_there;
	if (used < 0) {
		errno = -used;
		fail("change");
	}
}

static struct ibv_mr *expose(struct ibv_pd *pd, void *bytes, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, bytes, length, IBV_ACCESS_REMOTE_READ);

	if (!mr)
		fail("memory region");
	return mr;
}

static struct dart_control_accept make_accept(struct ibv_pd *pd)
{
	static struct ibv_mr *region_mr, *value_mr;
	struct dart_control_accept accept = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.address = htole64((uintptr_t)region),
		.length = htole32(sizeof(region)),
	};
	struct timespec now;

	if (!region_mr) {
		region_mr = expose(pd, region, sizeof(region));
		value_mr = expose(pd, &value, sizeof(value));
	}
	accept.rkey = htole32(region_mr->rkey);
	accept.used = htole32(write_table(value_mr->rkey));

	if (is("noise"))
		memset(&accept, 0xa5, sizeof(accept));
	clock_gettime(CLOCK_REALTIME, &now);
	accept.time_ns = htole64(now.tv_sec * 1000000000ULL + now.tv_nsec);
	if (is("version"))
		accept.abi_version = htole32(DART_CONTROL_ABI_VERSION + 1);
	if (is("older"))
		accept.abi_version = htole32(DART_CONTROL_ABI_VERSION - 1);
	if (is("tiny"))
		accept.used = htole32(1);
	if (is("huge"))
		accept.used = htole32(UINT32_MAX);
	return accept;
}

static struct dart_store_accept make_store_accept(struct ibv_pd *pd)
{
	static struct ibv_mr *mr;

	if (!mr)
		mr = expose(pd, region, sizeof(region));
	return (struct dart_store_accept){
		.magic = htole64(DART_STORE_ACCESS_MAGIC),
		.abi_version = htole32(DART_STORE_ACCESS_ABI_VERSION + is("store-version")),
		.rkey = htole32(mr->rkey ^ (is("store-rkey") ? 0x5500 : 0)),
		.base = htole64(is("store-base") ? UINT64_MAX : (uintptr_t)region),
		.slots_log2 = htole32(is("store-slots") ? 64 : 4),
		.value_length = htole32(is("store-value") ? 65 : 20),
		.checksum_bits = htole32(32),
		.redundancy = htole32(is("store-redundancy") ? UINT32_MAX : 2),
	};
}

static struct dart_tea_accept make_table_accept(struct ibv_pd *pd)
{
	static uint8_t zeros[8192];
	static struct ibv_mr *mr;

	if (!mr)
		mr = expose(pd, zeros, sizeof(zeros));
	return (struct dart_tea_accept){
		.magic = htole64(DART_TEA_ACCESS_MAGIC),
		.abi_version = htole32(DART_TEA_ACCESS_ABI_VERSION + is("table-version")),
		.base = htole64((uintptr_t)zeros),
		.rows_log2 = htole32(is("table-rows") ? 64 : 1),
		.cells = htole32(4),
		.key_length = htole32(13),
		.value_length = htole32(7),
		.packet_length = htole32(DART_TEA_PACKET),
		.epoch = htole32(1),
		.rkey = htole32(mr->rkey ^ (is("table-rkey") ? 0x5500 : 0)),
	};
}

/* WRITEs @length bytes at @offset of the mirror, and ends an update.  Waits for the answer. */
static enum ibv_wc_status write_mirror(struct rdma_cm_id *id, uint32_t offset, uint32_t length)
{
	static struct ibv_mr *noise;
	struct ibv_sge place;
	struct ibv_send_wr update = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr bytes = {
		.next = &update,
		.sg_list = &place,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma.remote_addr = le64toh(mirror.address) + offset,
		.wr.rdma.rkey = le32toh(mirror.rkey),
	};
	struct ibv_send_wr *bad;
	struct ibv_wc completion;
	int n, i;

	if (!noise) {
		for (i = 0; i < REGION_LENGTH; i++)
			noise_bytes[i] = random();
		noise = expose(id->qp->pd, noise_bytes, sizeof(noise_bytes));
	}
	place = (struct ibv_sge){
		.addr = (uintptr_t)noise_bytes,
		.length = length,
		.lkey = noise->lkey,
	};
	errno = ibv_post_send(id->qp, &bytes, &bad);
	if (errno)
		fail("post");
	do
		n = ibv_poll_cq(id->qp->send_cq, 1, &completion);
	while (!n);
	return n < 0 ? IBV_WC_GENERAL_ERR : completion.status;
}

static void attack_mirror(struct rdma_cm_id *id)
{
	const uint32_t length = le32toh(mirror.length);
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	uint64_t count;

	printf("a mirror of %u bytes\n", length);
	if (is("mirror-beyond"))
		status = write_mirror(id, length, 1);
	for (count = 0; is("mirror-noise") && status == IBV_WC_SUCCESS; count++)
		status = write_mirror(id, 0, length < REGION_LENGTH ? length : REGION_LENGTH);
	printf("%llu updates, then %s: %s\n", (unsigned long long)count,
	       status == IBV_WC_SUCCESS ? "written" : "refused", ibv_wc_status_str(status));
}

static void answer(struct rdma_cm_id *id, uint8_t reads)
{
	struct dart_store_accept store_accept;
	struct dart_tea_accept table_accept;
	struct dart_control_accept accept;
	static struct ibv_pd *pd;
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 2,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct rdma_conn_param parameters = {
		.responder_resources = reads,
	};

	if (!pd) {
		pd = ibv_alloc_pd(id->verbs);
		cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
		if (!pd || !cq)
			fail("device");
	}
	accept = make_accept(pd);
	store_accept = make_store_accept(pd);
	table_accept = make_table_accept(pd);
	attributes.send_cq = cq;
	attributes.recv_cq = cq;
	if (rdma_create_qp(id, pd, &attributes))
		fail("queue pair");
	if (!strncmp(kind, "store-", 6)) {
		parameters.private_data = &store_accept;
		parameters.private_data_len = sizeof(store_accept);
	} else if (!strncmp(kind, "table-", 6)) {
		parameters.private_data = &table_accept;
		parameters.private_data_len = sizeof(table_accept);
	} else if (!is("silence")) {
		parameters.private_data = &accept;
		parameters.private_data_len = sizeof(accept);
	}
	if (rdma_accept(id, &parameters))
		fail("answer");
}

static void reject(struct rdma_cm_id *id)
{
	struct dart_control_reject reject = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
		.reason = "it does not feel like it\033[2J",
	};
	bool is_silent = is("reject");

	if (is("outdated"))
		reject.abi_version = htole32(DART_CONTROL_ABI_VERSION - 1);
	if (rdma_reject(id, is_silent ? NULL : &reject, is_silent ? 0 : sizeof(reject)))
		fail("reject");
}

/* Changes the table of "many" meanwhile. */
static int await_event(struct rdma_event_channel *channel)
{
	struct pollfd poll_fd = { .fd = channel->fd, .events = POLLIN };
	int ret;

	for (;;) {
		ret = poll(&poll_fd, 1, is("many") ? MANY_CHANGE_MS : -1);
		if (ret)
			return ret < 0 ? ret : 0;
		change_table();
	}
}

static void take_mirror(const struct rdma_conn_param *request)
{
	memset(&mirror, 0, sizeof(mirror));
	if (request->private_data_len >= sizeof(struct dart_control_request) + sizeof(mirror))
		memcpy(&mirror,
		       (const uint8_t *)request->private_data + sizeof(struct dart_control_request),
		       sizeof(mirror));
}

int main(int argc, char *argv[])
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(DART_CONTROL_PORT),
	};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener, *id;
	bool is_established;
	uint8_t reads;

	if (argc < 2) {
		fputs("usage: hostile_agent KIND...\n", stderr);
		return EXIT_FAILURE;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 8))
		fail("listen");
	sd_notify(0, "READY=1");

	while (!await_event(channel) && !rdma_get_cm_event(channel, &event)) {
		id = event->id;
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
			is_established = event->event == RDMA_CM_EVENT_ESTABLISHED;
			rdma_ack_cm_event(event);
			if (is_established && !strncmp(kind, "mirror-", 7))
				attack_mirror(id);
			continue;
		}
		reads = event->param.conn.responder_resources;
		take_mirror(&event->param.conn);
		rdma_ack_cm_event(event);
		kind = *++argv;
		if (!argv[1])
			argv--;
		if (is("reject") || is("outdated") || is("unwilling"))
			reject(id);
		else if (!is("mute"))
			answer(id, reads);
	}
	fail("event");
}
