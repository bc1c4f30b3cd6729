/* work.js - of wall time and of waits: the locks that held threads up, and groups of threads by what they did. D.work is written by src/profile/views/work_page.c.
 */
const GROUPS_ABOVE = 5, LEAST_SHARE = 0.005;

const groupRows = !D.work ? [] : D.work.groups.map(([name, threads, idle, samples, weight]) => {
  const parts = { samples, weight }, all = {}, work = {};
  for (const unit of ['samples', 'weight']) {
    all[unit] = parts[unit].reduce((sum, n) => sum + n, 0);
    work[unit] = all[unit] - parts[unit][ACTIVITY_IDLE];
  }
  return { name, threads, idle, parts, all, work };
});

/* What a group did as a bar; idle waits are its pale end. */
function activityBar(group, unit) {
  const bar = make('div', 'bar');
  group.parts[unit].forEach((part, a) => {
    if (!part) return;
    const piece = make('i', 'act' + a);
    piece.style.width = 100 * part / group.all[unit] + '%';
    piece.title = `${D.work.activities[a][0]}: ${percent(part, group.all[unit])}`;
    bar.append(piece);
  });
  return bar;
}

/* What all threads that are shown did, by activity. */
function activitySums(unit) {
  if (T && T.selected) return T.doingSums.map((sum) => sum[unit === 'weight' ? 1 : 0]);
  return D.work.activities.map((_, a) => (a === ACTIVITY_IDLE && !SHOWS_IDLE ? 0 : groupRows.reduce((sum, g) => sum + g.parts[unit][a], 0)));
}

function activityLegend(groups, unit) {
  const legend = make('div', 'legend');
  D.work.activities.forEach(([head, meaning], a) => {
    if (!groups.some((g) => g.parts[unit][a])) return;
    const item = make('span', '', head);
    item.prepend(make('i', 'swatch act' + a));
    item.title = 'The thread ' + meaning;
    legend.append(item);
  });
  return legend;
}

function groupTable(groups, unit) {
  const table = make('table', 'groups'), body = make('tbody'), thead = make('thead'), head = make('tr');
  head.append(make('th', '', 'Group of threads'), make('th', 'number', 'Threads'), make('th', 'number', 'Not idle'), make('th', '', 'What they did'));
  thead.append(head);
  for (const g of groups) {
    const line = make('tr'), bar = make('td', 'activities');
    bar.append(activityBar(g, unit));
    line.append(make('td', '', g.name), make('td', 'number', g.threads ? count(g.threads) : ''), make('td', 'number', value(g.work, unit)), bar);
    line.children[1].title = 'threads';
    line.children[2].title = 'not idle';
    body.append(line);
  }
  table.append(thead, body);
  return table;
}

/* Above the graph, so that the first screen answers who was held up by what. */
function renderWork() {
  const section = $('#work'), list = make('ul');
  section.hidden = !D.work || !(D.work.locks.length || groupRows.length);
  if (section.hidden) return;
  // the first one is mostly among the findings
  const found = PROFILES[0].findings || [], locks = D.work.locks.filter((text) => !found.some((f) => f.sentence.startsWith(text.slice(0, 380))));
  locks.forEach((text) => list.append(make('li', '', asSentence(text))));
  const busy = groupRows.filter((g) => g.work.weight), all = busy.reduce((sum, g) => sum + g.work.weight, 0);
  const shown = busy.slice(0, GROUPS_ABOVE).filter((g) => g.work.weight > all * LEAST_SHARE);
  const rest = [busy.length > shown.length ? `${count(busy.length - shown.length)} more in the tab Threads` : '', ...D.work.idle];
  if (locks.length) section.append(list);
  if (shown.length) section.append(groupTable(shown, 'weight'), activityLegend(shown, 'weight'));
  section.append(make('p', 'hint', rest.filter(Boolean).join(' · ')));
  foldable(section, 'threads');
}

/* All groups, or those that were not idle all the time; null where there are none. */
function groupsOfThreads(unit, match) {
  const shown = groupRows.filter((g) => (SHOWS_IDLE || g.work.weight) && (!match || match.test(g.name)));
  if (!shown.length) return null;
  const box = make('div', 'all-groups');
  box.append(groupTable(shown.slice(0, THREADS_MOST), unit));
  if (shown.length > THREADS_MOST) box.append(moreThan(shown.length - THREADS_MOST));
  box.append(activityLegend(shown, unit));
  return box;
}
