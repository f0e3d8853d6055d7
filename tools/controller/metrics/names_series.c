// SPDX-License-Identifier: GPL-2.0-only
/* Takes series of names from YAML. */
#include "names_series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/schema.h>

#define TERMS_MAX 16
#define LABEL_MAX 1000 /* bytes of a constant */

/* A series as it stands in the file, with what is taken of it in the arena. */
struct taking {
	const struct names_series_use *use;
	struct name_series series;
	const yaml_node_t *scale;
	const yaml_node_t *labels;
	const yaml_node_t *fields;
	const yaml_node_t *value;
};

static int take_node(struct dart_yaml *yaml, const yaml_node_t *node,
		     void *into)
{
	*(const yaml_node_t **)into = node;
	return 0;
}

static const char *keep(struct dart_yaml *yaml, struct taking *taking,
			const char *text)
{
	const char *copy =
		arena__copy(&taking->use->loaded->arena, text, strlen(text));

	if (!copy)
		dart_error__no_memory(yaml->error);
	return copy;
}

static void *keep_array(struct dart_yaml *yaml, struct taking *taking,
			const void *from, size_t count, size_t size)
{
	void *copy =
		arena__take_array(&taking->use->loaded->arena, count, size);

	if (!copy)
		dart_error__no_memory(yaml->error);
	else if (count)
		memcpy(copy, from, count * size);
	return copy;
}

static int take_entry(struct dart_yaml *yaml, const yaml_node_t *node,
		      void *into)
{
	const char *text = dart_yaml__text(node);
	struct taking *taking = into;

	if (!text || !dart_name__is_valid(text) || strpbrk(text, "@+"))
		return dart_yaml__refuse(
			yaml, node,
			"'%s' is no source: expected an entry's name up to '@' and '+'",
			text ?: "?");
	taking->series.source = keep(yaml, taking, text);
	return taking->series.source ? 0 : -ENOMEM;
}

static int take_label_name(struct dart_yaml *yaml, const yaml_node_t *node,
			   struct taking *taking, const char **name)
{
	const char *text = dart_yaml__text(node);

	if (!text || !name__is_valid(text) || !strcmp(text, "le"))
		return dart_yaml__refuse(
			yaml, node,
			"'%s' cannot be the name of a label (letters, digits and '_'; not 'le')",
			text ?: "?");
	*name = keep(yaml, taking, text);
	return *name ? 0 : -ENOMEM;
}

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node,
		     void *into)
{
	struct taking *taking = into;

	return take_label_name(yaml, node, taking, &taking->series.rows);
}

static int take_scale(struct dart_yaml *yaml, const yaml_node_t *node,
		      struct taking *taking)
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
	return dart_yaml__refuse(yaml, node,
				 "the scale '%s' is not a number above 0",
				 text ?: "?");
}

/* Those that begin with '$': from the entry, its row or the host. */
static int take_label_value(struct dart_yaml *yaml, const yaml_node_t *node,
			    struct taking *taking, bool is_constant,
			    struct name_label *label)
{
	static const struct {
		const char *name;
		enum name_label_kind kind;
	} known[] = {
		{ "selector", NAME_LABEL_SELECTOR },
		{ "netns", NAME_LABEL_NETNS },
		{ "node_name", NAME_LABEL_NODE_NAME },
		{ "boot_id", NAME_LABEL_BOOT_ID },
		{ "host_id", NAME_LABEL_HOST_ID },
	};
	const char *text = dart_yaml__text(node);
	unsigned int i;

