#!/bin/sh
# SPDX-License-Identifier: ISC
#
# page.sh template out: make one file of a page and what it links to, in two
# parts: out.head ends where the data begins, out.tail begins where it ends.
# Called by reports/Build.
#
# The template opens by itself, with sample data; a line each is for us:
#
#	<!-- policy -->				the page's security policy
#	<link rel="stylesheet" href="FILE">	the style, put in its place
#	<script src="FILE"></script>		the scripts, joined, in place of
#						the first of these lines
#	<script type="application/json" ...>	the data up to </script>
#	<!-- data -->			the data, where there is no script
#
# The policy allows nothing but this very script and this very style, by
# their hashes: no text of a recording can run, nothing can be fetched.

template=$1
out=$2
dir=$(dirname "$template")
LC_ALL=C
export LC_ALL

# Without indentation and comments, which a page need not carry.
linked()	# pattern with the file as its first group
{
	echo '/* SPDX-License-Identifier: ISC */'
	sed -n "s|^$1\$|\\1|p" "$template" | while read -r file; do
		sed -e 's/^[ 	]*//' -e '/^\/\*.*\*\/$/d' \
		    -e '/^\/\*/,/\*\/$/d' -e '/^$/d' "$dir/$file"
	done
}

hash_of()	# file: as a policy writes it
{
	octal=$(sha256sum "$1" | cut -c 1-64 | fold -w 2 | sed 's/^/0x/' |
	    xargs printf '\\0%03o')
	printf "'sha256-%s'" "$(printf '%b' "$octal" | base64)"
}

# The hash is of everything between the tags, newlines too.
{ echo; linked '<link rel="stylesheet" href="\(.*\)">'; } >"$out.css"
{ echo; linked '<script src="\(.*\)"></script>'; } >"$out.js"
if grep -q '</script\|<!--' "$out.js" || grep -q '</style' "$out.css"; then
	echo "page.sh: $template: its script or style would end early" >&2
	exit 1
fi
scripts=
grep -q "^<script src=" "$template" &&
    scripts="script-src $(hash_of "$out.js"); "
policy="default-src 'none'; ${scripts}style-src \
$(hash_of "$out.css"); base-uri 'none'; form-action 'none'"

awk -v out="$out" -v policy="$policy" '
function include(file,  line) {
	while ((getline line <file) > 0)
		print line >to
	close(file)
}
BEGIN { to = out ".head" }
/^<!-- policy -->$/ {
	print "<meta http-equiv=\"Content-Security-Policy\" content=\"" \
	    policy "\">" >to
	next
}
/^<link rel="stylesheet"/ {
	printf "<style>" >to
	include(out ".css")
	print "</style>" >to
	next
}
/^<script src=/ {
	if (!scripts++) {
		printf "<script>" >to
		include(out ".js")
		print "</script>" >to
	}
	next
}
/^<script type="application\/json"/ {
	printf "%s", substr($0, 1, index($0, ">")) >to
	data = 1
}
/^<!-- data -->$/ {
	to = out ".tail"
	next
}
data && /<\/script>$/ {
	data = 0
	to = out ".tail"
	print "</script>" >to
	next
}
!data { print >to }
' "$template"
rm -f "$out.css" "$out.js"
