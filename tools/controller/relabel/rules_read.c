// SPDX-License-Identifier: GPL-2.0-only
/* Reads rules, refuses the ones that Prometheus refuses, and compares and frees them. */
#include "rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rules_private.h"

#define DEFAULT_SEPARATOR ";"
#define DEFAULT_PATTERN "(.*)"
#define DEFAULT_REPLACEMENT "$1"
/* A label name in which groups of the expression may stand. */
#define TARGET_PATTERN "(?:(?:[a-zA-Z_]|\\$(?:\\{\\w+\\}|\\w+))+\\w*)+"
#define REASON_MAX 200

static const char *const action_names[RELABEL_ACTIONS] = {
	[RELABEL_REPLACE] = "replace",	   [RELABEL_KEEP] = "keep",
	[RELABEL_DROP] = "drop",	   [RELABEL_KEEPEQUAL] = "keepequal",
	[RELABEL_DROPEQUAL] = "dropequal", [RELABEL_HASHMOD] = "hashmod",
	[RELABEL_LABELMAP] = "labelmap",   [RELABEL_LABELDROP] = "labeldrop",
	[RELABEL_LABELKEEP] = "labelkeep", [RELABEL_LOWERCASE] = "lowercase",
	[RELABEL_UPPERCASE] = "uppercase",
};

/* Actions as bits. */
#define IS(action, ...) (1U << (action) & (__VA_ARGS__))
#define BIT(name) (1U << RELABEL_##name)
#define NEED_TARGET                                                                       \
	(BIT(REPLACE) | BIT(HASHMOD) | BIT(LOWERCASE) | BIT(UPPERCASE) | BIT(KEEPEQUAL) | \
	 BIT(DROPEQUAL))
#define TAKE_NO_REPLACEMENT (BIT(LOWERCASE) | BIT(UPPERCASE) | BIT(KEEPEQUAL) | BIT(DROPEQUAL))

bool relabel_name__is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char more[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name && strchr(letters, *name) && !name[strspn(name, more)];
}

static void relabel_rule__clear(struct relabel_rule *rule)
{
	size_t i;

	for (i = 0; i < rule->source_count; i++)
		free(rule->sources[i]);
	free(rule->sources);
	free(rule->separator);
	free(rule->pattern);
	free(rule->target);
	free(rule->replacement);
	regex__free(rule->regex);
	if (rule->locale)
		freelocale(rule->locale);
}

/* ---- the keys of a rule */

static int take_action(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	enum relabel_action *action = into;

	for (*action = 0; text && *action < RELABEL_ACTIONS; ++*action)
		if (!strcasecmp(text, action_names[*action]))
			return 0;
	return dart_yaml__refuse(
		yaml, node,
		"'%.50s' is not an action (expected replace, keep, drop, keepequal, dropequal, hashmod, labelmap, labeldrop, labelkeep, lowercase or uppercase)",
		text ?: "");
}

static int take_text(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	char **copy = into;

	if (!text)
		return dart_yaml__refuse(yaml, node, "expected a text without control characters");
	*copy = strdup(text);
	return *copy ? 0 : dart_error__no_memory(yaml->error);
}

static int take_modulus(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node);
	uint64_t *modulus = into;
	char *end;

	if (text && *text >= '0' && *text <= '9') {
		errno = 0;
		*modulus = strtoull(text, &end, 10);
		if (!errno && !*end)
			return 0;
	}
	return dart_yaml__refuse(yaml, node,
				 "'%.50s' is not a modulus (expected 1 to 18446744073709551615)",
				 text ?: "");
}

static int take_source(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct relabel_rule *rule = into;
	const char *text = dart_yaml__text(item);
	char **larger;

	if (!text || !*text)
		return dart_yaml__refuse(yaml, item, "expected the name of a label");
	larger = reallocarray(rule->sources, rule->source_count + 1, sizeof(*larger));
	if (!larger)
		return dart_error__no_memory(yaml->error);
	rule->sources = larger;
	rule->sources[rule->source_count] = strdup(text);
	if (!rule->sources[rule->source_count])
		return dart_error__no_memory(yaml->error);
	rule->source_count++;
	return 0;
}

