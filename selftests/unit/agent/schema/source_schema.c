// SPDX-License-Identifier: GPL-2.0-only
/* Schemas of sources, from handmade types that imitate various kernels. */
#include <bpf/btf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/schema/source_schema.h"
#include "selftests/unit/unit.h"

/* IDs of the types that all tests use. */
struct types {
	struct btf *btf;
	int u64, u32, pointer;
};

static struct types types__new(void)
{
	struct types types = { .btf = btf__new_empty() };

	assert_non_null(types.btf);
	types.u64 = btf__add_int(types.btf, "u64", 8, 0);
	types.u32 = btf__add_int(types.btf, "u32", 4, 0);
	types.pointer = btf__add_ptr(types.btf, types.u64);
	assert_true(types.u64 > 0 && types.u32 > 0 && types.pointer > 0);
	return types;
}

/* A struct of one member. */
static int wrap(struct btf *btf, const char *name, const char *member, int type, uint32_t size)
{
	int id = btf__add_struct(btf, name, size);

	assert_true(id > 0);
	assert_int_equal(btf__add_field(btf, member, type, 0, 0), 0);
	return id;
}

static int describe(const struct types *types, const char *source, const char *name,
		    uint64_t length, struct dart_schema **schema, struct dart_error *error)
{
	struct dart_zero_extent extent = { .length = length };

	*error = (struct dart_error){ };
	strcpy(extent.name, name);
	return source_schema__from_btf(source__find(source), types->btf, &extent, schema, error);
}

/* The schema of a source for the window @name. */
static struct dart_schema *assert_described(const struct types *types, const char *source,
					    const char *name, uint64_t length, uint32_t field_count)
{
	struct dart_schema *schema;
	struct dart_error error;

	if (describe(types, source, name, length, &schema, &error))
		fail_msg("%s", error.text);
	assert_int_equal(schema->field_count, field_count);
	return schema;
}

/* A source refuses the window @name for @reason. */
static void assert_refused(const struct types *types, const char *source, const char *name,
			   uint64_t length, const char *reason)
{
	struct dart_schema *schema;
	struct dart_error error;

	assert_true(describe(types, source, name, length, &schema, &error) < 0);
	if (!strstr(error.text, source) || !strstr(error.text, reason))
		fail_msg("%s", error.text);
}

static void assert_field(const struct dart_schema *schema, uint32_t index, const char *name,
			 const char *unit, uint32_t offset, enum dart_control_field_kind kind)
{
	const struct dart_field *field = &schema->fields[index];

	assert_true(index < schema->field_count);
	assert_string_equal(field->name, name);
	assert_string_equal(field->unit, unit);
	assert_int_equal(field->offset, offset);
	assert_int_equal(field->kind, kind);
}

