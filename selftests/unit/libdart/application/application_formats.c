// SPDX-License-Identifier: GPL-2.0-only
/* Memory that describes itself: bytes that are right, and bytes that lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/formats.h>

#include "selftests/unit/unit.h"

#define ADDRESS 0x7f0000001000ULL
#define ROOM 8192

static struct dart_error error;

/* Bytes that are changed, and described. */
struct image {
	uint8_t bytes[ROOM];
	size_t length;
};

static void put32(struct image *image, size_t at, uint32_t value)
{
	memcpy(image->bytes + at, &value, sizeof(value));
}

static void put64(struct image *image, size_t at, uint64_t value)
{
	memcpy(image->bytes + at, &value, sizeof(value));
}

static void put_text(struct image *image, size_t at, const char *text)
{
	strcpy((char *)image->bytes + at, text);
}

typedef int (*describe_function)(const struct dart_mapped *mapped,
				 struct dart_application_layout **layout, struct dart_error *error);

/* Describes a copy that ends where the image ends, so that the sanitizer sees reads after it. */
static int describe(describe_function function, const struct image *image,
		    struct dart_application_layout **layout)
{
	uint8_t *bytes = malloc(image->length + !image->length);
	const struct dart_mapped mapped = { bytes, image->length, ADDRESS };
	int ret;

	assert_non_null(bytes);
	memcpy(bytes, image->bytes, image->length);
	error.text[0] = '\0';
	ret = function(&mapped, layout, &error);
	free(bytes);
	return ret;
}

static struct dart_application_layout *accept(describe_function function, const struct image *image)
{
	struct dart_application_layout *layout = NULL;

	if (describe(function, image, &layout))
		fail_msg("%s", error.text);
	return layout;
}

static void expect(const struct dart_application_layout *layout, uint32_t entry, const char *name,
		   enum dart_control_field_kind kind, const char *unit, uint32_t width,
		   uint64_t offset)
{
	const struct dart_schema *schema = layout->entries[entry].schema;
	const struct dart_field *field = dart_schema__find(schema, name);

	if (!field)
		fail_msg("no field '%s'", name);
	assert_int_equal(field->kind, kind);
	assert_string_equal(field->unit, unit);
	assert_int_equal(field->width, width);
	assert_int_equal(layout->entries[entry].locations[field - schema->fields].address,
			 ADDRESS + offset);
}

/* A change of an image, and the refusal that it must meet. */
struct lie {
	size_t at;
	uint64_t value;
	int width; /* bytes */
	int error;
	const char *message;
};

static void expect_refusals(describe_function function, const struct image *image,
			    const struct lie *lies, size_t count)
{
	struct dart_application_layout *layout;
	struct image changed;
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		changed = *image;
		memcpy(changed.bytes + lies[i].at, &lies[i].value, lies[i].width);
		ret = describe(function, &changed, &layout);
		if (ret != -lies[i].error || strcmp(error.text, lies[i].message))
			fail_msg("lie %zu: %d, '%s' instead of '%s'", i, ret, error.text,
				 lies[i].message);
	}
}

/* Every truncation and many random changes are either refused with a sentence, or stay inside. */
static void expect_bounds(describe_function function, const struct image *image)
{
	const struct dart_application_entry *entry;
	struct dart_application_location location;
	struct dart_application_layout *layout;
	struct image changed;
	uint64_t state = 1;
	uint32_t round, i, j, row;

	for (round = 0; round < 4000; round++) {
		changed = *image;
		if (round < image->length)
			changed.length = round;
		else
			for (i = 0; i < 1 + round % 4; i++)
				changed.bytes[random__below(&state, image->length)] =
					round % 3 ? random__below(&state, 256) : 0xff;
		if (describe(function, &changed, &layout)) {
			assert_string_not_equal(error.text, "");
			continue;
		}
		for (i = 0; i < layout->entry_count; i++) {
			entry = &layout->entries[i];
			for (row = 0; row < entry->rows; row++) {
				for (j = 0; j < entry->schema->field_count; j++) {
					location = dart_application_entry__location(entry, row, j);
					assert_in_range(location.address, ADDRESS,
							ADDRESS + changed.length -
								entry->schema->fields[j].width);
				}
			}
		}
		dart_application_layout__free(layout);
	}
}

