/* memory.js - what memory was for: classes and where their objects were made, of native memory who asked for it, and of what is
 * there when it came and what grew. D.memory is written by src/profile/views/memory_page.c.
 */
const MEMORY_ROWS = 200;

/* Node I, or the innermost method of the program above it; else its innermost lambda, else I: as asker_caller has it. */
function madeIn(i) {
  let lambda = 0;
  for (let node = i; node > 0; node = tree.parent[node]) {
    if (isOfProgram(node)) return node;
    if (!lambda && D.nameTypes[tree.name[node]] === TYPE_JAVA && !OF_JDK.test(D.names[tree.name[node]])) lambda = node;
  }
  return lambda || i;
}

/* Of each class what was made or is there, the most bytes first, and where, in the part of the time that is selected. */
function classRows() {
  const rows = new Map(), add = (to, i) => {
    to.bytes += tree.selfWeight[i];
    to.samples += tree.selfSamples[i];
    to.objects += objects ? objects.self[i] : 0;
  };
  const of = (map, id) => {
    if (!map.has(id)) map.set(id, { id, bytes: 0, samples: 0, objects: 0, sites: new Map() });
    return map.get(id);
  };
  for (let i = 1; i <= tree.count; i++) {
    if (!tree.selfWeight[i] && !tree.selfSamples[i]) continue;
    const row = of(rows, tree.name[i]), site = tree.parent[i] > 0 ? methodOf[tree.name[madeIn(tree.parent[i])]] : NO_NAME;
    add(row, i);
    add(of(row.sites, site), i);
  }
  return mostBytes(rows);
}

function mostBytes(map) {
  return [...map.values()].sort((a, b) => b.bytes - a.bytes || a.id - b.id);
}

class Memory {
  constructor(section) {
    this.section = section;
    this.chosen = NO_NAME;
    this.ages = new Map((D.memory.ages || []).map(([name, first, second]) => [name, [first, second]]));
  }

  show(match) {
    const list = make('div', 'list'), [used, most] = D.memory.heap;
    this.match = match;
    if (used) list.append(make('p', 'hint', `${bytes(used)} of the heap were in use at its last collection${most ? `, of ${bytes(most)} that it may have` : ''}.`));
    if (D.memory.growth) list.append(...this.growth(match));
    list.append(...(D.memory.places ? this.places(match) : this.classes(match)));
    this.section.replaceChildren(list);
  }

  numbers(row, all) {
    const cells = [shareCell(row.bytes, all), numberCell(bytes(row.bytes))];
    if (showsObjects()) cells.push(numberCell(count(row.objects)), numberCell(row.objects ? bytes(Math.round(row.bytes / row.objects)) : ''));
    return cells.concat(numberCell(count(row.samples)));
  }

  heads() {
    return ['Share', 'Bytes', ...(showsObjects() ? ['Objects', 'Mean size'] : []), 'Samples'];
  }

  /* Of what is there: how much of NAME came in the first and in the second half of the time. */
  halves(name) {
    const [first, second] = this.ages.get(name) || [0, 0];
    return this.showsAges() ? [numberCell(first ? bytes(first) : ''), numberCell(second ? bytes(second) : '')] : [];
  }

  showsAges() {
    return this.ages.size > 0 && !(T && T.selected);
  }

  classes(match) {
    const all = tree.totalWeight[0], rows = classRows().filter((row) => !match || match.test(nameOf(row.id)) || [...row.sites.keys()].some((id) => id !== NO_NAME && match.test(methodName(id))));
    const chosen = rows.find((row) => row.id === this.chosen) || rows[0], ages = this.showsAges() ? ['1st half', '2nd half'] : [];
    if (!rows.length) return [make('p', 'nothing', match ? 'Nothing matches.' : 'No samples.')];
    const lines = rows.slice(0, MEMORY_ROWS).flatMap((row) => {
      const cells = [...this.numbers(row, all), ...this.halves(nameOf(row.id)), nameCell(nameOf(row.id))], line = linkedLine(cells, () => {
        this.chosen = row.id;
        this.show(this.match);
      });
      if (row !== chosen) return [line];
      const inside = make('tr', 'inside'), td = make('td');
      line.classList.add('chosen');
      td.colSpan = cells.length;
      td.append(this.sites(row, match));
      inside.append(td);
      return [line, inside];
    });
    const part = ioTable(D.memory.kept ? 'Classes of what is there' : 'Classes of what was allocated', [...this.heads(), ...ages, 'Class'], lines);
    if (ages.length) part.append(make('p', 'hint', `1st and 2nd half: what is there and was allocated in the first and the second half of ${time(D.memory.span)}. A cache that is full has the first alone, what is made anew the second; what grows has both.`));
    if (rows.length > MEMORY_ROWS) part.append(make('p', 'hint', `and ${count(rows.length - MEMORY_ROWS)} more`));
    return [part];
  }

