# strip.awk - scripts and styles of the report page without indents, comments at ends of lines, and lines that are
# nothing else: every page has them inside.
#
#   awk -f scripts/strip.awk a.js b.js > page.js

function broken(what) {
	print "strip.awk: " FILENAME ": " what > "/dev/stderr"
	failed = 1
}

FNR == 1 {
	if (comment)
		broken("a comment before it has no end")
	comment = 0
}

{
	sub(/^[ \t]+/, "")
	sub(/[ \t]+\/\* [^*"'`]* \*\/$/, "")
	if (/^\/\*/)
		comment = 1
	if (comment) {
		if (/\*\/$/)
			comment = 0
		else if (/\*\//)
			broken("code stands behind a comment")
		next
	}
	if ($0 == "" || /^\/\//)
		next
	ticks = $0
	if (gsub(/`/, "", ticks) % 2)
		broken("a text goes on over lines, whose indents would be lost")
	print
}

END {
	if (comment)
		broken("a comment has no end")
	exit failed
}
