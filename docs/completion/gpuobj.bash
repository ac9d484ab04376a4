# bash completion of gpuobj and gpuobjfs. Commands, options and what they take come from the
# programs' own help, paths inside an artifact from "gpuobj ls", which examines no payload where
# this asks. Works without the package bash-completion.

# A word as it is typed, without its quotes, in __gpuobj_plain; a quote that is still open, in
# __gpuobj_open.
__gpuobj_unquote() {
	local text=$1 quote='' c i
	__gpuobj_plain=''
	for ((i = 0; i < ${#text}; i++)); do
		c=${text:i:1}
		case $quote$c in
		\\) ((++i)); __gpuobj_plain+=${text:i:1} ;;
		\"\\)
			case ${text:i+1:1} in
			['"\$`']) ((++i)); c=${text:i:1} ;;
			esac
			__gpuobj_plain+=$c
			;;
		\' | \") quote=$c ;;
		\'\' | \"\") quote='' ;;
		*) __gpuobj_plain+=$c ;;
		esac
	done
	__gpuobj_open=$quote
	[[ $__gpuobj_plain != '~'/* ]] || __gpuobj_plain=$HOME${__gpuobj_plain:1}
}

# Puts the words up to the cursor in __gpuobj_words, unquoted. bash divides gfx90a:xnack- and
# cache=1M, where COMP_WORDBREAKS says so: those become one word again, and of the last one
# __gpuobj_before is what bash leaves as it is when it puts in a completion.
__gpuobj_split() {
	local line=${COMP_LINE} word i raw=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if ((i > 0)) && [[ $word && $line == "$word"* ]] &&
			[[ $word == [:=]* || ${raw[-1]} == *[:=] ]]; then
			raw[-1]+=$word
		else
			raw+=("$word")
		fi
		line=${line#*"$word"}
	done
	# The cursor behind a divider: the word that it begins is still empty.
	[[ $word == *[!:=]* ]] || word=''
	__gpuobj_unquote "${raw[-1]%"$word"}"
	__gpuobj_before=$__gpuobj_plain
	[[ ${raw[-1]} == *[:=]* && $COMP_WORDBREAKS == *[:=]* ]] || __gpuobj_before=''
	__gpuobj_words=()
	for word in "${raw[@]}"; do
		__gpuobj_unquote "$word"
		__gpuobj_words+=("$__gpuobj_plain")
	done
}

# Offers those of the words that begin as the current one does; the rest of the line is bash's.
__gpuobj_offer() {
	local word
	for word; do
		[[ $word == "$cur"* ]] && COMPREPLY+=("${word#"$__gpuobj_before"}")
	done
}

__gpuobj_files() { # -f, or -d for directories alone
	local file
	compopt -o filenames
	while IFS= read -r file; do
		COMPREPLY+=("${file#"$__gpuobj_before"}")
	done < <(compgen "$1" -- "$cur")
}

# Names in a directory of the artifact, a slash behind those of directories. Listing what is
# deeper in inspect/ than its first level would examine payloads, and so would asking for sizes
# there.
__gpuobj_inside() {
	local dir='' name detail
	[[ $cur != */* ]] || dir=${cur%/*}/
	[[ /$dir != */inspect/?* ]] || return
	compopt -o filenames -o nospace
	if [[ /$dir == */inspect/ ]]; then
		while IFS= read -r name; do
			[[ $name == *.* ]] || name+=/
			__gpuobj_offer "$dir$name"
		done < <("$program" ls "${artifact[@]}" "/$dir" 2>/dev/null)
	else
		detail='^([-d])[^ ]* +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ (.*)$'
		while IFS= read -r name; do
			[[ $name =~ $detail ]] || continue
			name=${BASH_REMATCH[2]}
			[[ ${BASH_REMATCH[1]} != d ]] || name+=/
			__gpuobj_offer "$dir$name"
		done < <("$program" ls -l "${artifact[@]}" "/$dir" 2>/dev/null)
	fi
	# Behind a single match readline closes the quote, if it is no directory outside.
	if [[ $__gpuobj_open && ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then
		COMPREPLY+=("${COMPREPLY[0]}.")
		return
	fi
	# A file is complete, and a blank may follow.
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} == */ ]] || compopt +o nospace
}

# Options that stand in a help: lines "    -x, --xx  what".
__gpuobj_options() {
	local line
	while IFS= read -r line; do
		[[ $line =~ ^\ {4}(-[^\ ,]+)(,\ (--[^\ ]+))? ]] || continue
		__gpuobj_offer "${BASH_REMATCH[1]}"
		[[ ! ${BASH_REMATCH[3]} ]] || __gpuobj_offer "${BASH_REMATCH[3]}"
	done <<<"$help"
}