/* ---- mmv */

enum {
	MMV_INDOMS = 40 + 5 * 16,
	MMV_INSTANCES = MMV_INDOMS + 32,
	MMV_METRICS = MMV_INSTANCES + 2 * 80,
	MMV_VALUES = MMV_METRICS + 5 * 104,
	MMV_STRINGS = MMV_VALUES + 6 * 32,
	MMV_END = MMV_STRINGS + 256,
};

static void put_content(struct image *image, uint32_t index, uint32_t type, uint32_t count,
			uint64_t offset)
{
	put32(image, 40 + index * 16, type);
	put32(image, 44 + index * 16, count);
	put64(image, 48 + index * 16, offset);
}

static void put_metric(struct image *image, uint32_t index, const char *name, uint32_t type,
		       uint32_t semantics, uint32_t dimension, uint32_t indom)
{
	const size_t at = MMV_METRICS + index * 104;

	put_text(image, at, name);
	put32(image, at + 64, index + 1);
	put32(image, at + 68, type);
	put32(image, at + 72, semantics);
	put32(image, at + 76, dimension);
	put32(image, at + 80, indom);
}

static void put_value(struct image *image, uint32_t index, uint64_t extra, uint32_t metric,
		      uint64_t instance)
{
	const size_t at = MMV_VALUES + index * 32;

	put64(image, at + 8, extra);
	put64(image, at + 16, MMV_METRICS + metric * 104);
	put64(image, at + 24, instance);
}

/* Version 1, as PCP writes it: four metrics, and one with two instances. */
static void make_mmv(struct image *image)
{
	*image = (struct image){ .length = MMV_END };
	put_text(image, 0, "MMV");
	put32(image, 4, 1);
	put64(image, 8, 1234);
	put64(image, 16, 1234);
	put32(image, 24, 5);
	put_content(image, 0, 1, 1, MMV_INDOMS);
	put_content(image, 1, 2, 2, MMV_INSTANCES);
	put_content(image, 2, 3, 5, MMV_METRICS);
	put_content(image, 3, 4, 6, MMV_VALUES);
	put_content(image, 4, 5, 1, MMV_STRINGS);
	put32(image, MMV_INDOMS, 7);
	put32(image, MMV_INDOMS + 4, 2);
	put64(image, MMV_INDOMS + 8, MMV_INSTANCES);
	put_text(image, MMV_INSTANCES + 16, "GET");
	put_text(image, MMV_INSTANCES + 80 + 16, "a b");
	put_metric(image, 0, "jobs", 3, 1, 1 << 20, 0);
	put_metric(image, 1, "queue", 1, 3, 1 << 28 | 1 << 16, UINT32_MAX);
	put_metric(image, 2, "load", 5, 3, 0, 0);
	put_metric(image, 3, "state", 6, 3, 0, 0);
	put_metric(image, 4, "waited", 9, 1, 0, 7);
	put_value(image, 0, 0, 0, 0);
	put_value(image, 1, 0, 1, 0);
	put_value(image, 2, 0, 2, 0);
	put_value(image, 3, MMV_STRINGS, 3, 0);
	put_value(image, 4, 0, 4, MMV_INSTANCES + 80);
	put_value(image, 5, 0, 4, MMV_INSTANCES);
	put_text(image, MMV_STRINGS, "running");
}

