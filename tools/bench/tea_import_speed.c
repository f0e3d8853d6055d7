// SPDX-License-Identifier: GPL-2.0-only
/*
 * tea_import_speed [--entries N] [--rounds N]: measures the cost of importing entries of
 * NAT into a lookup table: reading and parsing them as dartctl does, from CSV and from
 * JSON, and taking them over and inserting them as dartd does, into an empty table at 75 %
 * load at most.  For comparison: copying the same text (memcpy), and counting its lines
 * (wc -l).  Prints JSON.
 *
 * The two programs of an import exchange a request for each batch, which is left out here:
 * one for 2048 entries.  One thread does everything.  The measurements alternate and count
 * CPU time, as the machine may run other programs.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/random.h>
#include <libdart/tea/tea_table.h>

#include "memory.h"
#include "tools/dartctl/lookup/input.h"

#define BATCH DART_REGISTRATION_TABLE_CHANGES_MAX
#define ROUNDS_MAX 100
#define EPOCH 1

static const char schema_text[] =
	"key: [{name: src, type: ipv4}, {name: dst, type: ipv4}, {name: sport, type: u16},"
	" {name: dport, type: u16}, {name: proto, type: u8, names: {tcp: 6, udp: 17}}]\n"
	"value: [{name: address, type: ipv4}, {name: port, type: u16},"
	" {name: rewrite, type: u8, names: {destination: 0, source: 1}}]\n";

struct text {
	int fd; /* in memory */
	char path[32];
	char *bytes; /* the same, mapped */
	size_t length;
	lookup_parser_next *next;
};