# What an option of the help takes, in REPLY: "    --xx FILE  what"; empty: nothing.
__gpuobj_takes() {
	REPLY=''
	[[ $'\n'$help =~ $'\n'"    "([^\ ]+,\ )?"$1"\ ([A-Z]+)\  ]] && REPLY=${BASH_REMATCH[2]}
}

# The list behind -o: lines "    name=WHAT  what" of --help options.
__gpuobj_list() {
	local line file given=$cur
	cur=${cur##*,}
	if [[ $cur == tmpdir=* ]]; then
		# Not as file names: what stands before them in the word is none.
		compopt -o nospace
		while IFS= read -r file; do
			printf -v file %q "$file"
			COMPREPLY+=("${given%"${cur#*=}"}$file/")
		done < <(compgen -d -- "${cur#*=}")
		COMPREPLY=("${COMPREPLY[@]#"$__gpuobj_before"}")
		return
	fi
	[[ $cur != *=* ]] || return
	local lead=${given%"$cur"}
	cur=$given
	while IFS= read -r line; do
		[[ $line =~ ^\ {4}([a-z][a-z0-9_]*)(=?)[^\ ]*\ \  ]] || continue
		__gpuobj_offer "$lead${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
	done < <("$program" --help options 2>/dev/null)
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

# What the usage of a command names: ARTIFACT, PATH..., DEST. Sets the array kinds to what may
# stand at the position that is being completed.
__gpuobj_kinds() { # USAGE POSITION
	local usage=$1 at=$2 word i=0 repeated=''
	kinds=()
	while [[ $usage =~ \[-[^]]*\] ]]; do
		usage=${usage/"${BASH_REMATCH[0]}"/}
	done
	for word in $usage; do
		word=${word#[}
		word=${word%]}
		[[ $repeated || $i == "$at" || ($word == *... && $i -le $at) ]] && kinds+=("${word%...}")
		[[ $word != *... || $i -gt $at ]] || repeated=1
		((++i))
	done
}

__gpuobj_word() { # KIND
	case $1 in
	PATH) [[ ! $known ]] || __gpuobj_inside ;;
	MOUNTPOINT) __gpuobj_files -d ;;
	REQUEST) ;;
	DEVICE) ;;
	*) __gpuobj_files -f ;;
	esac
}

_gpuobj() {
	local cur program help usage='' line i word option kinds known='' sample='' topic='' REPLY
	local __gpuobj_words __gpuobj_plain __gpuobj_open __gpuobj_before
	local artifact=() positional=()

	COMPREPLY=()
	__gpuobj_split
	cur=${__gpuobj_words[-1]}
	program=${__gpuobj_words[0]}
	help=$("$program" --help 2>/dev/null) || return
	[[ $help != *'usage: gpuobjfs '* ]] || usage='ARTIFACT MOUNTPOINT'
	for ((i = 1; i < ${#__gpuobj_words[@]} - 1; i++)); do
		word=${__gpuobj_words[i]}
		option=''
		case $word in
		-o) option=OPTION ;;
		--sample) sample=1 ;;
		-h | --help) topic=1 ;;
		-*)
			__gpuobj_takes "$word"
			option=$REPLY
			;;
		*)
			if [[ $usage ]]; then
				positional+=("$word")
			elif [[ $topic ]]; then
				return
			else
				help=$("$program" "$word" --help 2>/dev/null) || return
				[[ $help =~ usage:\ gpuobj\ [^\ ]+\ ([^$'\n']*) ]] || return
				usage=${BASH_REMATCH[1]}
			fi
			;;
		esac
		[[ ! $option ]] || ((++i))
	done
	# The last word but one takes the current one.
	if ((i == ${#__gpuobj_words[@]})); then
		case $option in
		OPTION)
			__gpuobj_list
			;;
		FILE) __gpuobj_files -f ;;
		DIR) __gpuobj_files -d ;;
		esac
		return
	fi
	if [[ $cur == -* ]]; then
		__gpuobj_options
		return
	fi
	if [[ $topic && ! $usage ]]; then
		__gpuobj_offer options
	fi
	if [[ ! $usage ]]; then
		while IFS= read -r line; do
			[[ $line =~ ^\ {4}([a-z]+)\ +[A-Z] ]] && __gpuobj_offer "${BASH_REMATCH[1]}"
		done <<<"$help"
		return
	fi
	if [[ $sample ]]; then
		artifact=(--sample)
		known=1
		positional=('' "${positional[@]}")
	elif [[ ${positional[0]} && -f ${positional[0]} ]]; then
		artifact=("${positional[0]}")
		known=1
	fi
	__gpuobj_kinds "$usage" ${#positional[@]}
	for word in "${kinds[@]}"; do
		__gpuobj_word "$word"
	done
}

complete -F _gpuobj gpuobj gpuobjfs
