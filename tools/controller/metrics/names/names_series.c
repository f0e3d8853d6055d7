// SPDX-License-Identifier: GPL-2.0-only
/* Takes series of names from YAML. */
#include "names_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/schema.h>

#include "names_labels.h"

#define TERMS_MAX 16
#define DIGITS_MAX 18 /* of a number: a sum of TERMS_MAX numbers does not overflow */

/* A series as the file states it; parts already taken lie in the arena. */
struct taking {
	const struct names_series_use *use;
	struct name_series series;
	const yaml_node_t *scale;
	const yaml_node_t *mask;
	const yaml_node_t *equals;
	const yaml_node_t *above;
	const yaml_node_t *zero_from;
	const yaml_node_t *labels;
	const yaml_node_t *fields;
	const yaml_node_t *value;
};

static int take_node(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	*(const yaml_node_t **)into = node;
	return 0;
}

static int take_entry(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	struct taking *taking = into;

	if (!text || !dart_name__is_valid(text) || strpbrk(text, "@+"))
		return dart_yaml__refuse(
			yaml, node,
			"'%s' is not a source: expected an entry's name up to '@' and '+'",
			text ?: "?");
	taking->series.source = names__keep(yaml, &taking->use->loaded->arena, text);
	return taking->series.source ? 0 : -ENOMEM;
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct taking *taking = into;

	return names_labels__take_name(yaml, node, &taking->use->loaded->arena,
				       &taking->series.rows);
}

static int take_scale(struct dart_yaml *yaml, const yaml_node_t *node, struct taking *taking)
{
	const char *text = dart_yaml__text(node);
	double scale;
	char *end;

	if (text && *text) {
		scale = strtod(text, &end);
		if (!*end && isfinite(scale) && scale > 0) {
			taking->series.scale = scale;
			return 0;
		}
	}
	return dart_yaml__refuse(yaml, node, "the scale '%s' is not a number above 0", text ?: "?");
}

static int take_field_name(struct dart_yaml *yaml, const yaml_node_t *node, const char *text,
			   struct taking *taking, const char **field)
{
	if (!text || !dart_name__is_valid(text))
		return dart_yaml__refuse(yaml, node, "'%s' cannot be the name of a field",
					 text ?: "?");
	*field = names__keep(yaml, &taking->use->loaded->arena, text);
	return *field ? 0 : -ENOMEM;
}

static int take_per(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	struct taking *taking = into;

	return take_field_name(yaml, node, dart_yaml__text(node), taking, &taking->series.per);
}

static int take_number_text(struct dart_yaml *yaml, const yaml_node_t *node, const char *text,
			    uint64_t *number)
{
	errno = 0;
	if (text && *text && strspn(text, "0123456789") == strlen(text))
		*number = strtoull(text, NULL, 10);
	else
		errno = EINVAL;
	if (!errno)
		return 0;
	return dart_yaml__refuse(yaml, node, "'%s' is not a number from 0 to 2^64 - 1",
				 text ?: "?");
}

/* Leaves *@number unchanged if @node is NULL. */
static int take_number(struct dart_yaml *yaml, const yaml_node_t *node, uint64_t *number)
{
	return node ? take_number_text(yaml, node, dart_yaml__text(node), number) : 0;
}

/* Takes FIELD, or "FIELD == NUMBER". */
static int take_when(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	static const char equals[] = " == ";
	const char *text = dart_yaml__text(node);
	const char *sign = text ? strstr(text, equals) : NULL;
	char field[DART_CONTROL_NAME_MAX];
	struct taking *taking = into;
	int ret;

	if (!sign || sign - text >= (ptrdiff_t)sizeof(field))
		return take_field_name(yaml, node, text, taking, &taking->series.when);
	memcpy(field, text, sign - text);
	field[sign - text] = '\0';
	ret = take_field_name(yaml, node, field, taking, &taking->series.when);
	taking->series.has_when_equals = true;
	return ret   ?:
		       take_number_text(yaml, node, sign + strlen(equals),
					&taking->series.when_equals);
}

static int take_sign(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	struct taking *taking = into;

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return dart_yaml__refuse(yaml, node, "'signed' is true or false");
	taking->series.sign = *text == 't' ? NAME_SIGN_SIGNED : NAME_SIGN_UNSIGNED;
	return 0;
}

