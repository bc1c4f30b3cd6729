/* tables.js - hot methods (classes, packages) with their callers and callees, and threads. */
const FIRST_ROWS = 200, THREADS_MOST = 300;

/* An element; TEXT is data and never becomes markup. */
function make(tag, classes, text) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== undefined) element.textContent = text;
  return element;
}

function value(row, unit) {
  return unit === 'weight' ? amount(row.weight) : count(row.samples);
}

function selfOf(row, unit) {
  return unit === 'weight' ? row.selfWeight : row.selfSamples;
}

/* "java/util/" pale, "HashMap.put" strong. */
function methodLabel(id, kind) {
  const label = make('span', 'name');
  const [pack, klass, method] = id === NO_NAME ? ['', '', '(no caller: root)'] : nameParts(id);
  label.append(make('i', 'swatch ' + KINDS[kind].css));
  if (pack) label.append(make('span', 'pack', pack));
  label.append(make('span', '', klass + (id === NO_NAME ? method : klass ? methodName(id).slice(pack.length + klass.length) : methodName(id))));
  label.title = (id === NO_NAME ? 'root' : methodName(id)) + ' · ' + KINDS[kind].label;
  return label;
}

/* A cell with a share as a bar behind its number; the bar is full at FULL. */
function shareCell(part, whole, full = whole) {
  const cell = make('td', 'share', percent(part, whole));
  cell.style.setProperty('--share', (full ? 100 * part / full : 0) + '%');
  return cell;
}

/* The columns of a table of methods: [key, title, cells it takes, a number to sort by, the cells]. */
function methodColumns(unit, all, most, by) {
  const self = (row) => selfOf(row, unit), total = (row) => row[unit];
  if (by === 'program') return [['self', unit === 'weight' ? 'Time' : 'Samples', 2, self, (row) => [shareCell(self(row), all, most), numberCell(value({ samples: row.selfSamples, weight: row.selfWeight }, unit))]]];
  const columns = [
    ['self', 'Self', 2, self, (row) => [shareCell(self(row), all, most), numberCell(value({ samples: row.selfSamples, weight: row.selfWeight }, unit))]],
    ['total', 'Total', 2, total, (row) => [shareCell(total(row), all), numberCell(value(row, unit))]],
  ];
  if (D.diff) return columns.concat(changeColumns((row, kind) => row.changes[kind].map((v) => v[unit === 'weight' ? 1 : 0]), ['self', 'total'], unit, (row, kind) => rowChanged(row, kind, unit, by)));
  if (showsObjects()) columns.push(['objects', 'Objects', 1, (row) => row.selfObjects, (row) => [numberCell(count(row.selfObjects))]]);
  return D.calls ? columns.concat(callColumns((row) => row.selfSamples, by ? null : spreadOf)) : columns;
}

/* What a trace knows of a row more than a profile: invocations, their length, CPU time. */
function callColumns(calls, spread) {
  const cpu = D.calls.cpuExact ? 'CPU' : '≈ CPU', columns = [['calls', 'Calls', 1, calls, (row) => [numberCell(count(calls(row)))]]];
  if (!D.calls.timed) return columns;
  const mean = (row) => (calls(row) ? row.weight / calls(row) : 0);
  const p99 = (row) => (spread && spread(row) ? spread(row)[2] : -1);
  columns.push(['mean', 'Mean', 1, mean, (row) => [numberCell(mean(row) ? time(mean(row)) : '-')]]);
  if (spread) columns.push(['p99', 'p99', 1, p99, (row) => [numberCell(p99(row) < 0 ? '-' : time(p99(row)))]]);
  columns.push(['selfcpu', cpu + ' self', 1, (row) => row.selfCpu, (row) => [numberCell(time(row.selfCpu))]],
    ['cpu', cpu + ' total', 1, (row) => row.cpu, (row) => [numberCell(time(row.cpu))]]);
  return columns;
}

