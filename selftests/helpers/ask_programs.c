// SPDX-License-Identifier: GPL-2.0-only
/*
 * ask_programs [--budget NS] [--places N] OBJECT QUESTION...: loads an eBPF object that answers
 * questions (see bpf/gather/exchange.h) and finds its variables.  Then it asks all questions once for
 * each line on standard input, and prints one line of JSON:
 *
 *	{"runs": N, "longest": NS, "time": NS, "answers": [{"source": "vmstat", "answer": "values",
 *		"rows": [{"number": 0, "values": {"NAME": VALUE} or [WORD...]}]}]}
 *
 * "runs" is how often the program ran for that, and "longest" the longest time of a run, with its
 * system call.  Marks of selftests/qemu/own_instructions.h surround each run.  A row of counters per
 * CPU has the words of the copy, and the number of the CPU; a sample has its members.  A row of the
 * list of namespaces has their inode as its number, and their identity as its only word; later
 * questions about a namespace have the identity of the first answer, as those of dartd have.
 *
 * With N places the list of CPUs has that length, and each CPU several times.
 *
 * A QUESTION is SOURCE[,fd=PATH][,netns=INODE][,ifindex=N][,offset=BYTES,length=BYTES][,sum=1], where
 * SOURCE is a name or a number of enum dart_zero_source, or "namespaces" (their list), and @fd is
 * opened with O_PATH.  Instead of bytes it may name a member of a struct, or of a typedef of one, of
 * the running kernel (",member=vm_event_state.event"): then a row has the numbers of the member, and
 * not words.  If the kernel has no such member, ask_programs exits with 3.  "-" as OBJECT: it only
 * finds that out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <jansson.h>

#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

#include "bpf/gather/exchange.h"
#include "bpf/samples/setting.h"
#include "selftests/qemu/own_instructions.h"

/* As dartd: runs without progress before the questions that are left get no answer. */
#define IDLE_RUNS_MAX 64
#define NO_MEMBER 3 /* exit status */

struct member {
	const char *name; /* NULL: the end */
	size_t offset, size;
	bool is_signed, is_text;
};

struct source {
	const char *name;
	uint32_t id;
	const struct member *members; /* NULL: counters per CPU */
	size_t size; /* bytes of a sample */
	bool has_rows;
};

enum { KIND_GAUGE, KIND_COUNTER, KIND_TEXT };

#define DART_ZERO_SAMPLE(source, number, name, ...)      \
	static const struct member *name##_members(void) \
	{                                                \
		typedef struct dart_zero_##name sample;  \
		static const struct member members[] = {
#define DART_ZERO_FIELD(type, place, name, unit, kind)                                     \
	{ name, offsetof(sample, place), sizeof(((sample *)0)->place), (type)-1 < (type)1, \
	  KIND_##kind == KIND_TEXT },
#define DART_ZERO_SAMPLE_END \
	{                    \
	}                    \
	}                    \
	;                    \
	return members;      \
	}
#include <linux/dart_zero_samples.def>

#define ROWS_NONE false
#define ROWS_CPU true
#define ROWS_NODE true
#define ROWS_PORT true
#define ROWS_DEVICE true

/* Returns false if there is no source of this name or number. */
static bool find_source(const char *text, struct source *source)
{
	static const struct source counters[] = {
		{ .name = "namespaces", .id = GATHER_NAMESPACES },
		{ .name = "cpustat", .id = DART_ZERO_SOURCE_CPUSTAT },
		{ .name = "vmstat", .id = DART_ZERO_SOURCE_VMSTAT },
		{ .name = "softnet", .id = DART_ZERO_SOURCE_SOFTNET },
		{ .name = "kstat", .id = DART_ZERO_SOURCE_KSTAT },
		{ .name = "irq_stat", .id = DART_ZERO_SOURCE_IRQ_STAT },
		{ .name = "ip", .id = DART_ZERO_SOURCE_IP },
		{ .name = "ip6", .id = DART_ZERO_SOURCE_IP6 },
		{ .name = "tcp", .id = DART_ZERO_SOURCE_TCP },
		{ .name = "tcpext", .id = DART_ZERO_SOURCE_TCPEXT },
		{ .name = "udp", .id = DART_ZERO_SOURCE_UDP },
		{ .name = "udp6", .id = DART_ZERO_SOURCE_UDP6 },
		{ .name = "icmp", .id = DART_ZERO_SOURCE_ICMP },
		{ .name = "icmp6", .id = DART_ZERO_SOURCE_ICMP6 },
		{ .name = "netdev", .id = DART_ZERO_SOURCE_NETDEV },
		{ .name = "netdev:core", .id = DART_ZERO_SOURCE_NETDEV_CORE },
		{ .name = "disk", .id = DART_ZERO_SOURCE_DISK },
		{ .name = "cgroup:cpu", .id = DART_ZERO_SOURCE_CGROUP_CPU },
	};
	const struct source samples[] = {
#define DART_ZERO_SAMPLE(source, number, name, entry, taker, selector, rows, ...) \
	{ entry, source, name##_members(), sizeof(struct dart_zero_##name), ROWS_##rows },
#include <linux/dart_zero_samples.def>
	};
	const uint32_t id = strtoul(text, NULL, 0);
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		*source = counters[i];
		if (!strcmp(source->name, text) || (id && source->id == id))
			return true;
	}
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		*source = samples[i];
		if (!strcmp(source->name, text) || (id && source->id == id))
			return true;
	}
	return false;
}