static void test_mmv(void **state)
{
	struct dart_application_location location;
	struct dart_application_layout *layout;
	struct image image;

	make_mmv(&image);
	layout = accept(dart_mmv__describe, &image);
	assert_int_equal(layout->entry_count, 2);
	assert_true(layout->modules[0].is_address_space);
	assert_string_equal(layout->entries[0].schema->name, "mmv");
	assert_int_equal(layout->entries[0].schema->field_count, 3);
	expect(layout, 0, "jobs", DART_CONTROL_FIELD_COUNTER, "", 8, MMV_VALUES);
	expect(layout, 0, "queue", DART_CONTROL_FIELD_GAUGE, "KiB", 4, MMV_VALUES + 32);
	expect(layout, 0, "state", DART_CONTROL_FIELD_TEXT, "", 48, MMV_STRINGS);
	assert_int_equal(layout->left_out, 1); /* load, a double */
	assert_string_equal(layout->entries[1].schema->name, "mmv:7");
	assert_int_equal(layout->entries[1].rows, 2);
	expect(layout, 1, "instance", DART_CONTROL_FIELD_TEXT, "", 48, MMV_INSTANCES + 16);
	expect(layout, 1, "waited", DART_CONTROL_FIELD_COUNTER, "us", 8, MMV_VALUES + 5 * 32);
	location = dart_application_entry__location(&layout->entries[1], 1, 0);
	assert_int_equal(location.address, ADDRESS + MMV_INSTANCES + 80 + 16);
	location = dart_application_entry__location(&layout->entries[1], 1, 1);
	assert_int_equal(location.address, ADDRESS + MMV_VALUES + 4 * 32);
	dart_application_layout__free(layout);
}

/* Values without a counterpart are left out; the others stay. */
static void test_mmv_left_out(void **state)
{
	struct dart_application_layout *layout;
	struct image image;

	make_mmv(&image);
	put_text(&image, MMV_METRICS + 104, "jobs"); /* a second one */
	put_value(&image, 4, 0, 4, MMV_INSTANCES); /* the other instance has none */
	memset(image.bytes + MMV_STRINGS, 'x', 255); /* a long text */
	layout = accept(dart_mmv__describe, &image);
	assert_int_equal(layout->entry_count, 1);
	assert_int_equal(layout->entries[0].schema->field_count, 1);
	assert_int_equal(layout->left_out, 4);
	dart_application_layout__free(layout);
}

static void test_mmv_lies(void **state)
{
	static const struct lie lies[] = {
		{ 0, 'X', 1, ENOEXEC, "the memory does not begin as an mmv file does" },
		{ 4, 4, 4, ENOEXEC, "version 4 of mmv is unknown (only 1, 2 and 3 are known)" },
		{ 16, 1233, 8, EAGAIN, "the program has not finished writing its mmv file" },
		{ 24, 1 << 30, 4, ENOEXEC,
		  "the mmv file has a table of contents of 1073741824 sections" },
		{ 40, 9, 4, ENOEXEC, "the mmv file has a section of unknown type 9" },
		{ 40, 2, 4, ENOEXEC, "the mmv file has two sections of type 2" },
		{ 44 + 2 * 16, UINT32_MAX, 4, ENOEXEC,
		  "4294967295 elements of section type 3 at offset 312 do not fit into the 1280 bytes of the mmv file" },
		{ 48 + 3 * 16, UINT64_MAX - 8, 8, ENOEXEC,
		  "6 elements of section type 4 at offset 18446744073709551607 do not fit into the 1280 bytes of the mmv file" },
		{ 44 + 3 * 16, 0, 4, ENOEXEC, "the mmv file has no values" },
		{ MMV_VALUES + 16, 3, 8, ENOEXEC, "value 0 of the mmv file belongs to no metric" },
		{ MMV_INDOMS + 4, UINT32_MAX, 4, ENOEXEC,
		  "instance domain 7 of the mmv file has 4294967295 instances, which do not lie in it" },
		{ MMV_INDOMS + 8, UINT64_MAX, 8, ENOEXEC,
		  "instance domain 7 of the mmv file has 2 instances, which do not lie in it" },
	};
	struct dart_application_layout *layout;
	struct image image;

	make_mmv(&image);
	expect_refusals(dart_mmv__describe, &image, lies, sizeof(lies) / sizeof(lies[0]));
	memset(image.bytes + MMV_METRICS, 'x', 64);
	assert_int_equal(describe(dart_mmv__describe, &image, &layout), -ENOEXEC);
	assert_string_equal(error.text, "the name of metric 0 of the mmv file has no end");
}

