# SPDX-License-Identifier: ISC
# shellcheck shell=bash disable=SC2154
#
# Completion for bash: the part that is the same whatever the commands are.
# "dtprof completion bash" prints it behind what it makes of its tables of
# options: $_dtprof_commands, $_dtprof_awk, and two functions that set
# variables,
#
#	_dtprof_command COMMAND		options, begins
#	_dtprof_option COMMAND OPTION	takes
#
# begins: what an operand is; takes: what stands behind an option, "" if
# nothing does.  Of both: files, baselines, commands, dtprof, events, words,
# list, value.

# What this machine can record, by dtprof's names and by perf's.
_dtprof_events()	# dtprof
{
	"$1" list -v 2>/dev/null | awk "$_dtprof_awk"
}

# Those of the lines read that begin like the word, all of them behind what
# stands in front of it.  Others chose these names, and bash is never to expand
# them: they are quoted, or in quotes that do not hold them not offered.
_dtprof_offer()		# word front
{
	local line
	local -A acts=([\']="'" [\"]='"$`\!')

	while IFS= read -r line; do
		if [[ $quote ]]; then
			[[ $line == *["${acts[$quote]}"]* ]] && continue
		elif [[ $line ]]; then
			printf -v line %q "$line"
		fi
		[[ $line == "$1"* ]] && COMPREPLY+=("$2$line")
	done
}

_dtprof_complete()	# dtprof kind word words
{
	local front=
	# A list of things: complete the last of them.
	[[ $2 == @(events|list) && $3 == *,* ]] && front=${3%,*},
	case $2 in
	files)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$3") ;;
	baselines)
		_dtprof_offer "$3" "" < <(command ls .dtprof 2>/dev/null) ;;
	commands)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -c -- "$3") ;;
	dtprof)	_dtprof_offer "$3" "" <<<"${_dtprof_commands// /$'\n'}" ;;
	events)	_dtprof_offer "${3##*,}" "$front" < <(_dtprof_events "$1") ;;
	words | list)
		_dtprof_offer "${3##*,}" "$front" <<<"${4// /$'\n'}" ;;
	esac
}

# What is expected where the last of the words stands: kind, words.
_dtprof_place()		# dtprof command ...
{
	local n takes
	local last=${*: -1}

	kind=dtprof
	(($# > 2)) || return
	_dtprof_command "$2"
	kind=$begins
	for ((n = 3; n < $#; n++)); do
		# Behind the name of a command stand its own arguments.
		if [[ $begins == commands && ${!n} == @(--|[!-]*) ]]; then
			[[ ${!n} == -- ]] && ((n + 1 == $#)) || kind=files
			return
		fi
		_dtprof_option "$2" "${!n}"
		# Its value is the next word, perhaps the very last.
		if [[ $takes ]] && ((++n == $#)); then
			kind=${takes%% *} words=${takes#* }
			return
		fi
	done
	[[ $last == -* ]] && kind=words words=$options
}

_dtprof()
{
	local kind begins options words word quote=
	local line=${COMP_LINE:0:COMP_POINT}
	local -a all

	# readline takes words apart at : and =, which names are full of.
	read -ra all <<<"$line"
	[[ $line == *[[:space:]] ]] && all+=("")
	word=${all[-1]}
	COMPREPLY=()
	_dtprof_place "${all[@]}"
	[[ $word == [\"\']* ]] && quote=${word:0:1} word=${word:1}
	if [[ $word == --*=* ]]; then
		local takes=
		_dtprof_option "${all[1]}" "${word%%=*}"
		word=${word#*=} kind=${takes%% *} words=${takes#* }
	fi
	_dtprof_complete "${all[0]}" "$kind" "$word" "$words"
	# What readline took for a word before this one is not its to replace.
	[[ $quote || $COMP_WORDBREAKS != *:* ]] ||
	    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}

complete -F _dtprof dtprof