static void test_anonymous_enum(void **state)
{
	static const char *const names[] = {
		"TCP_MIB_NUM", "TCP_MIB_RTOALGORITHM", "TCP_MIB_CURRESTAB",
		"TCP_MIB_INSEGS",
	};
	struct types types = types__new();
	struct dart_schema *schema;
	int array;

	array = btf__add_array(types.btf, types.u32, types.u64, 4);
	wrap(types.btf, "tcp_mib", "mibs", array, 32);
	assert_true(btf__add_enum(types.btf, NULL, 4) > 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(btf__add_enum_value(types.btf, names[i], i), 0);

	schema = assert_described(&types, "snmp:tcp", "tcp_mib", 32, 3);
	assert_string_equal(schema->name, "tcp_mib");
	assert_field(schema, 0, "rtoalgorithm", "", 8, DART_CONTROL_FIELD_GAUGE);
	assert_field(schema, 1, "currestab", "connections", 16, DART_CONTROL_FIELD_GAUGE);
	assert_true(schema->fields[1].is_signed);
	assert_false(schema->fields[1].lags);
	assert_field(schema, 2, "insegs", "segments", 24, DART_CONTROL_FIELD_COUNTER);
	dart_schema__free(schema);

	assert_refused(&types, "snmp:tcp", "tcp_mib", 40, "size");
	assert_refused(&types, "snmp:udp", "tcp_mib", 32, "names its elements");
	assert_refused(&types, "snmp:udp", "udp_mib", 32, "");
	assert_refused(&types, "cgroup:cpu", "tcp_mib", 32, "cputime.stime");
	btf__free(types.btf);
}

static void test_unnamed_element(void **state)
{
	struct types types = types__new();
	int array;

	array = btf__add_array(types.btf, types.u32, types.u64, 4);
	wrap(types.btf, "udp_mib", "mibs", array, 32);
	assert_true(btf__add_enum(types.btf, NULL, 4) > 0);
	assert_int_equal(btf__add_enum_value(types.btf, "UDP_MIB_INDATAGRAMS", 1), 0);
	assert_refused(&types, "snmp:udp", "udp_mib", 32, "no name");
	btf__free(types.btf);
}

/* u64_stats_t: a counter within structs of one member. */
static void test_wrapped(void **state)
{
	struct types types = types__new();
	struct dart_schema *schema;
	struct btf *btf = types.btf;
	int type;

	type = wrap(btf, NULL, "counter", types.u64, 8);
	type = btf__add_typedef(btf, "atomic64_t", type);
	type = wrap(btf, NULL, "a", type, 8);
	type = btf__add_typedef(btf, "local_t", type);
	type = wrap(btf, NULL, "v", type, 8);
	type = btf__add_typedef(btf, "u64_stats_t", type);

	assert_true(btf__add_struct(btf, "pcpu_lstats", 24) > 0);
	assert_int_equal(btf__add_field(btf, "bytes", type, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "packets", type, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "next", types.pointer, 128, 0), 0);

	schema = assert_described(&types, "netdev:stats", "pcpu_lstats", 24, 2);
	assert_field(schema, 0, "packets", "packets", 0, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 1, "bytes", "bytes", 8, DART_CONTROL_FIELD_COUNTER);
	dart_schema__free(schema);
	btf__free(btf);
}

/* irq_stat: a variable of a typedef of a struct without a name. */
static void test_variable(void **state)
{
	struct types types = types__new();
	struct dart_schema *schema;
	struct btf *btf = types.btf;
	int type;

	type = btf__add_struct(btf, NULL, 16);
	assert_true(type > 0);
	assert_int_equal(btf__add_field(btf, "__nmi_count", types.u32, 32, 0), 0);
	assert_int_equal(btf__add_field(btf, "irq_tlb_count", types.u32, 96, 0), 0);
	type = btf__add_typedef(btf, "irq_cpustat_t", type);
	assert_true(btf__add_var(btf, "irq_stat", BTF_VAR_GLOBAL_ALLOCATED, type) > 0);

	schema = assert_described(&types, "irqs", "irq_stat", 16, 2);
	assert_string_equal(schema->name, "irq_cpustat_t");
	assert_field(schema, 1, "irq_tlb_count", "interrupts", 12, DART_CONTROL_FIELD_COUNTER);
	dart_schema__free(schema);
	btf__free(btf);
}

/* Some members are optional. */
static void test_nested(void **state)
{
	struct types types = types__new();
	struct dart_schema *schema;
	struct btf *btf = types.btf;
	int type;

	type = btf__add_struct(btf, "task_cputime", 24);
	assert_int_equal(btf__add_field(btf, "sum_exec_runtime", types.u64, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "stime", types.u64, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "utime", types.u64, 128, 0), 0);
	assert_true(btf__add_struct(btf, "cgroup_base_stat", 32) > 0);
	assert_int_equal(btf__add_field(btf, "ntime", types.u64, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "cputime", type, 64, 0), 0);

	schema = assert_described(&types, "cgroup:cpu", "cgroup_base_stat", 32, 4);
	for (int i = 0; i < 4; i++)
		assert_true(schema->fields[i].lags);
	assert_field(schema, 0, "ntime", "ns", 0, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 1, "sum_exec_runtime", "ns", 8, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 2, "stime", "ns", 16, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 3, "utime", "ns", 24, DART_CONTROL_FIELD_COUNTER);
	dart_schema__free(schema);
	btf__free(btf);
}

static void test_named_enum(void **state)
{
	static const char *const arrays[] = {
		"nsecs", "sectors", "ios", "merges",
	};
	struct types types = types__new();
	struct dart_schema *schema;
	struct btf *btf = types.btf;
	int array;

	array = btf__add_array(btf, types.u32, types.u64, 2);
	assert_true(btf__add_enum(btf, "stat_group", 4) > 0);
	assert_int_equal(btf__add_enum_value(btf, "STAT_READ", 0), 0);
	assert_int_equal(btf__add_enum_value(btf, "STAT_WRITE", 1), 0);
	assert_true(btf__add_struct(btf, "disk_stats", 88) > 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(btf__add_field(btf, arrays[i], array, i * 128, 0), 0);
	assert_int_equal(btf__add_field(btf, "io_ticks", types.u64, 512, 0), 0);
	assert_int_equal(btf__add_field(btf, "in_flight", array, 576, 0), 0);

	schema = assert_described(&types, "disk:stats", "disk_stats", 88, 11);
	assert_field(schema, 1, "nsecs.write", "ns", 8, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 8, "io_ticks", "jiffies", 64, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 9, "in_flight.read", "requests", 72, DART_CONTROL_FIELD_GAUGE);
	dart_schema__free(schema);
	btf__free(btf);
}

/* The struct "name" around an array with an element for each of @names, from 0. */
static void add_elements(const struct types *types, const char *name, const char *member,
			 const char *const *names, int count)
{
	int i, array = btf__add_array(types->btf, types->u32, types->u64, count);

	wrap(types->btf, name, member, array, 8 * count);
	assert_true(btf__add_enum(types->btf, NULL, 4) > 0);
	for (i = 0; i < count; i++)
		assert_int_equal(btf__add_enum_value(types->btf, names[i], i), 0);
}

/* Before Linux 6.8 OUTPKTS is shown as OutRequests, since then as OutTransmits. */
static void test_aliases(void **state)
{
	static const char *const names[] = {
		"IPSTATS_MIB_NUM",     "IPSTATS_MIB_INPKTS",	       "IPSTATS_MIB_INOCTETS",
		"IPSTATS_MIB_OUTPKTS", "IPSTATS_MIB_OUTFORWDATAGRAMS", "IPSTATS_MIB_OUTREQUESTS",
	};
	struct dart_schema *schema;
	struct types types;
	int count;

	for (count = 5; count <= 6; count++) {
		types = types__new();
		add_elements(&types, "ipstats_mib", "mibs", names, count);
		schema = assert_described(&types, "snmp:ip", "ipstats_mib", 8 * count, count - 1);
		assert_field(schema, 0, "inreceives", "packets", 8, DART_CONTROL_FIELD_COUNTER);
		assert_field(schema, 1, "inoctets", "bytes", 16, DART_CONTROL_FIELD_COUNTER);
		assert_string_equal(schema->fields[2].name,
				    count == 5 ? "outrequests" : "outtransmits");
		assert_string_equal(schema->fields[3].name, "forwdatagrams");
		dart_schema__free(schema);
		schema = assert_described(&types, "snmp:ip6", "ipstats_mib", 8 * count, count - 1);
		assert_string_equal(schema->fields[3].name, "outforwdatagrams");
		dart_schema__free(schema);
		btf__free(types.btf);
	}
}

/* The schema of vmstat if /proc/vmstat had this @text. */
static struct dart_schema *schema_listed_in(const char *text)
{
	static const char *const names[] = {
		"PGPGIN", "PGPGOUT", "COMPACTSTALL", "PGFAULT",
	};
	struct dart_zero_extent extent = {
		.name = "vm_event_state", .length = 32,
	};
	struct types types = types__new();
	struct source source = *source__find("vmstat");
	char path[] = "/tmp/source_schema.XXXXXX";
	struct dart_schema *schema = NULL;
	struct dart_error error;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	add_elements(&types, extent.name, "event", names, 4);
	source.parts[0].listed_in = path;
	if (source_schema__from_btf(&source, types.btf, &extent, &schema, &error))
		fail_msg("%s", error.text);
	btf__free(types.btf);
	unlink(path);
	return schema;
}

static void test_listed(void **state)
{
	static const char *const misfits[] = {
		"",
		"pgfault 1\n",
		"pgpgin 0\npgpgout 1\ncompact_stall 2\n",
		"pgpgin 0\npgpgout 1\ncompact_stall 2\npgfault 3\nmore 4\n",
		"pgpgin 0\npgpgout 1\npgfault 2\ncompact_stall 3\n",
		"pgpgin 0\npgpgout 1\ncompact;stall 2\npgfault 3\n",
	};
	struct dart_schema *schema;
	size_t i;

	schema = schema_listed_in("nr_free_pages 7\npgpgin 0\npgpgout 1\n"
				  "compact_stall 2\npgfault 3\nnr_unstable 0\n");
	assert_field(schema, 0, "pgpgin", "sectors", 0, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 1, "pgpgout", "sectors", 8, DART_CONTROL_FIELD_COUNTER);
	assert_field(schema, 2, "compact_stall", "events", 16, DART_CONTROL_FIELD_COUNTER);
	dart_schema__free(schema);
	for (i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
		schema = schema_listed_in(misfits[i]);
		assert_int_equal(schema->field_count, 4);
		assert_string_equal(schema->fields[2].name, "compactstall");
		dart_schema__free(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("elements of a MIB array are named by the constants of an anonymous enum",
		     test_anonymous_enum),
		TEST("a MIB array with an element that no constant names is refused",
		     test_unnamed_element),
		TEST("a counter wrapped in typedefs and structs of one member is found",
		     test_wrapped),
		TEST("the schema of a per-CPU variable is that of its type", test_variable),
		TEST("members of a nested struct are found, in the order of their offsets",
		     test_nested),
		TEST("elements of several arrays are named by their array and a constant of an enum",
		     test_named_enum),
		TEST("counters of IP are named as in /proc/net, on kernels before and since 6.8",
		     test_aliases),
		TEST("events of vmstat are named as in /proc/vmstat, and as in the types if that does not fit",
		     test_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