static int die(const char *what, int ret)
{
	fprintf(stderr, "ask_programs: %s: %s\n", what, strerror(ret < 0 ? -ret : ret));
	return 1;
}

/* The numbers of a copy that are printed. */
struct part {
	uint32_t offset; /* bytes from the beginning of the copy */
	uint32_t size; /* bytes of a number */
	uint32_t count;
};

/* Questions as the caller wrote them, because each run overwrites their answers. */
struct asker {
	struct bpf_object *object;
	struct bpf_program *program;
	struct gather_exchange *exchange; /* the map */
	struct gather_question questions[GATHER_QUESTIONS];
	struct source sources[GATHER_QUESTIONS];
	struct part parts[GATHER_QUESTIONS];
	struct btf *types; /* of the kernel; NULL until a question names a member */
	uint32_t count;
	uint64_t budget_ns;
	uint32_t places;
	uint32_t runs; /* of the program, since the last line */
	uint64_t longest; /* ns */
	uint64_t time; /* of the first of them */
};

/* A struct or a typedef of one; -ENOENT: the kernel has no such type. */
static int find_struct(const struct btf *types, const char *name)
{
	int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);

	return id >= 0 ? id : btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
}

static const struct btf_member *find_member(const struct btf *types, int id, const char *name)
{
	const struct btf_type *type = btf__type_by_id(types, btf__resolve_type(types, id));
	int i;

	for (i = 0; btf_is_struct(type) && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(types, btf_members(type)[i].name_off), name))
			return btf_members(type) + i;
	return NULL;
}

/* Asks for the words around the member, "STRUCT.MEMBER[.MEMBER...]". */
static int set_member(struct asker *asker, struct gather_question *question, struct part *part,
		      char *text)
{
	const struct btf_member *member;
	const struct btf_type *type;
	uint32_t offset = 0;
	char *name;
	int id;

	if (!asker->types)
		asker->types = btf__load_vmlinux_btf();
	if (!asker->types)
		return -errno;
	id = find_struct(asker->types, strsep(&text, "."));
	while (id >= 0 && (name = strsep(&text, "."))) {
		member = find_member(asker->types, id, name);
		if (!member)
			return -ESRCH;
		id = member->type;
		offset += member->offset / 8;
	}
	if (id < 0)
		return -ESRCH;
	type = btf__type_by_id(asker->types, btf__resolve_type(asker->types, id));
	part->count = btf_is_array(type) ? btf_array(type)->nelems : 1;
	part->size = btf__resolve_size(asker->types, id) / part->count;
	part->offset = offset % 8;
	question->offset = offset - part->offset;
	question->length = (part->offset + part->size * part->count + 7) / 8 * 8;
	return 0;
}

static int set_part(struct asker *asker, struct gather_question *question, const char *text)
{
	struct part *part = &asker->parts[asker->count];
	char name[16], value[256];

	if (sscanf(text, "%15[^=]=%255s", name, value) != 2)
		return -EINVAL;
	if (!strcmp(name, "fd")) {
		question->fd = open(value, O_PATH | O_CLOEXEC);
		return question->fd < 0 ? -errno : 0;
	}
	if (!strcmp(name, "member"))
		return set_member(asker, question, part, value);
	if (!strcmp(name, "netns"))
		question->netns = strtoul(value, NULL, 0);
	else if (!strcmp(name, "ifindex"))
		question->ifindex = strtoul(value, NULL, 0);
	else if (!strcmp(name, "offset"))
		question->offset = strtoul(value, NULL, 0);
	else if (!strcmp(name, "length"))
		question->length = strtoul(value, NULL, 0);
	else if (!strcmp(name, "sum"))
		question->is_sum = strtoul(value, NULL, 0);
	else
		return -EINVAL;
	*part = (struct part){ .size = 8, .count = question->length / 8 };
	return 0;
}