struct bench {
	uint64_t entries;
	struct lookup_layout layout;
	struct text csv, json;
	char *copy; /* of either of them */
	int records; /* descriptor: the changes of one batch */
	uint8_t *written; /* the same, mapped */
	uint8_t *received; /* as dartd reads them */
	struct dart_tea_geometry geometry;
	uint8_t *memory;
	uint64_t sum; /* of lines or entries that were counted */
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static size_t record_length(const struct bench *bench)
{
	return 1 + bench->layout.key_length + bench->layout.value_length;
}

/* ---- texts */

struct flow {
	uint32_t src, dst, address;
	uint16_t sport, dport, port;
	bool is_udp;
};

#define ADDRESS(a) (a) >> 24, (a) >> 16 & 255, (a) >> 8 & 255, (a)&255

static void write_texts(struct bench *bench, FILE *csv, FILE *json)
{
	struct dart_random random = dart_random__of(1);
	struct flow flow;
	uint64_t i;

	fputs("src,dst,sport,dport,proto,address,port,rewrite\n", csv);
	for (i = 0; i < bench->entries; i++) {
		flow.src = dart_random__next(&random);
		flow.dst = dart_random__next(&random);
		flow.address = dart_random__next(&random);
		flow.sport = dart_random__next(&random);
		flow.dport = dart_random__next(&random);
		flow.port = dart_random__next(&random);
		flow.is_udp = dart_random__next(&random) & 1;
		fprintf(csv, "%u.%u.%u.%u,%u.%u.%u.%u,%u,%u,%s,%u.%u.%u.%u,%u,source\n",
			ADDRESS(flow.src), ADDRESS(flow.dst), flow.sport, flow.dport,
			flow.is_udp ? "udp" : "tcp", ADDRESS(flow.address), flow.port);
		fprintf(json,
			"{\"src\": \"%u.%u.%u.%u\", \"dst\": \"%u.%u.%u.%u\", \"sport\": %u, \"dport\": %u, \"proto\": \"%s\", \"address\": \"%u.%u.%u.%u\", \"port\": %u, \"rewrite\": \"source\"}\n",
			ADDRESS(flow.src), ADDRESS(flow.dst), flow.sport, flow.dport,
			flow.is_udp ? "udp" : "tcp", ADDRESS(flow.address), flow.port);
	}
}

static FILE *open_text(struct text *text, lookup_parser_next *next)
{
	FILE *file;

	text->next = next;
	text->fd = memfd_create("entries", MFD_CLOEXEC);
	file = text->fd < 0 ? NULL : fdopen(dup(text->fd), "w");
	if (!file)
		err(EXIT_FAILURE, "cannot create a file in memory");
	snprintf(text->path, sizeof(text->path), "/proc/self/fd/%d", text->fd);
	return file;
}

static void close_text(struct text *text, FILE *file)
{
	if (fclose(file))
		err(EXIT_FAILURE, "cannot write the entries");
	text->length = lseek(text->fd, 0, SEEK_END);
	text->bytes = mmap(NULL, text->length, PROT_READ, MAP_SHARED | MAP_POPULATE, text->fd, 0);
	if (text->bytes == MAP_FAILED)
		err(EXIT_FAILURE, "cannot map the entries");
}

/* ---- measured functions */

static void copy_text(struct bench *bench, const struct text *text)
{
	memcpy(bench->copy, text->bytes, text->length);
	/* The copy is needed. */
	__asm__ volatile("" : : "r"(bench->copy) : "memory");
}

static void count_lines(struct bench *bench, const struct text *text)
{
	const char *at = text->bytes, *end = at + text->length;

	for (; (at = memchr(at, '\n', end - at)); at++)
		bench->sum++;
}

/* Inserts the @count records that were written, as dartd does. */
static void insert(struct bench *bench, struct dart_tea_table *table, uint32_t count)
{
	const size_t length = record_length(bench);
	const uint8_t *record = bench->received;
	uint32_t i;

	if (pread(bench->records, bench->received, count * length, 0) != (ssize_t)(count * length))
		err(EXIT_FAILURE, "cannot read the records");
	for (i = 0; i < count; i++, record += length)
		if (dart_tea_table__insert(table, record + 1,
					   record + 1 + bench->layout.key_length) < 0)
			errx(EXIT_FAILURE, "the table is full");
}

/* Without a table, the entries are only parsed. */
static void import(struct bench *bench, const struct text *text, struct dart_tea_table *table)
{
	const size_t length = record_length(bench);
	struct dart_error error;
	struct lookup_input input;
	uint32_t count = 0;
	int ret;

	if (lookup_input__open(&input, text->path, &bench->layout, text->next, &error))
		errx(EXIT_FAILURE, "%s", error.text);
	while ((ret = lookup_input__next(&input, bench->written + count * length + 1, &error)) ==
	       1) {
		bench->written[count * length] = 1;
		bench->sum++;
		if (++count < BATCH)
			continue;
		if (table)
			insert(bench, table, count);
		count = 0;
	}
	if (ret)
		errx(EXIT_FAILURE, "%s", error.text);
	if (table)
		insert(bench, table, count);
	lookup_input__close(&input);
}

static void parse(struct bench *bench, const struct text *text)
{
	import(bench, text, NULL);
}

/* ---- results */

enum { COPY, LINES, PARSE, IMPORT, KINDS };

static const char *const names[KINDS] = { "memcpy", "count of lines", "parse", "parse and insert" };

static uint64_t measure(struct bench *bench, const struct text *text, int kind)
{
	static void (*const functions[])(struct bench *, const struct text *) = {
		[COPY] = copy_text,
		[LINES] = count_lines,
		[PARSE] = parse,
	};
	struct dart_tea_table *table = NULL;
	uint64_t start;

	if (kind != IMPORT) {
		start = cpu_ns();
		functions[kind](bench, text);
		return cpu_ns() - start;
	}
	memset(bench->memory, 0, dart_tea_geometry__length(&bench->geometry));
	if (dart_tea_table__new(&bench->geometry, EPOCH, bench->memory, &table))
		errx(EXIT_FAILURE, "cannot create the table");
	start = cpu_ns();
	import(bench, text, table);
	start = cpu_ns() - start;
	dart_tea_table__free(table);
	return start;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_text(struct bench *bench, const char *name,
		       const struct text *text, uint32_t rounds)
{
	uint64_t ns[KINDS][ROUNDS_MAX];
	uint32_t round;
	int kind;

	for (round = 0; round < rounds; round++)
		for (kind = 0; kind < KINDS; kind++)
			ns[kind][round] = measure(bench, text, kind);
	printf("{\"format\": \"%s\", \"bytes\": %zu, \"results\": [", name, text->length);
	for (kind = 0; kind < KINDS; kind++) {
		qsort(ns[kind], rounds, sizeof(ns[kind][0]), compare);
		printf("%s{\"name\": \"%s\", \"ns\": {\"median\": %.2f, \"min\": %.2f, \"max\": %.2f}}",
		       kind ? ", " : "", names[kind], (double)ns[kind][rounds / 2] / bench->entries,
		       (double)ns[kind][0] / bench->entries,
		       (double)ns[kind][rounds - 1] / bench->entries);
	}
	printf("]}");
}

static void bench__init(struct bench *bench)
{
	struct dart_key_schema *schema;
	FILE *file = fmemopen((void *)schema_text, strlen(schema_text), "r");
	FILE *csv, *json;
	struct dart_error error;
	size_t length;

	if (!file || dart_key_schema__load(file, "schema", &schema, &error) ||
	    lookup_layout__init(&bench->layout, schema, &error))
		errx(EXIT_FAILURE, "cannot load the schema");
	fclose(file);
	csv = open_text(&bench->csv, lookup_csv__next);
	json = open_text(&bench->json, lookup_json__next);
	write_texts(bench, csv, json);
	close_text(&bench->csv, csv);
	close_text(&bench->json, json);

	length = BATCH * record_length(bench);
	bench->records = memfd_create("records", MFD_CLOEXEC);
	if (bench->records < 0 || ftruncate(bench->records, length))
		err(EXIT_FAILURE, "cannot create a file in memory");
	bench->written = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, bench->records, 0);
	bench->received = malloc(length);
	bench->copy = memory__new(bench->json.length, false);
	bench->geometry = (struct dart_tea_geometry){
		.cells = DART_TEA_CELLS,
		.key_length = bench->layout.key_length,
		.value_length = bench->layout.value_length,
		.packet_length = DART_TEA_PACKET,
	};
	while ((bench->geometry.cells << bench->geometry.rows_log2) * 3 / 4 < bench->entries)
		bench->geometry.rows_log2++;
	bench->memory = memory__new(dart_tea_geometry__length(&bench->geometry), false);
	if (bench->written == MAP_FAILED || !bench->received || !bench->copy || !bench->memory)
		errx(EXIT_FAILURE, "out of memory");
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "entries", required_argument, NULL, 'e' },
		{ "rounds", required_argument, NULL, 'r' },
		{}
	};
	struct bench bench = { .entries = 1000000 };
	uint32_t rounds = 5;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'e')
			bench.entries = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else
			return EXIT_FAILURE;
	}
	if (!bench.entries || bench.entries > 1 << 27 || !rounds || rounds > ROUNDS_MAX)
		errx(EXIT_FAILURE, "--entries is a number up to 2^27, --rounds one up to %d",
		     ROUNDS_MAX);
	bench__init(&bench);
	printf("{\"entries\": %" PRIu64 ", \"rows_log2\": %u, \"texts\": [",
	       bench.entries, bench.geometry.rows_log2);
	print_text(&bench, "CSV", &bench.csv, rounds);
	printf(", ");
	print_text(&bench, "JSON", &bench.json, rounds);
	printf("]}\n");
	return EXIT_SUCCESS;
}