	if (!text || !*text || strlen(text) > LABEL_MAX)
		return dart_yaml__refuse(
			yaml, node,
			"the value of '%s' is not a text of 1 to %d bytes",
			label->name, LABEL_MAX);
	label->kind = NAME_LABEL_CONSTANT;
	if (*text == '$') {
		text++;
		label->kind = NAME_LABEL_FIELD;
		for (i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (!strcmp(text, known[i].name))
				label->kind = known[i].kind;
		if (is_constant)
			return dart_yaml__refuse(
				yaml, node,
				"'$%s': labels of a field are constant (put this one under 'labels')",
				text);
		if (!dart_name__is_valid(text))
			return dart_yaml__refuse(
				yaml, node,
				"'$%s' cannot be the name of a field", text);
	}
	label->text = keep(yaml, taking, text);
	return label->text ? 0 : -ENOMEM;
}

/* A mapping of names to values; NULL is an empty one. */
static int take_labels(struct dart_yaml *yaml, const yaml_node_t *node,
		       struct taking *taking, bool is_constant,
		       const struct name_label **labels, uint32_t *count)
{
	struct name_label found[NAMES_LABELS_MAX];
	const yaml_node_t *name, *value;
	yaml_node_pair_t *pair;
	uint32_t i;
	int ret;

	*count = 0;
	if (!node)
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return dart_yaml__refuse(yaml, node, "expected LABEL: VALUE");
	for (pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		name = yaml_document_get_node(&yaml->document, pair->key);
		value = yaml_document_get_node(&yaml->document, pair->value);
		if (*count == NAMES_LABELS_MAX / 2)
			return dart_yaml__refuse(yaml, name,
						 "more than %d labels",
						 NAMES_LABELS_MAX / 2);
		ret = take_label_name(yaml, name, taking, &found[*count].name) ?:
			      take_label_value(yaml, value, taking, is_constant,
					       &found[*count]);
		if (ret)
			return ret;
		for (i = 0; i < *count; i++)
			if (!strcmp(found[i].name, found[*count].name))
				return dart_yaml__refuse(yaml, name,
							 "'%s' occurs twice",
							 found[i].name);
		++*count;
	}
	*labels = keep_array(yaml, taking, found, *count, sizeof(*found));
	return *labels ? 0 : -ENOMEM;
}

/* A word of digits is a constant. */
static int take_term(struct dart_yaml *yaml, const yaml_node_t *node,
		     struct taking *taking, const char *word,
		     struct name_term *term)
{
	if (strspn(word, "0123456789") < strlen(word)) {
		term->field = keep(yaml, taking, word);
		return term->field ? 0 : -ENOMEM;
	}
	if (strlen(word) > 9)
		return dart_yaml__refuse(yaml, node,
					 "the number %s is too large", word);
	term->constant = strtoul(word, NULL, 10);
	return 0;
}

/* "FIELD", "1", "+", "-": a sum begins with a term, and then has an operator and a term. */
static int take_terms(struct dart_yaml *yaml, const yaml_node_t *node,
		      struct taking *taking, struct name_value *value)
{
	struct name_term terms[TERMS_MAX] = {}, *term = terms;
	const char *text = dart_yaml__text(node);
	char word[DART_CONTROL_NAME_MAX];
	bool is_operator = false, is_minus = false;
	size_t length;
	int ret;

	if (!text || !*text)
		return dart_yaml__refuse(yaml, node,
					 "expected FIELD + FIELD - FIELD");
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		length = strcspn(text, " ");
		if (length >= sizeof(word) || term == terms + TERMS_MAX)
			return dart_yaml__refuse(
				yaml, node,
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
		return dart_yaml__refuse(yaml, node,
					 "the value ends with an operator");
	value->term_count = term - terms;
	value->terms = keep_array(yaml, taking, terms, value->term_count,
				  sizeof(*terms));
	return value->terms ? 0 : -ENOMEM;
}

/* FIELD: {LABEL: VALUE}, of a pattern FIELD: NAME. */
static int take_field(struct dart_yaml *yaml, const yaml_node_pair_t *pair,
		      struct taking *taking, struct name_value *value)
{
	const yaml_node_t *name, *use;
	const char *text;
	int ret;

	name = yaml_document_get_node(&yaml->document, pair->key);
	use = yaml_document_get_node(&yaml->document, pair->value);
	text = dart_yaml__text(name);
	if (!text || !dart_name__is_valid(text))
		return dart_yaml__refuse(yaml, name,
					 "'%s' cannot be the name of a field",
					 text ?: "?");
	ret = take_terms(yaml, name, taking, value);
	if (ret)
		return ret;
	if (!taking->use->is_pattern)
		return take_labels(yaml, use, taking, true, &value->labels, &value->label_count) ?:
			       taking->use->find_family(yaml, name, NULL,
							taking->use->data,
							&value->family);
	text = dart_yaml__text(use);
	if (!text || !*text)
		return dart_yaml__refuse(
			yaml, use,
			"expected FIELD: NAME, the text in place of $name");
	return taking->use->find_family(yaml, use, text, taking->use->data,
					&value->family);
}

static int take_fields(struct dart_yaml *yaml, const yaml_node_t *node,
		       struct taking *taking)
{
	struct name_value *values;
	yaml_node_pair_t *pair;
	uint32_t count;
	int ret = 0;

