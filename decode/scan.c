/*
 * Finds magics at memory speed. Sixteen positions are compared at once, on the first and
 * the last of the four bytes: together they are rarer in code and text than two neighbours.
 */
#include "internal.h"

typedef uint8_t lanes __attribute__((vector_size(16)));
#define LANES sizeof(lanes)
#define PREFIX DEC_SCAN_PREFIX

#define X(format) &dec_format_##format,
static const struct dec_format_row *const formats[] = {
#include "formats.def"
};
#undef X
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static lanes load(const uint8_t *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static lanes splat(char byte)
{
	lanes v = { 0 };

	return v + (uint8_t)byte;
}

static bool any(lanes v)
{
	uint64_t halves[2];

	memcpy(halves, &v, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}

static bool prefix_at(const uint8_t *p)
{
	for (size_t f = 0; f < FORMATS; f++)
		if (memcmp(p, formats[f]->magic, PREFIX) == 0)
			return true;
	return false;
}

static size_t scan_slowly(const uint8_t *bytes, size_t from, size_t to)
{
	while (from < to && !prefix_at(bytes + from))
		from++;
	return from;
}

size_t dec_scan(const uint8_t *bytes, size_t len, size_t start)
{
	lanes first[FORMATS], last[FORMATS];
	size_t end, i = start;

	if (len < PREFIX)
		return len;
	end = len - PREFIX + 1; /* positions from here on are not looked at */
	for (size_t f = 0; f < FORMATS; f++) {
		first[f] = splat(formats[f]->magic[0]);
		last[f] = splat(formats[f]->magic[PREFIX - 1]);
	}
	for (; i < end && end - i >= LANES; i += LANES) {
		lanes a = load(bytes + i), d = load(bytes + i + PREFIX - 1), hit = { 0 };

		for (size_t f = 0; f < FORMATS; f++)
			hit |= (lanes)(a == first[f]) & (lanes)(d == last[f]);
		if (any(hit)) {
			size_t found = scan_slowly(bytes, i, i + LANES);

			if (found < i + LANES)
				return found;
		}
	}
	i = scan_slowly(bytes, i, i < end ? end : i);
	return i < end ? i : len;
}
