# embed.awk - turn the report page into C strings, so that one binary holds it all.
#
#   awk -f scripts/embed.awk -v css=a.css -v js="b.js c.js" page.html > page_template.h
#
# A line of the page that is only a {{word}} is replaced: {{css}} and {{js}} by those files,
# {{title}} and {{data}} end one string and begin the next, for the writer to put its text between.

function line(text) {
	gsub(/\\/, "\\\\\\\\", text)
	gsub(/"/, "\\\"", text)
	print "\t\"" text "\\n\""
}

function file(name, text, status) {
	while ((status = (getline text < name)) > 0)
		line(text)
	if (status < 0) {
		print "embed.awk: cannot read " name > "/dev/stderr"
		failed = 1
	}
	close(name)
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