static void test_mmv_bounds(void **state)
{
	struct image image;

	make_mmv(&image);
	expect_bounds(dart_mmv__describe, &image);
}

/* ---- hsperfdata */

/* Appends an entry whose value follows its name; returns the offset of the value. */
static size_t put_record(struct image *image, const char *name, char type, uint8_t units,
			 uint8_t variability, uint32_t elements, const void *value, size_t length)
{
	const size_t at = image->length, data = (20 + strlen(name) + 1 + 7) / 8 * 8;

	put32(image, at, data + (length + 7) / 8 * 8);
	put32(image, at + 4, 20);
	put32(image, at + 8, elements);
	image->bytes[at + 12] = type;
	image->bytes[at + 14] = units;
	image->bytes[at + 15] = variability;
	put32(image, at + 16, data);
	put_text(image, at + 20, name);
	memcpy(image->bytes + at + data, value, length);
	image->length += data + (length + 7) / 8 * 8;
	put32(image, 8, image->length);
	image->bytes[28]++;
	return at + data;
}

static size_t make_hsperfdata(struct image *image)
{
	static const uint8_t prologue[] = { 0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1 };
	const uint64_t frequency = 1000000000, value = 77;
	const char text[64] = "No GC";
	size_t at;

	*image = (struct image){ .length = 32 };
	memcpy(image->bytes, prologue, sizeof(prologue));
	put32(image, 24, 32);
	at = put_record(image, "sun.gc.collector.0.time", 'J', 3, 2, 0, &value, 8);
	put_record(image, "sun.gc.generation.0.capacity", 'J', 2, 3, 0, &value, 8);
	put_record(image, "sun.gc.cause", 'B', 5, 3, sizeof(text), text, sizeof(text));
	put_record(image, "sun.rt.javaCommand", 'B', 5, 1, 8, "-Dpw=xy", 8);
	put_record(image, "a.double", 'D', 1, 3, 0, &value, 8);
	put_record(image, "sun.os.hrt.frequency", 'J', 6, 1, 0, &frequency, 8);
	return at;
}

static void test_hsperfdata(void **state)
{
	struct dart_application_layout *layout;
	struct image image;
	size_t at = make_hsperfdata(&image);

	layout = accept(dart_hsperfdata__describe, &image);
	assert_int_equal(layout->entry_count, 1);
	assert_string_equal(layout->entries[0].schema->name, "jvm");
	assert_int_equal(layout->entries[0].schema->field_count, 4);
	expect(layout, 0, "sun.gc.collector.0.time", DART_CONTROL_FIELD_COUNTER, "ns", 8, at);
	expect(layout, 0, "sun.gc.generation.0.capacity", DART_CONTROL_FIELD_GAUGE, "bytes", 8,
	       at + 8 + 56);
	assert_int_equal(dart_schema__find(layout->entries[0].schema, "sun.gc.cause")->width, 48);
	assert_null(dart_schema__find(layout->entries[0].schema, "sun.rt.javaCommand"));
	assert_int_equal(layout->left_out, 2);
	assert_int_equal(layout->check_count, 2);
	assert_int_equal(layout->checks[1].equals, 6);
	dart_application_layout__free(layout);
}