static int add_question(struct asker *asker, char *text)
{
	struct gather_question *question = &asker->questions[asker->count];
	struct source *source = &asker->sources[asker->count];
	char *part, *rest;
	int ret;

	part = strtok_r(text, ",", &rest);
	if (asker->count == GATHER_QUESTIONS || !part || !find_source(part, source))
		return -EINVAL;
	*question = (struct gather_question){ .source = source->id, .fd = -1 };
	while ((part = strtok_r(NULL, ",", &rest))) {
		ret = set_part(asker, question, part);
		if (ret)
			return ret;
	}
	asker->count++;
	return 0;
}

static int find_variables(struct bpf_object *object)
{
	struct sample_setting setting = {
		.page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE)),
	};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &setting, .ctx_size_in = sizeof(setting));
	struct bpf_program *program;
	int ret;

	bpf_object__for_each_program(program, object)
	{
		if (bpf_program__type(program) != BPF_PROG_TYPE_SYSCALL)
			continue;
		ret = bpf_prog_test_run_opts(bpf_program__fd(program), &run) ?: (int)run.retval;
		if (ret)
			return ret;
	}
	return 0;
}

static void list_cpus(const struct asker *asker)
{
	struct gather_exchange *exchange = asker->exchange;
	const uint32_t cpus = libbpf_num_possible_cpus();
	uint32_t i;

	exchange->cpu_count = asker->places ?: cpus;
	if (exchange->cpu_count > GATHER_CPUS)
		exchange->cpu_count = GATHER_CPUS;
	for (i = 0; i < exchange->cpu_count; i++)
		exchange->cpus[i] = i % cpus;
}

static int load(struct asker *asker, const char *path)
{
	struct bpf_program *program;
	struct bpf_map *map;
	int ret;

	asker->object = bpf_object__open_file(path, NULL);
	if (!asker->object)
		return -errno;
	/* The others are for the module. */
	bpf_object__for_each_program(program, asker->object) bpf_program__set_autoload(
		program, !strcmp(bpf_program__name(program), "answer") ||
				 bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL);
	ret = bpf_object__load(asker->object);
	if (ret)
		return ret;
	asker->program = bpf_object__find_program_by_name(asker->object, "answer");
	map = bpf_object__find_map_by_name(asker->object, "exchange");
	if (!asker->program || !map)
		return -ENOENT;
	asker->exchange = mmap(NULL, sizeof(*asker->exchange), PROT_READ | PROT_WRITE, MAP_SHARED,
			       bpf_map__fd(map), 0);
	if (asker->exchange == MAP_FAILED)
		return -errno;
	list_cpus(asker);
	return find_variables(asker->object);
}

static json_t *member_value(const struct member *member, const char *sample)
{
	const char *place = sample + member->offset;
	uint64_t value = 0;

	if (member->is_text)
		return json_stringn(place, strnlen(place, member->size));
	memcpy(&value, place, member->size);
	if (member->is_signed && member->size == sizeof(int32_t))
		return json_integer((int32_t)value);
	return json_integer((json_int_t)value);
}

static json_t *sample_values(const struct source *source, const char *sample)
{
	json_t *values = json_object();
	const struct member *member;

	for (member = source->members; member->name; member++)
		json_object_set_new(values, member->name, member_value(member, sample));
	return values;
}

static json_t *numbers(const char *copy, const struct part *part)
{
	json_t *values = json_array();
	uint32_t i;

	for (i = 0; i < part->count; i++) {
		uint64_t number = 0;

		memcpy(&number, copy + part->offset + i * part->size, part->size);
		json_array_append_new(values, json_integer((json_int_t)number));
	}
	return values;
}

static json_t *namespaces(const struct gather_namespace *namespace, uint32_t count)
{
	json_t *list = json_array();

	for (; count; count--, namespace++)
		json_array_append_new(list, json_pack("{s:I, s:[I]}", "number",
						      (json_int_t)namespace->inode, "values",
						      (json_int_t)namespace->identity));
	return list;
}

