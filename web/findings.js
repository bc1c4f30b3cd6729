/* findings.js - what stands out, on top of the page: sentences with their figures, made by src/profile/findings. They are of
 * all events together and stand in the first one's data. A page that the agent wrote has none.
 */
/* SECTION in one line until its button is pressed, on a screen with little place; TEXT says what there is more of. */
function foldable(section, text) {
  const b = make('button', 'fold'), set = (folded) => {
    section.classList.toggle('folded', folded);
    b.textContent = folded ? text + ' ▾' : '▴';
    b.title = folded ? 'Show all' : 'Fold';
    b.setAttribute('aria-expanded', !folded);
    section.scrollTop = 0;
  };
  b.type = 'button';
  b.addEventListener('click', () => set(!section.classList.contains('folded')));
  section.classList.add('foldable');
  section.prepend(b);
  set(matchMedia('(max-width: 760px), (max-height: 740px)').matches);
}

/* Advice for a terminal, on a page. */
function onPage(advice) {
  const text = advice.replace(/([Tt]he) (?:page|flame graph) \((--alloc )?-f x\.html\)/g, (_, the, alloc) => (alloc && D.event !== 'alloc' ? the + ' graph of event alloc' : the + ' graph below'));
  return text.replace(/^--lines shows which lines; t(.*), who (.*)$/, D.lines ? 'T$1 shows who $2' : 'T$1 shows who $2 With --lines a recording says which lines.');
}

/* Its first word is a group of threads by name, or where that is not known, "threads". */
function asSentence(text) {
  return text.replace(/^threads(?= (and others )?waited )/, 'Threads');
}

function renderFindings(search) {
  const found = PROFILES[0].findings, list = make('ol');
  const section = $('#findings');
  section.hidden = !found;
  if (!found) return;
  if (!found.length) {
    section.append(make('p', '', 'Nothing stands out.'));
    if (PROFILES[0].findings_note) section.append(make('small', '', PROFILES[0].findings_note));
    return;
  }
  for (const finding of found) {
    const item = make('li', '', asSentence(finding.sentence));
    if (finding.look) {
      const show = make('button', 'look', 'show');
      show.type = 'button';
      show.title = `Search for ${finding.look}`;
      // names have slashes in the page, unless dots were asked for
      show.addEventListener('click', () => search(D.dots ? finding.look : finding.look.replace(/\.(?=[^.]*\.)/g, '/')));
      item.append(' ', show);
    }
    // advice is for a terminal as well, which shows no graph
    if (finding.advice) item.append(make('small', '', onPage(finding.advice)));
    list.append(item);
  }
  section.append(list);
  foldable(section, `all ${found.length}`);
}