static void test_hsperfdata_lies(void **state)
{
	static const struct lie lies[] = {
		{ 0, 0, 1, ENOEXEC, "the memory does not begin as hsperfdata does" },
		{ 4, 0, 1, ENOEXEC,
		  "hsperfdata of version 2 and byte order 0 is unknown (only 2 and 1 are known)" },
		{ 7, 0, 1, EAGAIN, "the Java virtual machine has not finished its start" },
		{ 8, 1 << 30, 4, ENOEXEC,
		  "the Java virtual machine uses 1073741824 of 400 bytes of hsperfdata" },
		{ 24, UINT32_MAX, 4, ENOEXEC,
		  "6 entries of hsperfdata do not fit into its 400 bytes" },
		{ 28, UINT32_MAX, 4, ENOEXEC,
		  "4294967295 entries of hsperfdata do not fit into its 400 bytes" },
		{ 28, 7, 4, ENOEXEC, "entry 6 of hsperfdata begins outside its 400 bytes" },
		{ 28, 0, 4, EAGAIN, "the Java virtual machine has no counters (yet)" },
		{ 32, 0, 4, ENOEXEC, "entry 0 of hsperfdata has 0 bytes, which do not lie in it" },
		{ 32, UINT32_MAX, 4, ENOEXEC,
		  "entry 0 of hsperfdata has 4294967295 bytes, which do not lie in it" },
		{ 36, UINT32_MAX, 4, ENOEXEC,
		  "entry 0 of hsperfdata has a name or a value outside of it" },
		{ 48, UINT32_MAX, 4, ENOEXEC,
		  "entry 0 of hsperfdata has a name or a value outside of it" },
		{ 48, 55, 4, ENOEXEC,
		  "value 'sun.gc.collector.0.time' of hsperfdata lies outside of its entry" },
	};
	struct image image;

	make_hsperfdata(&image);
	expect_refusals(dart_hsperfdata__describe, &image, lies, sizeof(lies) / sizeof(lies[0]));
}

static void test_hsperfdata_bounds(void **state)
{
	struct image image;

	make_hsperfdata(&image);
	expect_bounds(dart_hsperfdata__describe, &image);
}

/* ---- Varnish */

static const char document[] =
	"{\"version\":\"1\",\"name\":\"vbe\",\"elements\":3,\"elem\":{"
	"\"happy\":{\"type\":\"bitmap\",\"ctype\":\"uint64_t\",\"format\":\"bitmap\",\"index\":0},"
	"\"req\":{\"type\":\"counter\",\"ctype\":\"uint64_t\",\"format\":\"integer\",\"index\":8},"
	"\"bytes\":{\"type\":\"counter\",\"ctype\":\"uint64_t\",\"format\":\"bytes\",\"index\":16}}}";

#define VARNISH_INDEX                                  \
	"# 28220 1795777992\n"                         \
	"+ _.StatDoc.d6 0 1024 StatDoc 5601ea7cf060\n" \
	"+ _.VSC_cluster.6e 0 4096  \n"                \
	"+ _.VSC_cluster.6e 16 64 Stat VBE.boot.default\n"

static void put_head(struct image *image, size_t at, uint8_t ready)
{
	image->bytes[at] = ready;
	put64(image, at + 8, 24);
	put64(image, at + 16, 0x5601ea7cf060);
}

/* The bytes of both files, one after the other: the statistics, 4,096, and their description. */
static void make_varnish(struct image *image)
{
	*image = (struct image){ .length = 4096 + 1024 };
	put_head(image, 16, 1);
	put_head(image, 80, 1);
	put_head(image, 4096, 1);
	put_text(image, 4096 + 24, document);
}

static const char *varnish_index = VARNISH_INDEX;

static int describe_varnish(const struct dart_mapped *mapped,
			    struct dart_application_layout **layout, struct dart_error *error)
{
	const size_t first = mapped->length < 4096 ? mapped->length : 4096;
	const struct dart_varnish_file files[] = {
		{ "_.VSC_cluster.6e", { mapped->bytes, first, mapped->address } },
		{ "_.StatDoc.d6",
		  { mapped->bytes + first, mapped->length - first, mapped->address + first } },
	};

	return dart_varnish__describe(varnish_index, strlen(varnish_index), files, 2, layout,
				      error);
}

