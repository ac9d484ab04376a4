/*
 * Which device a cubin is for. The flags give the base; the suffix is looked for in
 * .nv.compat, then the flags, then the assembler's command line in a note.
 */
#include "cubin.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

enum { OSABI_7 = 0x33, OSABI_8 = 0x41 };
enum { COMPAT_ACCELERATOR = 9 };
/* The first architecture with an 'f' variant: below it, what is not 'a' is plain. */
enum { FIRST_WITH_FAMILY = 100 };

static const struct {
	unsigned abi, first, bits, field;
} flag_fields[] = {
#define X(abi, first, bits, field, name) { abi, first, bits, DEC_CUBIN_FLAG_##field },
#include "cubin_flags.def"
#undef X
};

bool dec_cubin_read_flags(struct dec_cubin *c)
{
	const struct dec_elf *h = &c->elf.h;
	uint64_t at = c->x->payload.origin;

	c->abi = h->abiversion >= DEC_CUBIN_ABI_8 ? DEC_CUBIN_ABI_8 : DEC_CUBIN_ABI_7;
	for (size_t i = 0; i < sizeof(flag_fields) / sizeof(flag_fields[0]); i++) {
		uint32_t value =
			h->flags >> flag_fields[i].first & ((1u << flag_fields[i].bits) - 1);

		if (flag_fields[i].abi != c->abi)
			continue;
		if (flag_fields[i].field == DEC_CUBIN_FLAG_SM)
			c->sm = value;
		else if (flag_fields[i].field == DEC_CUBIN_FLAG_ACCELERATOR)
			c->accelerator = value;
	}
	if (h->abiversion > DEC_CUBIN_ABI_8 &&
	    !dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION, at + EI_ABIVERSION,
			   "EI_ABIVERSION", DEC_COMPLETE,
			   "ABI version %u is not known; it is read as version 8", h->abiversion))
		return false;
	if (h->osabi == OSABI_7 || h->osabi == OSABI_8)
		return true;
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION, at + EI_OSABI,
			     "EI_OSABI", DEC_COMPLETE, "0x%02x is not one of CUDA's two values",
			     h->osabi);
}

/* ---- .nv.compat -------------------------------------------------------------------------------- */

/* The attribute that says 'a'. *found false: it is not there. */
static bool read_compat(struct dec_cubin *c, bool *found, bool *accelerator)
{
	*found = false;
	*accelerator = false;
	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view v = dec_elfview_bytes(&c->elf, &c->sections[i]);
		struct dec_info_record r;
		const char *fault;

		if (c->sections[i].type != DEC_SHT_NV_COMPAT)
			continue;
		while (dec_info_next(&v, &r, &fault)) {
			if (r.attribute != COMPAT_ACCELERATOR)
				continue;
			*found = true;
			*accelerator = r.format == DEC_INFO_SIZED ? r.bytes.len && r.bytes.p[0] == 1
								  : r.value == 1;
		}
		if (fault)
			return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_INFO, v.origin,
					     ".nv.compat", DEC_PARTIAL, "%s", fault);
	}
	return true;
}

/* ---- notes ----------------------------------------------------------------------------------------- */

#define OWNER "NVIDIA Corp"

bool dec_cubin_next_note(struct dec_view *v, struct dec_elf_note *note, bool *broken)
{
	if (!dec_elf_next_note(v, note, broken))
		return false;
	if (!dec_starts(note->owner, OWNER, sizeof(OWNER)))
		note->type = 0;
	return true;
}

#define TKINFO_HEADER 24 /* version and five offsets into the strings behind */

struct dec_view dec_cubin_tkinfo(struct dec_view desc, unsigned which)
{
	struct dec_view text = { (const uint8_t *)dec_absent, 0, 0 };
	uint32_t at;

	if (desc.len < TKINFO_HEADER)
		return text;
	at = dec_le32(desc.p + 4 + (size_t)4 * which);
	if (!dec_slice(desc, TKINFO_HEADER + (uint64_t)at, 0, &text))
		return text;
	text.len = strnlen((const char *)text.p, (size_t)(desc.p + desc.len - text.p));
	return text;
}

/* The word behind -arch in a command line; empty: none. */
static struct dec_view arch_word(struct dec_view command)
{
	static const char option[] = "-arch";
	const size_t len = sizeof(option) - 1;