static json_t *rows(const struct asker *asker, const struct source *source, const struct part *part,
		    const struct gather_question *question)
{
	const char *at = (const char *)asker->exchange->output + question->at;
	json_t *list = json_array();
	uint64_t number;
	uint32_t i;

	if (question->source == GATHER_NAMESPACES)
		return namespaces((const void *)at, question->rows);
	for (i = 0; i < question->rows; i++) {
		json_t *row = json_object(), *values;

		number = 0;
		if (!source->members)
			number = asker->exchange->cpus[i];
		else if (source->has_rows)
			number = ((const struct gather_row *)at)->number;
		if (source->has_rows)
			at += sizeof(struct gather_row);
		values = source->members ? sample_values(source, at) : numbers(at, part);
		at += source->members ? source->size : question->length;
		json_object_set_new(row, "number", json_integer((json_int_t)number));
		json_object_set_new(row, "values", values);
		json_array_append_new(list, row);
	}
	return list;
}

/* Answers to the questions from @first on that the last run gave. */
static void take_answers(struct asker *asker, uint32_t first, json_t *answers)
{
	static const char *const names[] = { "not yet", "values", "absent", "ended" };
	const struct gather_question *question;
	uint32_t i;

	for (i = first; i < asker->exchange->next; i++) {
		json_t *answer = json_object();

		question = &asker->exchange->questions[i];
		asker->questions[i].identity = question->identity;
		json_object_set_new(answer, "source", json_string(asker->sources[i].name));
		json_object_set_new(answer, "answer", json_string(names[question->answer & 3]));
		json_object_set_new(answer, "rows",
				    rows(asker, &asker->sources[i], &asker->parts[i], question));
		json_array_append_new(answers, answer);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int ask(struct asker *asker, json_t *answers)
{
	struct gather_exchange *exchange = asker->exchange;
	LIBBPF_OPTS(bpf_test_run_opts, run);
	uint64_t begin, spent, cursor;
	uint32_t first, idle = 0;
	int ret;

	exchange->count = asker->count;
	exchange->batch++;
	exchange->next = 0;
	exchange->budget_ns = asker->budget_ns;
	exchange->cursor = 0;
	memcpy(exchange->questions, asker->questions, sizeof(asker->questions));
	asker->runs = 0;
	asker->longest = 0;
	do {
		first = exchange->next;
		cursor = exchange->cursor;
		exchange->used = 0;
		begin = now_ns();
		own_instructions__begin();
		ret = bpf_prog_test_run_opts(bpf_program__fd(asker->program), &run);
		own_instructions__end();
		spent = now_ns() - begin;
		if (ret)
			return ret;
		if (spent > asker->longest)
			asker->longest = spent;
		if (!asker->runs++)
			asker->time = exchange->time;
		take_answers(asker, first, answers);
		/* A sum that begins again stays at its question, and can stop where it did before. */
		idle = exchange->next > first || exchange->cursor != cursor ? 0 : idle + 1;
	} while (exchange->next < exchange->count && idle < IDLE_RUNS_MAX);
	return exchange->next == exchange->count ? 0 : -EDEADLK;
}

static int print(const struct asker *asker, json_t *answers)
{
	json_t *line = json_pack("{s:i, s:I, s:I, s:O}", "runs", (int)asker->runs, "longest",
				 (json_int_t)asker->longest, "time", (json_int_t)asker->time,
				 "answers", answers);

	if (!line || json_dumpf(line, stdout, JSON_COMPACT))
		return -ENOMEM;
	json_decref(line);
	puts("");
	fflush(stdout);
	return 0;
}

int main(int argc, char *argv[])
{
	static struct asker asker = { .budget_ns = GATHER_BUDGET_NS };
	char line[16], **question;
	int ret;

	while (argc > 2 && !strncmp(argv[1], "--", 2)) {
		if (!strcmp(argv[1], "--budget"))
			asker.budget_ns = strtoull(argv[2], NULL, 0);
		else if (!strcmp(argv[1], "--places"))
			asker.places = strtoul(argv[2], NULL, 0);
		argv += 2;
		argc -= 2;
	}
	if (argc < 3) {
		fprintf(stderr,
			"usage: ask_programs [--budget NS] [--places N] OBJECT QUESTION...\n");
		return 2;
	}
	for (question = argv + 2; *question; question++) {
		ret = add_question(&asker, *question);
		if (ret == -ESRCH)
			return NO_MEMBER;
		if (ret)
			return die(*question, ret);
	}
	if (!strcmp(argv[1], "-"))
		return 0;
	ret = load(&asker, argv[1]);
	if (ret)
		return die(argv[1], ret);
	while (fgets(line, sizeof(line), stdin)) {
		json_t *answers = json_array();

		ret = ask(&asker, answers) ?: print(&asker, answers);
		json_decref(answers);
		if (ret)
			return die("cannot ask", ret);
	}
	return 0;
}
