// SPDX-License-Identifier: GPL-2.0-only
/* Targets after their rules, relabel_configs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/sd_json.h"
#include "tools/controller/discovery/target_relabel.h"

static struct target_defaults defaults;
static struct target_list list;
static struct target_faults faults;
static struct dart_error error;

static struct relabel_rules *rules_of(const char *text)
{
	struct relabel_rules *rules;
	const yaml_node_t *root;
	struct dart_yaml yaml;

	assert_int_equal(dart_yaml__parse(&yaml, text, strlen(text), "f", &root, &error), 0);
	assert_int_equal(relabel_rules__read(&yaml, root, &rules), 0);
	dart_yaml__close(&yaml);
	return rules;
}

/* Prints "NAME LABELS; ..." of @list, and empties it. */
static void expect(const char *expected)
{
	char text[2000] = "";
	size_t i;

	for (i = 0; i < list.count; i++)
		sprintf(text + strlen(text), "%s %s; ", list.items[i]->settings.name,
			list.items[i]->settings.labels ? list.items[i]->settings.labels->text :
							 "-");
	assert_string_equal(text, expected);
	target_list__clear(&list);
}

static int parse(const char *rules, const char *json)
{
	struct shared_text *source = shared_text__new("f");
	int ret;

	defaults = (struct target_defaults){
		.interval_ns = 5000000,
		.class = 2,
		.transport = SETTINGS_TRANSPORT_READ,
		.labels = json_pack("{ss ss}", "dc", "d1", "rack", "none"),
		.relabel = rules_of(rules),
		.meta = json_pack("{ss}", "__meta_filepath", "/etc/f"),
	};
	faults = (struct target_faults){};
	ret = sd_json__parse(json, strlen(json), &defaults, source, &list, &faults, &error);
	json_decref(defaults.labels);
	json_decref(defaults.meta);
	relabel_rules__release(defaults.relabel);
	shared_text__release(source);
	return ret;
}

static const char groups[] =
	"[{\"targets\": [\"web1:9100\", \"db1:9100\"],\n"
	"  \"labels\": {\"rack\": \"a7\", \"__meta_role\": \"front\", \"__meta_zone\": \"\"}},\n"
	" {\"targets\": [\"web2:9100\"], \"labels\": {\"__scrape_interval__\": \"250ms\"}}]";

static void test_labels(void **state)
{
	/* The address of another exporter becomes that of the agent. */
	assert_int_equal(parse("[{source_labels: [__address__], regex: '(.*):9100', target_label: __address__},"
			       " {regex: '__meta_(.*)', action: labelmap},"
			       " {regex: filepath, action: labeldrop}]",
			       groups),
			 0);
	assert_int_equal(faults.count, 0);
	assert_int_equal(list.items[0]->settings.interval_ns, 5000000);
	assert_int_equal(list.items[2]->settings.interval_ns, 250000000);
	assert_int_equal(list.items[2]->settings.class, 2);
	expect("db1:4792 {\"dc\":\"d1\",\"rack\":\"a7\",\"role\":\"front\"}; "
	       "web1:4792 {\"dc\":\"d1\",\"rack\":\"a7\",\"role\":\"front\"}; "
	       "web2:4792 {\"dc\":\"d1\",\"rack\":\"none\"}; ");
	assert_int_equal(parse("[{source_labels: [__meta_filepath], target_label: file},"
			       " {regex: dc|rack, action: labeldrop}]",
			       "[{\"targets\": [\"a\"]}]"),
			 0);
	expect("a:4792 {\"file\":\"/etc/f\"}; ");
}

static void test_settings(void **state)
{
	assert_int_equal(parse("[{source_labels: [__address__], regex: 'web.*', target_label: __transport__, replacement: tcp},"
			       " {source_labels: [__address__], regex: '(.*):.*', target_label: __address__},"
			       " {source_labels: [__meta_role], regex: front, target_label: __class__, replacement: '0'},"
			       " {source_labels: [__address__], regex: db1, target_label: __scrape_interval__, replacement: 10s}]",
			       groups),
			 0);
	assert_int_equal(list.items[0]->settings.interval_ns, 10000000000);
	assert_int_equal(list.items[0]->settings.class, 0);
	assert_int_equal(list.items[0]->settings.transport, SETTINGS_TRANSPORT_READ);
	assert_int_equal(list.items[1]->settings.transport, SETTINGS_TRANSPORT_TCP);
	assert_int_equal(list.items[2]->settings.class, 2);
	/* Each transport has its own port. */
	expect("db1:4792 {\"dc\":\"d1\",\"rack\":\"a7\"}; web1:4793 {\"dc\":\"d1\",\"rack\":\"a7\"}; "
	       "web2:4793 {\"dc\":\"d1\",\"rack\":\"none\"}; ");
}