	for (size_t i = 0; i < command.len; i++) {
		struct dec_view word = { command.p + i, command.len - i, command.origin + i };
		size_t at = len, end;

		if (!dec_starts(word, option, len) || (i && command.p[i - 1] != ' '))
			continue;
		while (at < word.len && (word.p[at] == ' ' || word.p[at] == '='))
			at++;
		for (end = at; at > len && end < word.len && word.p[end] > ' '; end++)
			;
		return (struct dec_view){ word.p + at, end - at, word.origin + at };
	}
	return (struct dec_view){ command.p, 0, command.origin };
}

/* The suffix in "sm_100f" if it is of this SM number. */
static bool arch_variant(struct dec_view word, uint32_t sm, char *variant)
{
	char plain[24];
	int len = snprintf(plain, sizeof(plain), "sm_%" PRIu32, sm);

	if (!dec_starts(word, plain, (size_t)len) || word.len > (size_t)len + 1)
		return false;
	*variant = word.len > (size_t)len ? (char)word.p[len] : 0;
	return *variant == 0 || *variant == 'a' || *variant == 'f';
}

/* The first word behind -arch in the tool notes that is a spelling of c->sm: a linked cubin
 * has one note per input too. Empty: none. */
static bool read_tkinfo(struct dec_cubin *c, struct dec_view *word, char *variant)
{
	*word = (struct dec_view){ (const uint8_t *)dec_absent, 0, 0 };
	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view v = dec_elfview_bytes(&c->elf, &c->sections[i]);
		struct dec_elf_note note;
		bool broken = false;

		if (c->sections[i].type != SHT_NOTE)
			continue;
		while (dec_cubin_next_note(&v, &note, &broken)) {
			struct dec_view arch;

			if (note.type != DEC_NT_TKINFO || word->len)
				continue;
			arch = arch_word(dec_cubin_tkinfo(note.desc, DEC_TKINFO_COMMAND));
			if (arch.len && arch_variant(arch, c->sm, variant))
				*word = arch;
		}
		if (broken &&
		    !dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_NOTE, v.origin, "note",
				   DEC_PARTIAL, "a note does not lie in its section"))
			return false;
	}
	return true;
}

/* ---- the target --------------------------------------------------------------------------------------- */

static bool declare(struct dec_cubin *c, enum dec_evidence evidence, char variant,
		    struct dec_view word)
{
	struct dec_declared d;
	char flags[16];

	dec_declare_sm(&d, DEC_CLASS_SM, c->sm, variant);
	if (evidence == DEC_EVIDENCE_CUBIN_TKINFO)
		return dec_exam_target(c->x, evidence, &d, word);
	snprintf(flags, sizeof(flags), "0x%08" PRIx32, c->elf.h.flags);
	return dec_exam_target(c->x, evidence, &d,
			       (struct dec_view){ (const uint8_t *)flags, strlen(flags), 0 });
}

/* The attribute is the better witness: it was right in every cubin seen, while the flag is clear
 * in most that are 'a'. */
static bool note_disagreement(struct dec_cubin *c)
{
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_NOTE_FLAGS_DISAGREE,
			     c->x->payload.origin + offsetof(Elf64_Ehdr, e_flags), "e_flags",
			     DEC_COMPLETE, "the flags say 'a', .nv.compat says that it is not");
}

bool dec_cubin_find_target(struct dec_cubin *c)
{
	bool compat, accelerator;
	struct dec_view word;
	char variant = 0;

	if (!read_compat(c, &compat, &accelerator) || !read_tkinfo(c, &word, &variant))
		return false;
	if (!c->sm)
		return true;
	if (accelerator)
		return declare(c, DEC_EVIDENCE_CUBIN_COMPAT, 'a', word);
	if (compat && c->accelerator && !note_disagreement(c))
		return false;
	/* Not 'a' by the attribute, and no other suffix that it could have. */
	if (compat && (c->sm < FIRST_WITH_FAMILY || !word.len || variant == 'a'))
		return declare(c, DEC_EVIDENCE_CUBIN_COMPAT, 0, word);
	if (word.len && (variant == 'a' || compat || !c->accelerator))
		return declare(c, DEC_EVIDENCE_CUBIN_TKINFO, variant, word);
	return declare(c, DEC_EVIDENCE_CUBIN_FLAGS, c->accelerator ? 'a' : 0, word);
}