  sites(row, match) {
    const wanted = !match || match.test(nameOf(row.id)) ? () => true : ({ id }) => id !== NO_NAME && match.test(methodName(id));
    const rows = mostBytes(row.sites).filter(wanted), name = nameOf(row.id), show = make('button', 'slow', 'In the graph');
    const part = ioTable(`Where ${name} ${D.memory.kept ? 'that is there ' : ''}was allocated`, [...this.heads(), 'Method'], rows.slice(0, MEMORY_ROWS).map((site) => (
      linkedLine([...this.numbers(site, row.bytes), nameCell(site.id === NO_NAME ? '(no caller: root)' : methodName(site.id))],
        site.id === NO_NAME ? null : () => change({ tab: 'graph', view: 'callees', focus: '', zoom: '', q: exactly(methodName(site.id)) + (D.lines ? '(:\\d+)?$' : '$') }, true)))));
    if (rows.length > MEMORY_ROWS) part.append(make('p', 'hint', `and ${count(rows.length - MEMORY_ROWS)} more`));
    show.type = 'button';
    show.title = 'All paths that lead to it';
    show.addEventListener('click', () => change({ tab: 'graph', view: 'callers', focus: String(methodOf[row.id]), zoom: '' }, true));
    part.append(show);
    return part;
  }

  /* Of native memory: the function that asked for it, and for whom. */
  places(match) {
    const all = (T && T.whole || tree).totalWeight[0], ages = this.showsAges() ? ['1st half', '2nd half'] : [];
    const rows = D.memory.places.map(([place, caller, samples, weight]) => ({ place, caller, samples, bytes: weight })).filter((row) => !match || match.test(row.place) || match.test(row.caller));
    const lines = rows.slice(0, MEMORY_ROWS).map((row, i) => linkedLine([shareCell(row.bytes, all), numberCell(bytes(row.bytes)), numberCell(count(row.samples)), ...this.halves(rows.findIndex((r) => r.place === row.place) === i ? row.place : ''), nameCell(row.place), nameCell(row.caller)],
      () => change({ tab: 'graph', view: 'callees', focus: '', zoom: '', q: exactly(row.place) + '$' }, true)));
    const part = ioTable(D.memory.kept ? 'Who asked for what is there' : 'Who asked for it', ['Share', 'Bytes', 'Samples', ...ages, 'Asked for in', 'For'], lines), more = Math.max(0, rows.length - MEMORY_ROWS) + (match ? 0 : D.memory.placesMore[0]);
    if (!rows.length) return [make('p', 'nothing', match ? 'Nothing matches.' : 'No samples.')];
    if (more) part.append(make('p', 'hint', `and ${count(more)} more`));
    if (ages.length) part.append(make('p', 'hint', `1st and 2nd half: what is there and came in the first and the second half of ${time(D.memory.span)}, of all that the function asked for, behind its first row.`));
    part.querySelectorAll('th').forEach((th) => th.classList.toggle('number', th.textContent !== 'Asked for in' && th.textContent !== 'For'));
    if (T && T.selected) part.append(make('p', 'hint', 'This is of the whole time, whatever part is selected.'));
    if (match) return [part];
    return [part, ioTable('By the library that asked', ['Share', 'Bytes', 'Library'], D.memory.libraries.map(([name, weight]) => linkedLine([shareCell(weight, all), numberCell(bytes(weight)), nameCell(name)])))];
  }

  growth(match) {
    const rows = D.memory.growth.filter((row) => !match || row.some((text) => typeof text === 'string' && match.test(text))), held = rows.some((row) => row[7]), classes = rows.some((row) => row[0]);
    if (!rows.length) return match ? [] : [make('p', 'hint', `Nothing surely grew all the time (${time(D.memory.span)}).`)];
    const part = ioTable(`What grew all the time (${time(D.memory.span)})`, ['An hour', 'At least', 'At most', 'There', ...(classes ? ['Class'] : []), 'In', ...(held ? ['Held by'] : []), 'For'], rows.map(([name, place, caller, there, rate, least, most, chain]) => (
      linkedLine([...[rate, least, most, there].map((n) => numberCell(bytes(n))), ...(classes ? [nameCell(name)] : []), nameCell(place), ...(held ? [nameCell(chain || '')] : []), nameCell(caller)]))));
    part.querySelectorAll('th').forEach((th, i) => th.classList.toggle('number', i < 4));
    return [part];
  }
}