/* Takes the conversions of the sum. */
static int take_conversion(struct dart_yaml *yaml, struct taking *taking)
{
	struct name_series *series = &taking->series;
	int ret;

	series->has_equals = taking->equals;
	series->has_above = taking->above;
	series->has_zero_from = taking->zero_from;
	if (series->has_equals + series->has_above + series->has_zero_from > 1)
		return dart_yaml__refuse(yaml, taking->equals ?: taking->above,
					 "a series has either 'equals', 'above' or 'zero_from'");
	ret = take_number(yaml, taking->mask, &series->mask)		 ?:
		      take_number(yaml, taking->equals, &series->equals) ?:
		      take_number(yaml, taking->above, &series->above)	 ?:
		      take_number(yaml, taking->zero_from, &series->zero_from);
	if (ret || !taking->scale)
		return ret;
	return take_scale(yaml, taking->scale, taking);
}

/* Takes a field, or a constant if the word consists of digits. */
static int take_term(struct dart_yaml *yaml, const yaml_node_t *node, struct taking *taking,
		     const char *word, struct name_term *term)
{
	if (strspn(word, "0123456789") < strlen(word)) {
		term->field = names__keep(yaml, &taking->use->loaded->arena, word);
		return term->field ? 0 : -ENOMEM;
	}
	if (strlen(word) > DIGITS_MAX)
		return dart_yaml__refuse(yaml, node, "the number %s is too large", word);
	term->constant = strtoull(word, NULL, 10);
	return 0;
}

/*
 * Takes "FIELD", "1", "+", "-": a sum starts with a term, followed by pairs of an operator and a
 * term.
 */
static int take_terms(struct dart_yaml *yaml, const yaml_node_t *node, struct taking *taking,
		      struct name_value *value)
{
	struct name_term terms[TERMS_MAX] = {}, *term = terms;
	const char *text = dart_yaml__text(node);
	char word[DART_CONTROL_NAME_MAX];
	bool is_operator = false, is_minus = false;
	size_t length;
	int ret;

	if (!text || !*text)
		return dart_yaml__refuse(yaml, node, "expected FIELD + FIELD - FIELD");
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		length = strcspn(text, " ");
		if (length >= sizeof(word) || term == terms + TERMS_MAX)
			return dart_yaml__refuse(yaml, node,
						 "the value has more than %d terms, or a long one",
						 TERMS_MAX);
		memcpy(word, text, length);
		word[length] = '\0';
		text += length;
		is_minus = !strcmp(word, "-");
		if ((is_minus || !strcmp(word, "+")) != is_operator ||
		    (!is_operator && !dart_name__is_valid(word)))
			return dart_yaml__refuse(
				yaml, node,
				"'%s' is not expected here (fields with ' + ' and ' - ' between them)",
				word);
		is_operator = !is_operator;
		if (is_operator) {
			ret = take_term(yaml, node, taking, word, term++);
			if (ret)
				return ret;
		} else {
			term->is_minus = is_minus;
		}
	}
	if (!is_operator)
		return dart_yaml__refuse(yaml, node, "the value ends with an operator");
	value->term_count = term - terms;
	value->terms = names__keep_array(yaml, &taking->use->loaded->arena, terms,
					 value->term_count, sizeof(*terms));
	return value->terms ? 0 : -ENOMEM;
}

/* Takes FIELD: {LABEL: VALUE}, or in a pattern FIELD: NAME. */
static int take_field(struct dart_yaml *yaml, const yaml_node_pair_t *pair, struct taking *taking,
		      struct name_value *value)
{
	const yaml_node_t *name, *use;
	const char *text;
	int ret;

	name = yaml_document_get_node(&yaml->document, pair->key);
	use = yaml_document_get_node(&yaml->document, pair->value);
	text = dart_yaml__text(name);
	if (!text || !dart_name__is_valid(text))
		return dart_yaml__refuse(yaml, name, "'%s' cannot be the name of a field",
					 text ?: "?");
	ret = take_terms(yaml, name, taking, value);
	if (ret)
		return ret;
	if (!taking->use->is_pattern) {
		ret = names_labels__take(yaml, use, &taking->use->loaded->arena, true,
					 &value->labels, &value->label_count);
		return ret   ?:
			       taking->use->find_family(yaml, name, NULL, taking->use->data,
							&value->family);
	}
	text = dart_yaml__text(use);
	if (!text || !*text)
		return dart_yaml__refuse(yaml, use,
					 "expected FIELD: NAME, the text in place of $name");
	return taking->use->find_family(yaml, use, text, taking->use->data, &value->family);
}