/* [min, p50, p99, max] of a method's calls, or 0. */
function spreadOf(row) {
  return D.calls.methods[row.id] || 0;
}

function numberCell(text) {
  return make('td', 'number', text);
}

/* A name, whose writing may go the other way, and which may be cut off where it is shown. */
function nameCell(text) {
  const cell = make('td');
  cell.append(make('bdi', '', text));
  cell.title = text;
  return cell;
}

/* The line of titles; those of SORTS sort by themselves. */
function headLine(columns, sort, onSort) {
  const head = make('tr'), thead = make('thead');
  for (const [key, text, span] of columns) {
    const cell = make('th', key === sort ? 'sorted' : ''), button = make('button', '', text);
    cell.colSpan = span;
    cell.setAttribute('aria-sort', key === sort ? (key === 'name' ? 'ascending' : 'descending') : 'none');
    button.type = 'button';
    button.dataset.sort = key;
    button.addEventListener('click', () => onSort(key));
    cell.append(button);
    head.append(cell);
  }
  thead.append(head);
  return thead;
}

class MethodTable {
  constructor(section, actions) {
    this.section = section;
    this.actions = actions;
    this.sort = D.diff ? 'change-self' : 'self';
    this.chosen = null;
    this.limit = FIRST_ROWS;
  }

  show(unit, match, chosen, by) {
    this.unit = unit;
    this.match = match;
    this.chosen = by ? null : chosen;
    this.by = by;
    this.draw();
  }

  rows(columns) {
    const match = this.match, sorted = columns.find(([key]) => key === this.sort) || [], by = sorted[3] || (() => 0);
    const rows = methods(this.by).filter((row) => (!match || match.test(row.text)) && (!T || !T.selected || row.samples || row.weight || row.id === this.chosen));
    return rows.sort((a, b) => by(b) - by(a) || (this.sort === 'name' ? 0 : b[this.unit] - a[this.unit]) || (a.text < b.text ? -1 : 1));
  }

  draw() {
    const unit = this.unit, most = methods(this.by).reduce((m, row) => Math.max(m, selfOf(row, unit)), 0);
    const columns = methodColumns(unit, everything(), most, this.by), rows = this.rows(columns);
    const table = make('table'), body = make('tbody');
    for (const row of rows.slice(0, this.limit)) body.append(this.line(row, columns));
    table.append(headLine([...columns, ['name', { '': 'Method', class: 'Class', package: 'Package', program: 'Method of the program, and what it called' }[this.by], 1]], this.sort, (key) => {
      this.sort = key;
      this.draw();
    }), body);
    const list = make('div', 'list');
    list.append(table);
    this.more(list, rows.length);
    const scroll = this.section.firstChild ? this.section.firstChild.scrollTop : 0;
    this.section.replaceChildren(...[list].concat(this.by ? [] : this.side()));
    list.scrollTop = scroll;
  }

  line(row, columns) {
    const line = make('tr', row.id === this.chosen ? 'chosen' : ''), name = make('td');
    name.append(this.by ? make('span', 'name', row.text) : methodLabel(row.id, row.kind));
    line.dataset.id = row.id;
    line.tabIndex = 0;
    for (const column of columns) line.append(...column[4](row));
    line.append(name);
    const choose = () => (this.by ? this.actions.search(row.find || row.text) : this.actions.choose(row.id));
    line.addEventListener('click', choose);
    line.addEventListener('keydown', (e) => e.key === 'Enter' && choose());
    return line;
  }

  more(list, rows) {
    if (!rows) list.append(make('p', 'nothing', this.match ? 'Nothing matches.' : 'No samples.'));
    if (rows <= this.limit) return;
    const button = make('button', 'more', `Show all ${count(rows)} rows`);
    button.type = 'button';
    button.addEventListener('click', () => {
      this.limit = Infinity;
      this.draw();
    });
    list.append(button);
  }