static int take_sources(struct dart_yaml *yaml, const yaml_node_t *node, void *rule)
{
	return dart_yaml__take_list(yaml, node, take_source, rule);
}

static const struct dart_yaml_member members[] = {
	{ "action", take_action, offsetof(struct relabel_rule, action) },
	{ "source_labels", take_sources, 0 },
	{ "separator", take_text, offsetof(struct relabel_rule, separator) },
	{ "regex", take_text, offsetof(struct relabel_rule, pattern) },
	{ "modulus", take_modulus, offsetof(struct relabel_rule, modulus) },
	{ "target_label", take_text, offsetof(struct relabel_rule, target) },
	{ "replacement", take_text, offsetof(struct relabel_rule, replacement) },
	{},
};

/* ---- a rule as a whole */

static bool differs(const char *text, const char *by_default)
{
	return text && strcmp(text, by_default) != 0;
}

/* Compiles @pattern; without memory the error says so. */
static int compile(struct dart_yaml *yaml, const yaml_node_t *item, const char *pattern,
		   struct regex **regex)
{
	char why[REASON_MAX];
	const int ret = regex__new(pattern, regex, why, sizeof(why));

	if (ret == -EINVAL)
		return dart_yaml__refuse(yaml, item, "'%.150s' is not a regular expression: %s",
					 pattern, why);
	return ret ? dart_error__no_memory(yaml->error) : 0;
}

/* Is @text a label name, or a template of one? */
static int check_template(struct dart_yaml *yaml, const yaml_node_t *item, const char *key,
			  const char *text, const char *action)
{
	struct regex *regex;
	int ret = compile(yaml, item, TARGET_PATTERN, &regex);

	if (ret)
		return ret;
	ret = regex__search(regex, text, 0, NULL, 0);
	regex__free(regex);
	if (ret < 0)
		return dart_error__no_memory(yaml->error);
	return ret ? 0 :
		     dart_yaml__refuse(yaml, item, "'%.150s' is not a valid '%s' of action %s",
				       text, key, action);
}

/* Which keys an action needs, and which it does not take, as in Prometheus. */
static int check_keys(struct dart_yaml *yaml, const yaml_node_t *item,
		      const struct relabel_rule *rule)
{
	const char *action = action_names[rule->action];

	if (rule->action == RELABEL_HASHMOD && !rule->modulus)
		return dart_yaml__refuse(yaml, item, "action hashmod needs a 'modulus' above 0");
	if (IS(rule->action, NEED_TARGET) && (!rule->target || !*rule->target))
		return dart_yaml__refuse(yaml, item, "action %s needs a 'target_label'", action);
	if (IS(rule->action, NEED_TARGET & ~BIT(REPLACE)) && !relabel_name__is_valid(rule->target))
		return dart_yaml__refuse(yaml, item,
					 "'%.150s' is not a valid 'target_label' of action %s",
					 rule->target, action);
	if (IS(rule->action, BIT(KEEPEQUAL) | BIT(DROPEQUAL)) &&
	    (rule->pattern || rule->modulus || differs(rule->separator, DEFAULT_SEPARATOR) ||
	     differs(rule->replacement, DEFAULT_REPLACEMENT)))
		return dart_yaml__refuse(
			yaml, item,
			"action %s takes only 'source_labels' and 'target_label', and no other key",
			action);
	if (IS(rule->action, TAKE_NO_REPLACEMENT) &&
	    differs(rule->replacement, DEFAULT_REPLACEMENT))
		return dart_yaml__refuse(yaml, item, "action %s takes no 'replacement'", action);
	if (IS(rule->action, BIT(LABELDROP) | BIT(LABELKEEP)) &&
	    (rule->sources || differs(rule->target, "") || rule->modulus ||
	     differs(rule->separator, DEFAULT_SEPARATOR) ||
	     differs(rule->replacement, DEFAULT_REPLACEMENT)))
		return dart_yaml__refuse(yaml, item,
					 "action %s takes only 'regex', and no other key", action);
	return 0;
}

