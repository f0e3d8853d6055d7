// SPDX-License-Identifier: GPL-2.0-only
/* Types from DWARF, by libdw, which also relocates the sections of an object file. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "types_format.h"

/* Typedefs and qualifiers before a type: more would be a loop in a broken file. */
#define QUALIFIERS_MAX 64

struct dwarf_types {
	Dwfl *session;
	Dwarf *dwarf;
};

/* The file that was named has the types: nothing else is looked for, here or on a network. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int dwarf_types__open(void **state, const char *path, struct dart_error *error)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dwarf_types *types;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	int ret = -ENODATA;

	if (fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", path);
	types = calloc(1, sizeof(*types));
	if (!types) {
		ret = dart_error__no_memory(error);
		goto close_file;
	}
	types->session = dwfl_begin(&callbacks);
	if (!types->session) {
		ret = dart_error__no_memory(error);
		goto free_types;
	}
	module = dwfl_report_offline(types->session, path, path, fd);
	if (!module)
		goto end_session;
	/* The session owns the file now. */
	if (dwfl_report_end(types->session, NULL, NULL) == 0)
		types->dwarf = dwfl_module_getdwarf(module, &bias);
	if (types->dwarf) {
		*state = types;
		return 0;
	}
	dwfl_end(types->session);
	free(types);
	return -ENODATA;

end_session:
	dwfl_end(types->session);
free_types:
	free(types);
close_file:
	close(fd);
	return ret;
}

static void dwarf_types__close(void *state)
{
	struct dwarf_types *types = state;

	dwfl_end(types->session);
	free(types);
}

static bool has_tag(int tag, const char *wanted)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return !strcmp(wanted, "struct");
	case DW_TAG_union_type:
		return !strcmp(wanted, "union");
	case DW_TAG_enumeration_type:
		return !strcmp(wanted, "enum");
	case DW_TAG_base_type:
	case DW_TAG_typedef:
		return !*wanted;
	default:
		return false;
	}
}

/* Looks among the children of @unit. */
static int find_in(Dwarf_Die *unit, const char *tag, const char *name,
		   int (*see)(void *into, const struct type *type), void *into)
{
	struct type type = {};
	const char *own;
	int ret, seen;

	for (ret = dwarf_child(unit, &type.die); !ret; ret = dwarf_siblingof(&type.die, &type.die)) {
		if (!has_tag(dwarf_tag(&type.die), tag) ||
		    dwarf_hasattr(&type.die, DW_AT_declaration))
			continue;
		own = dwarf_diename(&type.die);
		seen = own && !strcmp(own, name) ? see(into, &type) : 0;
		if (seen)
			return seen;
	}
	return 0;
}

static int dwarf_types__find(void *state, const char *tag, const char *name,
			     int (*see)(void *into, const struct type *type), void *into)
{
	struct dwarf_types *types = state;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int seen = 0;

	while (!seen && !dwarf_get_units(types->dwarf, unit, &unit, NULL, NULL, &die, NULL))
		seen = find_in(&die, tag, name, see, into);
	return seen;
}

/* Follows DW_AT_type.  False at void. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *result)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, result);
}

/* Finds the type itself.  False for void, and for a broken file. */
static bool strip(const struct type *type, Dwarf_Die *die)
{
	int i;

	*die = type->die;
	for (i = 0; i < QUALIFIERS_MAX; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!type_of(die, die))
			return false;
	}
	return false;
}

/* The elements of one dimension; 0 if their number is not known, as at the end of a structure. */
static uint64_t elements_of(Dwarf_Die *range)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;

	if (dwarf_attr(range, DW_AT_count, &attribute))
		return dwarf_formudata(&attribute, &number) ? 0 : number;
	if (!dwarf_attr(range, DW_AT_upper_bound, &attribute) ||
	    dwarf_formudata(&attribute, &number) || number >= UINT32_MAX)
		return 0;
	return number + 1;
}

/* Elements of an array with one dimension; DWARF lists further dimensions in the same type. */
static uint64_t elements_of_array(Dwarf_Die *array)
{
	uint64_t count = 0;
	Dwarf_Die range;
	int ret, dimensions = 0;

	for (ret = dwarf_child(array, &range); !ret; ret = dwarf_siblingof(&range, &range)) {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		count = elements_of(&range);
		dimensions++;
	}
	return dimensions == 1 ? count : 0;
}

static void shape_base(Dwarf_Die *die, struct type_shape *shape)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding;
	const char *name;

	if (!dwarf_attr(die, DW_AT_encoding, &attribute) || dwarf_formudata(&attribute, &encoding))
		return;
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		shape->is_signed = true;
		break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_boolean:
	case DW_ATE_UTF:
		break;
	default:
		return;
	}
	shape->kind = TYPE_INTEGER;
	name = dwarf_diename(die);
	shape->is_character = shape->size == 1 && name && strstr(name, "char");
}

static void dwarf_types__shape(void *state, const struct type *type, struct type_shape *shape)
{
	struct type element;
	struct type_shape one = {};
	Dwarf_Word size;
	Dwarf_Die die;

	if (!strip(type, &die))
		return;
	if (!dwarf_aggregate_size(&die, &size))
		shape->size = size;
	switch (dwarf_tag(&die)) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		shape->kind = TYPE_STRUCTURE;
		break;
	case DW_TAG_pointer_type:
		shape->kind = TYPE_POINTER;
		shape->size = sizeof(uint64_t);
		break;
	case DW_TAG_enumeration_type:
		shape->kind = TYPE_INTEGER;
		if (type_of(&die, &element.die)) {
			if (strip(&element, &die))
				shape_base(&die, &one);
			shape->is_signed = one.is_signed;
		}
		break;
	case DW_TAG_array_type:
		shape->kind = TYPE_ARRAY;
		shape->count = elements_of_array(&die);
		break;
	case DW_TAG_base_type:
		shape_base(&die, shape);
		break;
	}
}

static void dwarf_types__target(void *state, const struct type *type, struct type *target)
{
	Dwarf_Die die;

	if (strip(type, &die) && type_of(&die, &target->die))
		return;
	/* void: a DIE that no shape fits */
	target->die = (Dwarf_Die){};
}

static int dwarf_types__members(void *state, const struct type *type,
				int (*see)(void *into, const char *name, const struct type *member,
					   uint64_t offset, bool is_bit_field),
				void *into)
{
	struct type of_member = {};
	Dwarf_Attribute attribute;
	Dwarf_Die die, member;
	Dwarf_Word offset;
	bool is_bit_field;
	int ret, seen;

	if (!strip(type, &die))
		return 0;
	for (ret = dwarf_child(&die, &member); !ret; ret = dwarf_siblingof(&member, &member)) {
		if (dwarf_tag(&member) != DW_TAG_member || !type_of(&member, &of_member.die))
			continue;
		offset = 0;
		is_bit_field = dwarf_hasattr(&member, DW_AT_bit_size) ||
			       dwarf_hasattr(&member, DW_AT_data_bit_offset);
		/* Members of unions need no location. */
		if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) &&
		    dwarf_formudata(&attribute, &offset))
			continue;
		seen = see(into, dwarf_diename(&member) ?: "", &of_member, offset, is_bit_field);
		if (seen)
			return seen;
	}
	return 0;
}

const struct types_format types_dwarf = {
	.open = dwarf_types__open,
	.close = dwarf_types__close,
	.find = dwarf_types__find,
	.shape = dwarf_types__shape,
	.target = dwarf_types__target,
	.members = dwarf_types__members,
};
