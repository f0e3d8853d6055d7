// SPDX-License-Identifier: GPL-2.0-only
/* Rules in the grammar of Prometheus. */
#include <errno.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/relabel/rules.h"

static struct dart_error error;

static int read_rules(const char *text, struct relabel_rules **rules)
{
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret = dart_yaml__parse(&yaml, text, strlen(text), "f", &root, &error);

	assert_int_equal(ret, 0);
	ret = relabel_rules__read(&yaml, root, rules);
	dart_yaml__close(&yaml);
	return ret;
}

/* The labels of @set, as "name=value;..." */
static const char *print(const struct relabel_set *set, char text[static 500])
{
	size_t used = 0;
	uint32_t i;

	*text = '\0';
	for (i = 0; i < set->count; i++)
		used += snprintf(text + used, 500 - used, "%s=%s;", set->labels[i].name,
				 set->labels[i].value);
	return text;
}

/* NULL: the set is dropped. */
static void expect(const char *yaml, const char *wanted)
{
	struct relabel_set set = {};
	struct relabel_rules *rules;
	char text[500];
	int kept;

	assert_int_equal(read_rules(yaml, &rules), 0);
	assert_int_equal(relabel_set__put(&set, "a", "Node-17"), 0);
	assert_int_equal(relabel_set__put(&set, "b", "x"), 0);
	assert_int_equal(relabel_set__put(&set, "c", "x"), 0);
	assert_int_equal(relabel_set__put(&set, "c", "\xc3\x84\xce\xa9"), 0);
	kept = relabel_rules__apply(rules, &set);
	assert_int_equal(kept, wanted != NULL);
	if (wanted)
		assert_string_equal(print(&set, text), wanted);
	relabel_set__free(&set);
	relabel_rules__release(rules);
}