static int set_default(struct dart_yaml *yaml, char **text, const char *by_default)
{
	if (*text)
		return 0;
	*text = strdup(by_default);
	return *text ? 0 : dart_error__no_memory(yaml->error);
}

static int complete(struct dart_yaml *yaml, const yaml_node_t *item, struct relabel_rule *rule)
{
	const char *action = action_names[rule->action];
	int ret = set_default(yaml, &rule->separator, DEFAULT_SEPARATOR)	     ?:
			  set_default(yaml, &rule->pattern, DEFAULT_PATTERN)	     ?:
			  set_default(yaml, &rule->target, "")			     ?:
			  set_default(yaml, &rule->replacement, DEFAULT_REPLACEMENT) ?:
			  compile(yaml, item, rule->pattern, &rule->regex);

	if (!ret && rule->action == RELABEL_REPLACE)
		ret = check_template(yaml, item, "target_label", rule->target, action);
	if (!ret && rule->action == RELABEL_LABELMAP)
		ret = check_template(yaml, item, "replacement", rule->replacement, action);
	if (ret)
		return ret;
	rule->group_count = regex__groups(rule->regex) + 1;
	if (!IS(rule->action, BIT(LOWERCASE) | BIT(UPPERCASE)))
		return 0;
	rule->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
	return rule->locale ?
		       0 :
		       dart_yaml__refuse(
			       yaml, item,
			       "action %s needs the locale C.UTF-8, which this machine lacks (install it)",
			       action);
}

static int read_rule(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	struct relabel_rules *rules = into;
	struct relabel_rule rule = { .action = RELABEL_REPLACE }, *larger;
	int ret = dart_yaml__take_mapping(yaml, item, members, &rule) ?:
			  check_keys(yaml, item, &rule)		      ?:
									complete(yaml, item, &rule);

	if (!ret) {
		larger = reallocarray(rules->rules, rules->count + 1, sizeof(*larger));
		if (larger) {
			rules->rules = larger;
			rules->rules[rules->count++] = rule;
			return 0;
		}
		ret = dart_error__no_memory(yaml->error);
	}
	relabel_rule__clear(&rule);
	return ret;
}

/* ---- all rules */

int relabel_rules__read(struct dart_yaml *yaml, const yaml_node_t *node,
			struct relabel_rules **rulesp)
{
	struct relabel_rules *rules = calloc(1, sizeof(*rules));

	*rulesp = NULL;
	if (!rules)
		return dart_error__no_memory(yaml->error);
	atomic_init(&rules->holders, 1);
	*rulesp = rules;
	return dart_yaml__take_list(yaml, node, read_rule, rules);
}

struct relabel_rules *relabel_rules__hold(struct relabel_rules *rules)
{
	if (rules)
		atomic_fetch_add(&rules->holders, 1);
	return rules;
}

void relabel_rules__release(struct relabel_rules *rules)
{
	size_t i;

	if (!rules || atomic_fetch_sub(&rules->holders, 1) != 1)
		return;
	for (i = 0; i < rules->count; i++)
		relabel_rule__clear(&rules->rules[i]);
	free(rules->rules);
	free(rules);
}

static bool are_rules_equal(const struct relabel_rule *one, const struct relabel_rule *other)
{
	size_t i;

	if (one->action != other->action || one->source_count != other->source_count ||
	    one->modulus != other->modulus || strcmp(one->separator, other->separator) ||
	    strcmp(one->pattern, other->pattern) || strcmp(one->target, other->target) ||
	    strcmp(one->replacement, other->replacement))
		return false;
	for (i = 0; i < one->source_count; i++)
		if (strcmp(one->sources[i], other->sources[i]))
			return false;
	return true;
}

bool relabel_rules__is_empty(const struct relabel_rules *rules)
{
	return !rules || !rules->count;
}

bool relabel_rules__equal(const struct relabel_rules *one, const struct relabel_rules *other)
{
	size_t i;

	if (one == other || (relabel_rules__is_empty(one) && relabel_rules__is_empty(other)))
		return true;
	if (!one || !other || one->count != other->count)
		return false;
	for (i = 0; i < one->count; i++)
		if (!are_rules_equal(&one->rules[i], &other->rules[i]))
			return false;
	return true;
}
