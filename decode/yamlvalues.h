/* YAML text as a stream of values, parsed by libyaml. */
#ifndef DEC_YAMLVALUES_H
#define DEC_YAMLVALUES_H

#include <yaml.h>

#include "values.h"

struct dec_yaml {
	struct dec_values r; /* first */
	struct dec_view v;
	yaml_parser_t parser;
	yaml_event_t event; /* the latest: owns the bytes of its scalar */
	bool parser_made, event_made;
	size_t characters, bytes; /* the same place: libyaml counts the one, problems the other */
};

/* Reads the first document in v, which must last as long as the reader. Plain scalars that
 * look like a number or a truth value are one. The caller ends it with dec_yaml_close(). */
void dec_yaml_open(struct dec_yaml *y, struct dec_view v);
void dec_yaml_close(struct dec_yaml *y);

#endif
