# embed.awk - turn the report page into C strings, so that one binary holds it all.
#
#   awk -f scripts/embed.awk -v css=a.css -v js="b.js c.js" page.html > page_template.h
#
# A line of the page that is only a {{word}} is replaced: {{css}} and {{js}} by those files,
# Scripts and styles leave their indents, and lines that are nothing but comments, behind: every page has them
# inside. {{title}} and {{data}} end one string and begin the next, for the writer to put its text between.

function line(text) {
	gsub(/\\/, "\\\\\\\\", text)
	gsub(/"/, "\\\"", text)
	print "\t\"" text "\\n\""
}

function file(name, text, status, comment, ticks) {
	comment = 0
	while ((status = (getline text < name)) > 0) {
		sub(/^[ \t]+/, "", text)
		if (text ~ /^\/\*/)
			comment = 1
		if (comment) {
			if (text ~ /\*\/$/)
				comment = 0
			else if (text ~ /\*\//)
				broken(name, "code stands behind a comment")
		} else if (text != "" && text !~ /^\/\//) {
			ticks = text
			if (gsub(/`/, "", ticks) % 2)
				broken(name, "a text goes on over lines, whose indents would be lost")
			line(text)
		}
	}
	if (comment)
		broken(name, "a comment has no end")
	if (status < 0)
		broken(name, "cannot be read")
	close(name)
}

function broken(name, what) {
	print "embed.awk: " name ": " what > "/dev/stderr"
	failed = 1
}

BEGIN {
	print "/* Made from web/ by scripts/embed.awk; changes here are lost. */"
	print "static const char page_head[] ="
}

/^[ \t]*\{\{title\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_style[] ="; next }
/^[ \t]*\{\{data\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_code[] ="; next }
/^[ \t]*\{\{css\}\}[ \t]*$/ { file(css); next }
/^[ \t]*\{\{js\}\}[ \t]*$/ {
	count = split(js, names, " ")
	for (i = 1; i <= count; i++)
		file(names[i])
	next
}
{ line($0) }

END { print "\t\"\";"; exit failed }