static void test_varnish(void **state)
{
	struct dart_application_layout *layout;
	struct image image;

	make_varnish(&image);
	varnish_index = VARNISH_INDEX "+ _.VSC_cluster.6e 80 64 Stat VBE.boot.other\n"
				      "- _.VSC_cluster.6e 16 64 Stat VBE.boot.default\n"
				      "+ _.Stat.unmapped 0 64 Stat LCK.ban\n"
				      "+ _.VSC_cluster.6e 160 64 Stat VBE.cut";
	layout = accept(describe_varnish, &image);
	varnish_index = VARNISH_INDEX;
	assert_int_equal(layout->entry_count, 1);
	assert_string_equal(layout->entries[0].schema->name, "varnish:vbe");
	assert_string_equal(layout->entries[0].instance, "boot.other");
	expect(layout, 0, "happy", DART_CONTROL_FIELD_GAUGE, "", 8, 80 + 24);
	expect(layout, 0, "req", DART_CONTROL_FIELD_COUNTER, "", 8, 80 + 32);
	expect(layout, 0, "bytes", DART_CONTROL_FIELD_COUNTER, "bytes", 8, 80 + 40);
	assert_int_equal(layout->check_count, 2);
	dart_application_layout__free(layout);
}

static void test_varnish_lies(void **state)
{
	static const struct lie lies[] = {
		{ 16, 0, 1, EAGAIN, "varnishd has no statistics (yet) in the files it has mapped" },
		{ 16 + 8, 65, 8, ENOEXEC,
		  "segment 'VBE.boot.default' of varnishd has its values outside of it" },
		{ 16 + 8, 48, 8, ENOEXEC, "value 'bytes' of varnishd lies outside of its segment" },
		{ 16 + 16, 1, 8, ENOEXEC,
		  "segment 'VBE.boot.default' of varnishd has no description" },
		{ 4096 + 8, UINT64_MAX, 8, ENOEXEC,
		  "segment 'VBE.boot.default' of varnishd has no description" },
		{ 4096 + 24, '[', 1, ENOEXEC,
		  "segment 'VBE.boot.default' of varnishd has no description" },
		{ 4096 + 24 + 23, 0x20, 1, ENOEXEC,
		  "the kind of segment 'VBE.boot.default' of varnishd is not a name" },
	};
	struct dart_application_layout *layout;
	struct image image;

	make_varnish(&image);
	expect_refusals(describe_varnish, &image, lies, sizeof(lies) / sizeof(lies[0]));
	varnish_index = VARNISH_INDEX "+ _.VSC_cluster.6e 4064 64 Stat VBE.end\n";
	assert_int_equal(describe(describe_varnish, &image, &layout), -ENOEXEC);
	assert_string_equal(
		error.text,
		"segment 'VBE.end' of varnishd has 64 bytes at offset 4064 of '_.VSC_cluster.6e', which do not lie in its 4096 bytes");
	varnish_index = VARNISH_INDEX "+ _.VSC_cluster.6e 80 64 Stat VBE.boot.default\n";
	assert_int_equal(describe(describe_varnish, &image, &layout), -ENOEXEC);
	assert_string_equal(error.text, "two segments of varnishd are called 'VBE.boot.default'");
	varnish_index = VARNISH_INDEX;
}

static void test_varnish_bounds(void **state)
{
	struct image image;

	make_varnish(&image);
	expect_bounds(describe_varnish, &image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("an mmv file has fields, and rows for instances", test_mmv),
		TEST("mmv values that no row can carry are left out", test_mmv_left_out),
		TEST("each lie of an mmv file is refused in one sentence", test_mmv_lies),
		TEST("changed bytes of an mmv file lead nowhere else", test_mmv_bounds),
		TEST("hsperfdata has fields, and no command lines", test_hsperfdata),
		TEST("each lie of hsperfdata is refused in one sentence", test_hsperfdata_lies),
		TEST("changed bytes of hsperfdata lead nowhere else", test_hsperfdata_bounds),
		TEST("segments of Varnish have fields", test_varnish),
		TEST("each lie of Varnish is refused in one sentence", test_varnish_lies),
		TEST("changed bytes of Varnish lead nowhere else", test_varnish_bounds),
	};

	return cmocka_run_group_tests_name("application_formats", tests, NULL, NULL);
}
