// SPDX-License-Identifier: GPL-2.0-only
/* Values as text: see value_text.h. */
#include <string.h>

#include "value_text.h"

/* Longer texts are cut: it is a table. */
#define TEXT_LENGTH 40

void value_text__add(struct grid *grid, const struct dart_field *field,
		     uint64_t value)
{
	if (field->is_signed)
		grid__add_signed(grid, (int64_t)value);
	else
		grid__add_number(grid, value);
}

/* Control characters would reach the terminal. */
static void add_text(struct grid *grid, const struct dart_field *field,
		     const void *copy)
{
	const unsigned char *text = (const unsigned char *)copy +
				    field->offset;
	char safe[TEXT_LENGTH + 1];
	uint32_t i;

	for (i = 0; i < field->width && i < TEXT_LENGTH && text[i]; i++)
		safe[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	safe[i] = '\0';
	grid__add(grid, "%s", safe);
}

void value_text__add_element(struct grid *grid, const struct dart_field *field,
			     const void *copy, uint32_t index)
{
	char address[INET6_ADDRSTRLEN];

	if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copy, address);
		grid__add(grid, "%s", address);
	} else if (field->kind == DART_CONTROL_FIELD_TEXT) {
		add_text(grid, field, copy);
	} else {
		value_text__add(grid, field,
				dart_field__get(field, copy, index));
	}
}

void value_text__add_rate(struct grid *grid, const struct dart_field *field,
			  uint64_t before, uint64_t now, double seconds)
{
	unsigned int unused = 64 - 8 * field->width;
	/* Narrow counters wrap as a matter of course. */
	uint64_t delta = (now - before) << unused >> unused;
	double rate = delta / seconds;

	if (field->width == 8 && now < before)
		grid__add(grid, "%s", "");
	else if (field->kind == DART_CONTROL_FIELD_COUNTER &&
		 !strcmp(field->unit, "ns"))
		grid__add(grid, "%.1f%%", rate / 1e7);
	else if (rate < 100)
		grid__add(grid, "%.1f", rate);
	else if (rate < 1e18)
		grid__add_number(grid, rate);
	else
		grid__add(grid, "%g", rate);
}

void value_text__add_name(struct grid *grid, const struct dart_field *field,
			  uint32_t index, const char *suffix)
{
	bool has_unit = *field->unit;
	char subscript[16] = "";

	if (field->count > 1)
		snprintf(subscript, sizeof(subscript), "[%u]", index);
	grid__add(grid, "%s%s%s%s%s%s", field->name, subscript,
		  has_unit ? " (" : "", field->unit, has_unit ? ")" : "",
		  suffix);
}