	if (node->type != YAML_MAPPING_NODE ||
	    node->data.mapping.pairs.start == node->data.mapping.pairs.top)
		return dart_yaml__refuse(yaml, node,
					 "expected a mapping of fields");
	count = node->data.mapping.pairs.top - node->data.mapping.pairs.start;
	values = arena__take_array(&taking->use->loaded->arena, count,
				   sizeof(*values));
	if (!values)
		return dart_error__no_memory(yaml->error);
	memset(values, 0, count * sizeof(*values));
	taking->series.values = values;
	taking->series.value_count = count;
	for (pair = node->data.mapping.pairs.start;
	     !ret && pair < node->data.mapping.pairs.top; pair++)
		ret = take_field(yaml, pair, taking, values++);
	return ret;
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node,
		      struct taking *taking)
{
	struct name_value value = {};
	int ret;

	if (taking->use->is_pattern)
		return dart_yaml__refuse(yaml, node,
					 "a pattern has 'fields', not 'value'");
	ret = take_terms(yaml, node, taking, &value) ?:
		      taking->use->find_family(yaml, node, NULL,
					       taking->use->data,
					       &value.family);
	if (ret)
		return ret;
	taking->series.values =
		keep_array(yaml, taking, &value, 1, sizeof(value));
	taking->series.value_count = 1;
	return taking->series.values ? 0 : -ENOMEM;
}

/* A histogram is one field, and no label is there twice. */
static int check_values(struct dart_yaml *yaml, const yaml_node_t *node,
			const struct taking *taking)
{
	const struct name_series *series = &taking->series;
	const struct name_value *value = series->values;
	uint32_t i, k;

	for (; value < series->values + series->value_count; value++) {
		if (taking->use->is_histogram &&
		    (value->term_count != 1 || !value->terms->field))
			return dart_yaml__refuse(
				yaml, node,
				"a histogram is the values of one field");
		for (i = 0; i < series->label_count; i++)
			for (k = 0; k < value->label_count; k++)
				if (!strcmp(series->labels[i].name,
					    value->labels[k].name))
					return dart_yaml__refuse(
						yaml, node,
						"'%s' is a label of the series and of a field",
						series->labels[i].name);
	}
	for (i = 0; series->rows && i < series->label_count; i++)
		if (!strcmp(series->rows, series->labels[i].name))
			return dart_yaml__refuse(
				yaml, node, "'%s' is in 'rows' and in 'labels'",
				series->rows);
	return 0;
}

int names_series__take(struct dart_yaml *yaml, const yaml_node_t *node,
		       const struct names_series_use *use)
{
	static const struct dart_yaml_member members[] = {
		{ "entry", take_entry, 0 },
		{ "rows", take_rows, 0 },
		{ "scale", take_node, offsetof(struct taking, scale) },
		{ "labels", take_node, offsetof(struct taking, labels) },
		{ "fields", take_node, offsetof(struct taking, fields) },
		{ "value", take_node, offsetof(struct taking, value) },
		{}
	};
	struct taking taking = { .use = use, .series.scale = 1 };
	int ret = dart_yaml__take_mapping(yaml, node, members, &taking);

	if (ret)
		return ret;
	if (!taking.series.source || !taking.fields == !taking.value)
		return dart_yaml__refuse(
			yaml, node,
			"a series has 'entry', and either 'fields' or 'value'");
	if (taking.scale)
		ret = take_scale(yaml, taking.scale, &taking);
	if (!ret)
		ret = take_labels(yaml, taking.labels, &taking, false,
				  &taking.series.labels,
				  &taking.series.label_count);
	if (!ret)
		ret = taking.fields ?
			      take_fields(yaml, taking.fields, &taking) :
			      take_value(yaml, taking.value, &taking);
	if (!ret)
		ret = check_values(yaml, node, &taking);
	if (!ret && loaded_names__add_series(use->loaded, &taking.series))
		ret = dart_error__no_memory(yaml->error);
	return ret;
}