  /* The chosen method with who called it and what it called; nothing to append where there is no place for it. */
  side() {
    const side = make('aside', 'side'), id = this.chosen;
    const row = id === null ? null : methods().find((r) => r.id === id);
    if (!row && (D.calls || D.diff)) return []; /* the columns need the place */
    if (!row) {
      side.append(make('p', 'hint', 'Choose a method to see who called it and what it called.'));
      return side;
    }
    const title = make('h2');
    title.append(methodLabel(id, row.kind));
    const near = neighbours(id), buttons = make('div', 'buttons');
    const button = (text, hint, action) => {
      const b = make('button', '', text);
      b.type = 'button';
      b.title = hint;
      b.addEventListener('click', () => action(id));
      buttons.append(b);
    };
    button('Find in graph', 'Mark it in the flame graph', this.actions.find);
    button('Callers as graph', 'All ways that lead to it', this.actions.callers);
    if (this.actions.sandwich) button('Sandwich', 'Its callers above, what it calls below (S)', this.actions.sandwich);
    side.append(title, buttons);
    this.sideList(side, 'Called by', near.callers, row);
    this.sideList(side, 'Calls', near.callees.concat({ id: null, kind: row.kind, ...near.self }), row);
    return side;
  }

  sideList(side, title, rows, whole) {
    const unit = this.unit, list = make('table');
    side.append(make('h3', '', title));
    rows.filter((r) => r[unit] > 0).sort((a, b) => b[unit] - a[unit]).slice(0, 40).forEach((r) => {
      const line = make('tr'), name = make('td');
      name.append(r.id === null ? make('span', 'own', 'its own code') : methodLabel(r.id, r.kind));
      line.append(shareCell(r[unit], whole[unit]), name);
      if (r.id !== null && r.id !== NO_NAME && !isThreadName(r.id)) {
        line.classList.add('link');
        line.addEventListener('click', () => this.actions.choose(r.id));
      }
      list.append(line);
    });
    side.append(list);
  }
}

/* Below a table that ends before all is told. */
function moreThan(rows) {
  return make('p', 'hint', `${count(rows)} more: search narrows them.`);
}

/* The threads that are shown: without idle waits those that did something, by what they did. */
function threadRows() {
  if (T && T.selected) return D.threads.map(([tid, name], i) => ({ tid, name, samples: T.threadSums[i][0], weight: T.threadSums[i][1] })).filter((t) => t.samples || t.weight);
  const rows = D.threads.map(([tid, name, samples, weight]) => ({ tid, name, samples, weight }));
  if (!D.work || SHOWS_IDLE) return rows;
  rows.forEach((t, i) => { [t.samples, t.weight] = D.work.threads[i]; });
  return rows.filter((t) => t.samples || t.weight);
}

function drawThreads(section, unit, match, zoomTo) {
  const all = everything(), table = make('table'), head = make('tr'), thead = make('thead'), body = make('tbody');
  [['Share', 2], ['Thread', 1], ['tid', 1]].forEach(([text, span]) => {
    const cell = make('th', '', text);
    cell.colSpan = span;
    head.append(cell);
  });
  thead.append(head);
  const rows = threadRows().filter((t) => !match || match.test(t.name)).sort((a, b) => b[unit] - a[unit] || a.tid - b.tid);
  rows.slice(0, THREADS_MOST).forEach((t) => {
    const line = make('tr');
    line.append(shareCell(t[unit], all), make('td', 'number', value(t, unit)), make('td', '', t.name), make('td', 'number', String(t.tid)));
    const action = zoomTo(t.tid);
    if (action) {
      line.classList.add('link');
      line.addEventListener('click', action);
    }
    body.append(line);
  });
  table.append(thead, body);
  const list = make('div', 'list'), groups = D.work ? groupsOfThreads(unit, match) : null;
  if (groups) list.append(groups);
  list.append(table);
  if (!rows.length) list.append(make('p', 'nothing', match ? 'No thread matches.' : 'No samples.'));
  if (rows.length > THREADS_MOST) list.append(moreThan(rows.length - THREADS_MOST));
  section.replaceChildren(list);
}