static void test_dropped(void **state)
{
	assert_int_equal(parse("[{source_labels: [__address__], regex: 'web.*', action: drop}]",
			       groups),
			 0);
	assert_int_equal(faults.count, 0);
	assert_int_equal(faults.dropped, 2);
	assert_string_equal(faults.dropped_first[0], "web1:9100");
	assert_string_equal(faults.dropped_first[1], "web2:9100");
	expect("db1:9100 {\"dc\":\"d1\",\"rack\":\"a7\"}; ");
	/* If the rules drop all targets, the list is empty, without an error. */
	assert_int_equal(parse("[{source_labels: [__meta_role], regex: none, action: keep}]",
			       groups),
			 0);
	assert_int_equal(faults.dropped, 3);
	expect("");
	/* As Prometheus shares targets out. */
	assert_int_equal(parse("[{source_labels: [__address__], modulus: 2, target_label: __tmp, action: hashmod},"
			       " {source_labels: [__tmp], regex: '0', action: keep}]",
			       groups),
			 0);
	assert_int_equal(faults.dropped + list.count, 3);
	target_list__clear(&list);
}

static void test_faults(void **state)
{
	static const struct {
		const char *rules, *fault;
	} wrong[] = {
		{ "[{regex: __address__, action: labeldrop}]",
		  "'a' after relabel_configs: '' in __address__ is not an agent" },
		{ "[{target_label: __address__, replacement: 'a b'}]",
		  "'a' after relabel_configs: 'a b' in __address__ is not a" },
		{ "[{target_label: __class__, replacement: '9'}]",
		  "'a' after relabel_configs: '9' is not a class" },
		{ "[{target_label: __scrape_interval__, replacement: now}]",
		  "'a' after relabel_configs: 'now' is not an interval" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		/* A list of nothing but faults is refused as a whole. */
		assert_int_equal(parse(wrong[i].rules, "[{\"targets\": [\"a\"]}]"), -EINVAL);
		if (strncmp(error.text, wrong[i].fault, strlen(wrong[i].fault)))
			fail_msg("%s: %s", wrong[i].rules, error.text);
		assert_int_equal(faults.count, 1);
		expect("");
	}
	assert_int_equal(parse("[{source_labels: [__address__], regex: 'web1.*', target_label: __address__, replacement: ''}]",
			       groups),
			 0);
	assert_int_equal(faults.count, 1);
	expect("db1:9100 {\"dc\":\"d1\",\"rack\":\"a7\"}; web2:9100 {\"dc\":\"d1\",\"rack\":\"none\"}; ");
}

/* Agents of a configuration file, each with its own settings. */
static void test_configured(void **state)
{
	struct relabel_rules *rules =
		rules_of("[{source_labels: [rack], regex: b, action: drop},"
			 " {source_labels: [__address__], regex: '(.*):.*', target_label: node}]");
	struct settings settings = {};
	struct target_settings *target;

	assert_int_equal(settings__add_target(&settings, "one", 1, 7000000), 0);
	assert_int_equal(settings__add_target(&settings, "two", 1, 0), 0);
	settings.targets[0].transport = settings.targets[1].transport = SETTINGS_TRANSPORT_TCP;
	settings.targets[0].labels = shared_text__new("{\"rack\":\"a\"}");
	settings.targets[1].labels = shared_text__new("{\"rack\":\"b\"}");
	faults = (struct target_faults){};
	assert_int_equal(target_list__of_settings(&settings, &list), 0);
	assert_int_equal(target_relabel__list(&list, NULL, &faults), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(target_relabel__list(&list, rules, &faults), 0);
	assert_int_equal(faults.dropped, 1);
	target = &list.items[0]->settings;
	assert_int_equal(target->interval_ns, 7000000);
	assert_int_equal(target->transport, SETTINGS_TRANSPORT_TCP);
	expect("one:1 {\"node\":\"one\",\"rack\":\"a\"}; ");
	settings__clear(&settings);
	relabel_rules__release(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rules see all labels of a source, and make address and labels", test_labels),
		TEST("rules set interval, class and transport", test_settings),
		TEST("dropped targets are counted, and the first are named", test_dropped),
		TEST("a target that rules make useless is left out with a reason", test_faults),
		TEST("rules apply to agents of a configuration", test_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