static int take_fields(struct dart_yaml *yaml, const yaml_node_t *node, struct taking *taking)
{
	struct name_value *values;
	yaml_node_pair_t *pair;
	uint32_t count;
	int ret = 0;

	if (node->type != YAML_MAPPING_NODE ||
	    node->data.mapping.pairs.start == node->data.mapping.pairs.top)
		return dart_yaml__refuse(yaml, node, "expected a mapping of fields");
	count = node->data.mapping.pairs.top - node->data.mapping.pairs.start;
	values = arena__take_array(&taking->use->loaded->arena, count, sizeof(*values));
	if (!values)
		return dart_error__no_memory(yaml->error);
	memset(values, 0, count * sizeof(*values));
	taking->series.values = values;
	taking->series.value_count = count;
	for (pair = node->data.mapping.pairs.start; !ret && pair < node->data.mapping.pairs.top;
	     pair++)
		ret = take_field(yaml, pair, taking, values++);
	return ret;
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node, struct taking *taking)
{
	struct name_value value = {};
	int ret;

	if (taking->use->is_pattern)
		return dart_yaml__refuse(yaml, node, "a pattern has 'fields', not 'value'");
	ret = take_terms(yaml, node, taking, &value) ?:
		      taking->use->find_family(yaml, node, NULL, taking->use->data, &value.family);
	if (ret)
		return ret;
	taking->series.values =
		names__keep_array(yaml, &taking->use->loaded->arena, &value, 1, sizeof(value));
	taking->series.value_count = 1;
	return taking->series.values ? 0 : -ENOMEM;
}

static bool has_label(const struct name_label *labels, uint32_t count, const char *name)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(labels[i].name, name))
			return true;
	return false;
}

/* Returns the name of a label that both the series and @value define; NULL if all names differ. */
static const char *find_twice(const struct name_series *series, const struct name_value *value)
{
	uint32_t i;

	for (i = 0; i < value->label_count; i++) {
		const char *name = value->labels[i].name;

		if (has_label(series->labels, series->label_count, name) ||
		    (series->rows && !strcmp(series->rows, name)))
			return name;
	}
	return NULL;
}

/* Checks that a histogram is one field, and that no label occurs twice. */
static int check_values(struct dart_yaml *yaml, const yaml_node_t *node,
			const struct taking *taking)
{
	const struct name_series *series = &taking->series;
	const struct name_value *value = series->values;
	const char *twice = NULL;

	if (series->rows && has_label(series->labels, series->label_count, series->rows))
		twice = series->rows;
	for (; value < series->values + series->value_count; value++) {
		if (taking->use->is_histogram && (value->term_count != 1 || !value->terms->field))
			return dart_yaml__refuse(yaml, node,
						 "a histogram is the values of one field");
		twice = twice ?: find_twice(series, value);
	}
	if (twice)
		return dart_yaml__refuse(
			yaml, node,
			"'%s' is a label twice ('rows', 'labels' and those of fields together)",
			twice);
	return 0;
}

int names_series__take(struct dart_yaml *yaml, const yaml_node_t *node,
		       const struct names_series_use *use)
{
	static const struct dart_yaml_member members[] = {
		{ "entry", take_entry, 0 },
		{ "rows", take_rows, 0 },
		{ "when", take_when, 0 },
		{ "per", take_per, 0 },
		{ "mask", take_node, offsetof(struct taking, mask) },
		{ "equals", take_node, offsetof(struct taking, equals) },
		{ "above", take_node, offsetof(struct taking, above) },
		{ "zero_from", take_node, offsetof(struct taking, zero_from) },
		{ "signed", take_sign, 0 },
		{ "scale", take_node, offsetof(struct taking, scale) },
		{ "labels", take_node, offsetof(struct taking, labels) },
		{ "fields", take_node, offsetof(struct taking, fields) },
		{ "value", take_node, offsetof(struct taking, value) },
		{}
	};
	struct taking taking = {
		.use = use,
		.series = { .scale = 1, .mask = UINT64_MAX },
	};
	int ret = dart_yaml__take_mapping(yaml, node, members, &taking);

	if (ret)
		return ret;
	if (!taking.series.source || !taking.fields == !taking.value)
		return dart_yaml__refuse(yaml, node,
					 "a series has 'entry', and either 'fields' or 'value'");
	ret = take_conversion(yaml, &taking);
	if (!ret)
		ret = names_labels__take(yaml, taking.labels, &use->loaded->arena, false,
					 &taking.series.labels, &taking.series.label_count);
	if (!ret)
		ret = taking.fields ? take_fields(yaml, taking.fields, &taking) :
				      take_value(yaml, taking.value, &taking);
	if (!ret)
		ret = check_values(yaml, node, &taking);
	if (!ret && loaded_names__add_series(use->loaded, &taking.series))
		ret = dart_error__no_memory(yaml->error);
	return ret;
}