static void test_actions(void **state)
{
	const char rest[] = "b=x;c=\xc3\x84\xce\xa9;";
	char all[100];

	snprintf(all, sizeof(all), "a=Node-17;%s", rest);
	expect("[]", all);
	expect("[{source_labels: [a, b], target_label: a}]", "a=Node-17;x;b=x;c=\xc3\x84\xce\xa9;");
	expect("[{source_labels: [a], regex: '([A-Z])ode-(\\d+)', replacement: '$2$1', target_label: a}]",
	       "a=17N;b=x;c=\xc3\x84\xce\xa9;");
	/* The expression matches whole texts. */
	expect("[{source_labels: [a], regex: 'ode', replacement: z, target_label: a}]", all);
	/* $1x is a group that does not exist, and an empty text removes the label. */
	expect("[{source_labels: [b], replacement: $1x, target_label: a}]", rest);
	expect("[{source_labels: [b], replacement: '${1}x$$', target_label: '${1}_$1'}]",
	       "a=Node-17;b=x;c=\xc3\x84\xce\xa9;x_x=xx$;");
	expect("[{source_labels: [a], regex: '.*17', action: keep}]", all);
	expect("[{source_labels: [a], regex: '.*17', action: DROP}]", NULL);
	expect("[{source_labels: [a], regex: '17', action: drop}]", all);
	expect("[{source_labels: [b], target_label: a, action: keepequal}]", NULL);
	expect("[{source_labels: [none], target_label: other, action: dropequal}]", NULL);
	expect("[{source_labels: [a], modulus: 1000, target_label: a, action: hashmod}]",
	       "a=429;b=x;c=\xc3\x84\xce\xa9;");
	/* A name that becomes another one: the later one of the order stays. */
	expect("[{regex: '[ab]', replacement: d, action: labelmap}]",
	       "a=Node-17;b=x;c=\xc3\x84\xce\xa9;d=x;");
	expect("[{regex: 'a|c', action: labeldrop}]", "b=x;");
	expect("[{regex: 'a|c', action: labelkeep}]", "a=Node-17;c=\xc3\x84\xce\xa9;");
	expect("[{source_labels: [c], target_label: c, action: lowercase}]",
	       "a=Node-17;b=x;c=\xc3\xa4\xcf\x89;");
	expect("[{source_labels: [a], target_label: b, action: uppercase}]",
	       "a=Node-17;b=NODE-17;c=\xc3\x84\xce\xa9;");
	/* It takes no longer than another one. */
	expect("[{source_labels: [a], regex: '(.*.*)*(x+x+)+y(.|.)*z', action: drop}]", all);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *yaml, *sentence;
	} wrong[] = {
		{ "[{action: ''}]", "f:1: '' is not an action" },
		{ "[{}]", "f:1: action replace needs a 'target_label'" },
		{ "[{target_label: 'a-b'}]",
		  "f:1: 'a-b' is not a valid 'target_label' of action replace" },
		{ "[{target_label: '$1-'}]",
		  "f:1: '$1-' is not a valid 'target_label' of action replace" },
		{ "[\n{target_label: a, action: hashmod}]",
		  "f:2: action hashmod needs a 'modulus'" },
		{ "[{modulus: -1}]", "f:1: '-1' is not a modulus" },
		{ "[{modulus: 18446744073709551616}]",
		  "f:1: '18446744073709551616' is not a modulus" },
		{ "[{target_label: $1, action: lowercase}]",
		  "f:1: '$1' is not a valid 'target_label' of action lowercase" },
		{ "[{target_label: a, replacement: b, action: uppercase}]",
		  "f:1: action uppercase takes no 'replacement'" },
		{ "[{target_label: a, regex: '(.*)', action: keepequal}]",
		  "f:1: action keepequal takes only 'source_labels' and 'target_label'" },
		{ "[{source_labels: [], action: labeldrop}, {source_labels: [a], action: labelkeep}]",
		  "f:1: action labelkeep takes only 'regex'" },
		{ "[{replacement: 'a-', action: labelmap}]",
		  "f:1: 'a-' is not a valid 'replacement' of action labelmap" },
		{ "[{regex: '(', target_label: a}]",
		  "f:1: '(' is not a regular expression: missing" },
		{ "[{regex: '(?=a)', action: drop}]",
		  "f:1: '(?=a)' is not a regular expression: " },
		{ "[{regex: '(a)\\1', action: drop}]",
		  "f:1: '(a)\\1' is not a regular expression: " },
		{ "[{regex: '\\C', action: drop}]", "f:1: '\\C' is not a regular expression: " },
		{ "[{regex: 'a{1001}', action: drop}]",
		  "f:1: 'a{1001}' is not a regular expression: " },
		{ "[{source_labels: [''], action: drop}]", "f:1: expected the name of a label" },
		{ "[{source: [a], action: drop}]", "f:1: " },
	};
	struct relabel_rules *rules;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(read_rules(wrong[i].yaml, &rules), -EINVAL);
		if (strncmp(error.text, wrong[i].sentence, strlen(wrong[i].sentence)))
			assert_string_equal(error.text, wrong[i].sentence);
		relabel_rules__release(rules);
	}
}

static void test_touch(void **state)
{
	struct relabel_rules *rules, *same, *other;

	assert_int_equal(
		read_rules("[{regex: 'x.*', action: labeldrop}, {target_label: y}]", &rules), 0);
	assert_int_equal(read_rules("[{regex: x.*, action: LabelDrop}, {target_label: y}]", &same),
			 0);
	assert_int_equal(read_rules("[{target_label: '${1}'}]", &other), 0);
	assert_true(relabel_rules__touch(rules, "xa"));
	assert_true(relabel_rules__touch(rules, "y"));
	assert_false(relabel_rules__touch(rules, "z"));
	assert_true(relabel_rules__touch(other, "z"));
	assert_false(relabel_rules__touch(NULL, "z"));
	assert_true(relabel_rules__equal(rules, same));
	assert_false(relabel_rules__equal(rules, other));
	assert_false(relabel_rules__equal(rules, NULL));
	relabel_rules__release(rules);
	relabel_rules__release(same);
	relabel_rules__release(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("each action has the results of Prometheus", test_actions),
		TEST("rules that Prometheus refuses are refused with a sentence", test_refusals),
		TEST("the labels that rules may change are known", test_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
