# embed.awk - turn the report page into C strings, so that one binary holds it all.
#
#   awk -f scripts/embed.awk -v css=page.css -v start=start.js page.html > page_template.h
#
# A line of the page that is only a {{word}} is replaced: {{css}} and {{start}} by those files. {{title}}, {{report}},
# {{data}} and {{code}} end one string and begin the next, for the writer to put its text between.

function line(text) {
	gsub(/\\/, "\\\\\\\\", text)
	gsub(/"/, "\\\"", text)
	print "\t\"" text "\\n\""
}

function file(name, text, status) {
	while ((status = (getline text < name)) > 0)
		line(text)
	if (status < 0) {
		print "embed.awk: " name ": cannot be read" > "/dev/stderr"
		failed = 1
	}
	close(name)
}

BEGIN {
	print "/* Made from web/ by scripts/embed.awk; changes here are lost. */"
	print "static const char page_head[] ="
}

/^[ \t]*\{\{title\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_style[] ="; next }
/^[ \t]*\{\{report\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_middle[] ="; next }
/^[ \t]*\{\{data\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_before_code[] ="; next }
/^[ \t]*\{\{code\}\}[ \t]*$/ { print "\t\"\";\nstatic const char page_foot[] ="; next }
/^[ \t]*\{\{css\}\}[ \t]*$/ { file(css); next }
/^[ \t]*\{\{start\}\}[ \t]*$/ { file(start); next }
{ line($0) }

END { print "\t\"\";"; exit failed }
