// SPDX-License-Identifier: GPL-2.0-only
/* dartctl application describe: makes the layout of a description for one build of a program. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/application/description.h>
#include <libdart/application/layout.h>
#include <libdart/table/value.h>

#include "binary.h"
#include "describe.h"
#include "expression.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/file.h"

/* Command line. */
struct request {
	const char *binary, *debug, *types, *output;
	struct modules {
		const char *paths[DART_APPLICATION_MODULES_MAX - 1];
		uint32_t count;
	} modules;
};

/* The files of a command, and the variables that were found in them. */
struct work {
	const char *path; /* of the description */
	struct dart_description *description;
	struct types *types;
	struct binary binaries[DART_APPLICATION_MODULES_MAX]; /* the executable first */
	uint32_t binary_count;
	struct binary debug; /* symbols of the executable */
	bool has_debug;
	/* of each symbol of the description */
	struct resolved {
		struct type type;
		uint64_t type_size;
		uint64_t address;
		uint64_t size; /* bytes of the variable; 0 if unknown */
		uint8_t module;
	} * symbols;
	struct dart_error *error;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct work *work, unsigned int line,
							const char *format, ...)
{
	char sentence[DART_ERROR_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	return dart_error__set(work->error, EINVAL, "%s:%u: %s", work->path, line, sentence);
}

/* ---- files */

static int open_description(struct work *work)
{
	FILE *file = fopen(work->path, "re");
	int ret;

	if (!file)
		return dart_error__system(work->error, errno, "cannot open '%s'", work->path);
	ret = dart_description__load(file, work->path, &work->description, work->error);
	fclose(file);
	return ret;
}

static int open_debug(struct work *work, const char *path)
{
	char wanted[2 * DART_APPLICATION_BUILD_ID_MAX + 1], found[sizeof(wanted)];
	int ret = binary__open(&work->debug, path, work->error);

	if (ret)
		return ret;
	work->has_debug = true;
	if (dart_application_build_id__equals(&work->debug.build_id, &work->binaries[0].build_id))
		return 0;
	dart_application_build_id__print(&work->binaries[0].build_id, wanted);
	dart_application_build_id__print(&work->debug.build_id, found);
	return dart_error__set(
		work->error, EINVAL,
		"'%s' has the build-id %s, but '%s' has %s (take the debug file of this build)",
		path, found, work->binaries[0].path, wanted);
}

static int open_binaries(struct work *work, const struct request *request)
{
	uint32_t i;
	int ret = binary__open(&work->binaries[0], request->binary, work->error);

	if (ret)
		return ret;
	work->binary_count = 1;
	for (i = 0; i < request->modules.count; i++) {
		ret = binary__open(&work->binaries[i + 1], request->modules.paths[i], work->error);
		if (ret)
			return ret;
		work->binary_count++;
		if (!work->binaries[i + 1].soname)
			return dart_error__set(work->error, EINVAL,
					       "'%s' has no soname: it is no shared object",
					       request->modules.paths[i]);
	}
	return request->debug ? open_debug(work, request->debug) : 0;
}

static int open_files(struct work *work, const struct request *request)
{
	int ret = open_description(work);

	if (!ret)
		ret = open_binaries(work, request);
	/* An executable with debug information has both. */
	return ret ?: types__open(&work->types, request->types, work->error);
}

static void close_files(struct work *work)
{
	uint32_t i;

	types__close(work->types);
	if (work->has_debug)
		binary__close(&work->debug);
	for (i = 0; i < work->binary_count; i++)
		binary__close(&work->binaries[i]);
	dart_description__free(work->description);
	free(work->symbols);
}

/* ---- symbols */

static int find_module(const struct work *work, const struct dart_description_symbol *symbol,
		       uint8_t *module)
{
	for (*module = symbol->soname ? 1 : 0; *module < work->binary_count; (*module)++)
		if (!symbol->soname || !strcmp(work->binaries[*module].soname, symbol->soname))
			return 0;
	return refuse(work, symbol->line, "symbol '%s' lies in '%s' (name its file by --module)",
		      symbol->name, symbol->soname);
}

/* The address that the description gives for the build-id of the binary. */
static int find_address(const struct work *work, const struct dart_description_symbol *symbol,
			struct resolved *resolved)
{
	const struct binary *binary = &work->binaries[resolved->module];
	char text[2 * DART_APPLICATION_BUILD_ID_MAX + 1];
	uint32_t i;

	for (i = 0; i < symbol->address_count; i++) {
		if (!dart_application_build_id__equals(&symbol->addresses[i].build_id,
						       &binary->build_id))
			continue;
		resolved->address = symbol->addresses[i].address;
		return 0;
	}
	dart_application_build_id__print(&binary->build_id, text);
	return refuse(
		work, symbol->line,
		"the description has no address of '%s' for the build-id %s of '%s' (find it, and add it to 'at')",
		symbol->name, text, binary->path);
}

static int find_symbol(const struct work *work, const struct dart_description_symbol *symbol,
		       struct resolved *resolved)
{
	const struct binary *binary = &work->binaries[resolved->module];
	int ret = -ENOENT;

	/* An executable can have a copy of a shared object's variable, which all parts then use. */
	if (resolved->module) {
		ret = binary__find(&work->binaries[0], symbol->name, &resolved->address,
				   &resolved->size);
		if (!ret)
			resolved->module = 0;
	} else if (work->has_debug) {
		ret = binary__find(&work->debug, symbol->name, &resolved->address, &resolved->size);
	}
	if (ret == -ENOENT)
		ret = binary__find(binary, symbol->name, &resolved->address, &resolved->size);
	if (ret == -EOPNOTSUPP)
		return refuse(work, symbol->line,
			      "'%s' is a function, or a variable that each thread has",
			      symbol->name);
	return ret ? refuse(work, symbol->line,
			    "'%s' has no symbol '%s' (give --debug, a 'getter' or 'at')",
			    binary->path, symbol->name) :
		     0;
}

/* Is the variable of the binary as large as its type? */
static int check_size(const struct work *work, const struct dart_description_symbol *symbol,
		      const struct resolved *resolved)
{
	const uint64_t size = resolved->type_size;
	uint64_t wanted = size;
	uint32_t i;

	if (!size)
		return refuse(work, symbol->line, "the types do not tell the size of '%s'",
			      symbol->type);
	for (i = 0; i < work->description->entry_count; i++)
		if (work->description->entries[i].rows_symbol &&
		    !strcmp(work->description->entries[i].rows_symbol, symbol->name))
			wanted = size * work->description->entries[i].rows;
	if (!resolved->size || resolved->size == wanted ||
	    (wanted > size && resolved->size > wanted && !(resolved->size % size)))
		return 0;
	return refuse(
		work, symbol->line,
		"'%s' has %llu bytes in the binary, but '%s' makes it %llu (compile the types from the source of this build, with its options)",
		symbol->name, (unsigned long long)resolved->size, symbol->type,
		(unsigned long long)wanted);
}

static int resolve_symbol(struct work *work, const struct dart_description_symbol *symbol,
			  struct resolved *resolved)
{
	struct dart_error error;
	struct type_shape shape;
	int ret = find_module(work, symbol, &resolved->module);

	if (ret)
		return ret;
	if (symbol->address_count) {
		ret = find_address(work, symbol, resolved);
	} else if (symbol->getter) {
		if (binary__find_returned(&work->binaries[resolved->module], symbol->getter,
					  &resolved->address, &resolved->size, &error))
			ret = refuse(work, symbol->line, "%s", error.text);
	} else {
		ret = find_symbol(work, symbol, resolved);
	}
	if (ret)
		return ret;
	if (types__find(work->types, symbol->type, &resolved->type, &error))
		return refuse(work, symbol->line, "%s", error.text);
	types__shape(work->types, &resolved->type, &shape);
	resolved->type_size = shape.size;
	return check_size(work, symbol, resolved);
}

static int resolve_symbols(struct work *work)
{
	const struct dart_description *description = work->description;
	uint32_t i;
	int ret = 0;

	work->symbols = calloc(description->symbol_count, sizeof(*work->symbols));
	if (!work->symbols)
		return dart_error__no_memory(work->error);
	for (i = 0; !ret && i < description->symbol_count; i++)
		ret = resolve_symbol(work, &description->symbols[i], &work->symbols[i]);
	return ret;
}

/* ---- values */

/* @rows_symbol is that of an entry, or NULL. */
static int resolve(const struct work *work, const char *text, const char *rows_symbol,
		   unsigned int line, bool is_text, uint32_t width, struct expression_value *value)
{
	const struct dart_description *description = work->description;
	char name[EXPRESSION_NAME_MAX];
	const char *rest = expression__variable(text, name);
	struct dart_error error;
	uint32_t i;

	for (i = 0; rest && i < description->symbol_count; i++)
		if (!strcmp(description->symbols[i].name, name))
			break;
	if (!rest || i == description->symbol_count)
		return refuse(work, line, "'%s' begins with none of the symbols", text);
	if (rows_symbol && strcmp(rows_symbol, name))
		return refuse(work, line, "'%s' is not a part of '%s', whose elements are the rows",
			      text, rows_symbol);
	*value = (struct expression_value){ .location = { .address = work->symbols[i].address,
							  .module = work->symbols[i].module } };
	if (expression__follow(work->types, rest, &work->symbols[i].type, is_text, width, value,
			       &error))
		return refuse(work, line, "'%s': %s", text, error.text);
	return 0;
}

/* ---- the layout, as YAML */

/* Prints a text, in quotes unless it is a word that YAML takes for nothing else. */
static void print_text(FILE *out, const char *text)
{
	const char *byte = text;

	while (isalnum((unsigned char)*byte) || *byte == '_')
		byte++;
	if (!*byte && !isdigit((unsigned char)*text) && strcasecmp(text, "null")) {
		fputs(text, out);
		return;
	}
	putc('\'', out);
	for (byte = text; *byte; byte++)
		fprintf(out, *byte == '\'' ? "''" : "%c", *byte);
	putc('\'', out);
}

static void print_location(FILE *out, const struct dart_application_location *location)
{
	uint32_t i;

	fprintf(out, "at: [0x%llx", (unsigned long long)location->address);
	for (i = 0; i < location->steps; i++)
		fprintf(out, ", %u", location->offsets[i]);
	putc(']', out);
	if (location->module)
		fprintf(out, ", module: %u", location->module);
}

static void print_modules(FILE *out, const struct work *work)
{
	char id[2 * DART_APPLICATION_BUILD_ID_MAX + 1];
	uint32_t i;

	fputs("modules:\n", out);
	for (i = 0; i < work->binary_count; i++) {
		dart_application_build_id__print(&work->binaries[i].build_id, id);
		fprintf(out, "  - {");
		if (i) {
			fprintf(out, "soname: ");
			print_text(out, work->binaries[i].soname);
			fprintf(out, ", ");
		}
		fprintf(out, "build_id: '%s'}\n", id);
	}
}

static int print_checks(FILE *out, const struct work *work)
{
	const struct dart_description *description = work->description;
	const struct dart_description_check *check;
	struct expression_value value;
	uint32_t i;
	int ret;

	if (description->check_count)
		fputs("checks:\n", out);
	for (i = 0; i < description->check_count; i++) {
		check = &description->checks[i];
		ret = resolve(work, check->value, NULL, check->line, false, 0, &value);
		if (ret)
			return ret;
		if (value.count != 1)
			return refuse(work, check->line, "'%s' is an array", check->value);
		fprintf(out, "  - {");
		print_location(out, &value.location);
		fprintf(out, ", width: %u, equals: %llu}\n", value.width,
			(unsigned long long)check->equals);
	}
	return 0;
}

static void print_field(FILE *out, const struct dart_description_field *field,
			const struct expression_value *value)
{
	fprintf(out, "      - {name: ");
	print_text(out, field->name);
	fprintf(out, ", ");
	print_location(out, &value->location);
	fprintf(out, ", width: %u", value->width);
	if (value->count > 1)
		fprintf(out, ", count: %u", value->count);
	fprintf(out, ", kind: %s", dart_field_kind__name(field->kind));
	if (value->is_signed && field->kind == DART_CONTROL_FIELD_GAUGE)
		fprintf(out, ", signed: true");
	if (field->unit) {
		fprintf(out, ", unit: ");
		print_text(out, field->unit);
	}
	fputs("}\n", out);
}

static int print_entry(FILE *out, const struct work *work,
		       const struct dart_description_entry *entry)
{
	const struct dart_description *description = work->description;
	const struct dart_description_field *field;
	struct expression_value value;
	uint32_t i;
	int ret;

	fprintf(out, "  - name: ");
	print_text(out, entry->name);
	putc('\n', out);
	if (entry->rows_symbol) {
		for (i = 0; i < description->symbol_count; i++)
			if (!strcmp(description->symbols[i].name, entry->rows_symbol))
				break;
		if (i == description->symbol_count)
			return refuse(work, entry->line, "'%s' is none of the symbols",
				      entry->rows_symbol);
		fprintf(out, "    rows: %u\n    stride: %llu\n", entry->rows,
			(unsigned long long)work->symbols[i].type_size);
	}
	fputs("    fields:\n", out);
	for (i = 0; i < entry->field_count; i++) {
		field = &entry->fields[i];
		ret = resolve(work, field->value, entry->rows_symbol, field->line,
			      field->kind == DART_CONTROL_FIELD_TEXT, field->width, &value);
		if (ret)
			return ret;
		print_field(out, field, &value);
	}
	return 0;
}

static int print_layout(FILE *out, const struct work *work)
{
	const struct dart_description *description = work->description;
	uint32_t i;
	int ret;

	fprintf(out, "# Made by dartctl application describe: see dart_application(5).\n");
	if (description->description) {
		fprintf(out, "description: ");
		print_text(out, description->description);
		putc('\n', out);
	}
	print_modules(out, work);
	ret = print_checks(out, work);
	fputs("entries:\n", out);
	for (i = 0; !ret && i < description->entry_count; i++)
		ret = print_entry(out, work, &description->entries[i]);
	return ret;
}

/* ---- the command */

static int take_module(void *member, const char *text)
{
	struct modules *modules = member;

	if (modules->count == DART_APPLICATION_MODULES_MAX - 1)
		return misuse("more than %d modules", DART_APPLICATION_MODULES_MAX - 1);
	modules->paths[modules->count++] = text;
	return EXIT_SUCCESS;
}

static const struct option_row rows[] = { OPTION_WORD("binary", struct request, binary),
					  OPTION_WORD("debug", struct request, debug),
					  OPTION_OWN("module", struct request, modules,
						     take_module),
					  OPTION_WORD("output", struct request, output),
					  OPTION_WORD("types", struct request, types),
					  {} };

/* Makes the text of a layout, which the caller frees, and reads it as its users will. */
static int make_layout(const struct work *work, char **text)
{
	struct dart_application_layout *layout;
	size_t length;
	FILE *file = open_memstream(text, &length);
	int ret;

	if (!file)
		return dart_error__no_memory(work->error);
	ret = print_layout(file, work);
	if (fclose(file) && !ret)
		ret = dart_error__no_memory(work->error);
	if (ret)
		return ret;
	file = fmemopen(*text, length, "r");
	if (!file)
		return dart_error__no_memory(work->error);
	ret = dart_application_layout__load(file, "the layout", &layout, work->error);
	fclose(file);
	if (!ret)
		dart_application_layout__free(layout);
	return ret;
}

static int describe(const struct request *request, const char *path)
{
	struct dart_error error = {};
	struct work work = { .path = path, .error = &error };
	char *text = NULL;
	int ret = open_files(&work, request);

	if (!ret)
		ret = resolve_symbols(&work);
	if (!ret)
		ret = make_layout(&work, &text);
	if (!ret)
		fputs(text, stdout);
	free(text);
	close_files(&work);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

int command_describe(struct options *options, int argc, char **argv)
{
	struct request request = {};
	struct dart_error error;
	int status = options__take(options, argc, argv, rows, &request);

	if (status)
		return status;
	if (argc - optind != 1 || !request.binary || !request.types)
		return misuse("'%s' takes --binary FILE, --types FILE and a DESCRIPTION",
			      options->path);
	if (request.output && file__begin_output(request.output, &error))
		return fail(EIO, "%s", error.text);
	status = describe(&request, argv[optind]);
	if (request.output && file__end_output(request.output, status, &error))
		status = fail(EIO, "%s", error.text);
	return status;
}
