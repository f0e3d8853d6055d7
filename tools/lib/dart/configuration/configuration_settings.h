/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of settings of dartd, from which its manual page is made, too. */
#ifndef DART_CONFIGURATION_SETTINGS_H
#define DART_CONFIGURATION_SETTINGS_H

#include <libdart/settings/setting.h>

/* The settings that are a number or a text: members of a struct dart_configuration. */
extern const struct dart_settings dart_configuration__settings;

#endif /* DART_CONFIGURATION_SETTINGS_H */
