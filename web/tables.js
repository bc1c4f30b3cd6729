/* tables.js - hot methods with their callers and callees, and threads. */
const FIRST_ROWS = 200;

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

class MethodTable {
  constructor(section, actions) {
    this.section = section;
    this.actions = actions;
    this.sort = 'self';
    this.chosen = null;
    this.limit = FIRST_ROWS;
  }

  show(unit, match, chosen) {
    this.unit = unit;
    this.match = match;
    this.chosen = chosen;
    this.draw();
  }

  rows() {
    const unit = this.unit, match = this.match;
    const rows = methods().filter((row) => !match || match.test(methodName(row.id)));
    const by = {
      self: (a, b) => selfOf(b, unit) - selfOf(a, unit) || b[unit] - a[unit],
      total: (a, b) => b[unit] - a[unit] || selfOf(b, unit) - selfOf(a, unit),
      name: () => 0,
    }[this.sort];
    return rows.sort((a, b) => by(a, b) || (D.names[a.id] < D.names[b.id] ? -1 : 1));
  }

  draw() {
    const all = everything(), rows = this.rows(), unit = this.unit;
    const most = methods().reduce((m, row) => Math.max(m, selfOf(row, unit)), 0);
    const table = make('table'), head = make('tr');
    const column = (key, text, span) => {
      const cell = make('th', key === this.sort ? 'sorted' : ''), button = make('button', '', text);
      cell.colSpan = span;
      cell.setAttribute('aria-sort', key === this.sort ? (key === 'name' ? 'ascending' : 'descending') : 'none');
      button.type = 'button';
      button.dataset.sort = key;
      button.addEventListener('click', () => {
        this.sort = key;
        this.draw();
      });
      cell.append(button);
      head.append(cell);
    };
    column('self', 'Self', 2);
    column('total', 'Total', 2);
    column('name', 'Method', 1);
    const thead = make('thead');
    thead.append(head);
    const body = make('tbody');
    for (const row of rows.slice(0, this.limit)) {
      const line = make('tr', row.id === this.chosen ? 'chosen' : '');
      const self = { samples: row.selfSamples, weight: row.selfWeight };
      const name = make('td');
      name.append(methodLabel(row.id, row.kind));
      line.dataset.id = row.id;
      line.tabIndex = 0;
      line.append(shareCell(self[unit], all, most), make('td', 'number', value(self, unit)),
        shareCell(row[unit], all), make('td', 'number', value(row, unit)), name);
      line.addEventListener('click', () => this.actions.choose(row.id));
      line.addEventListener('keydown', (e) => e.key === 'Enter' && this.actions.choose(row.id));
      body.append(line);
    }
    table.append(thead, body);
    const list = make('div', 'list');
    list.append(table);
    this.more(list, rows.length);
    const scroll = this.section.firstChild ? this.section.firstChild.scrollTop : 0;
    this.section.replaceChildren(list, this.side());
    list.scrollTop = scroll;
  }

  more(list, rows) {
    if (!rows) list.append(make('p', 'nothing', this.match ? 'No method matches.' : 'No samples.'));
    if (rows <= this.limit) return;
    const button = make('button', 'more', `Show all ${count(rows)} methods`);
    button.type = 'button';
    button.addEventListener('click', () => {
      this.limit = Infinity;
      this.draw();
    });
    list.append(button);
  }

  /* The chosen method with who called it and what it called. */
  side() {
    const side = make('aside', 'side'), id = this.chosen;
    const row = id === null ? null : methods().find((r) => r.id === id);
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

function drawThreads(section, unit, match, zoomTo) {
  const all = everything(), table = make('table'), head = make('tr'), thead = make('thead'), body = make('tbody');
  [['Share', 2], ['Thread', 1], ['tid', 1]].forEach(([text, span]) => {
    const cell = make('th', '', text);
    cell.colSpan = span;
    head.append(cell);
  });
  thead.append(head);
  D.threads.map(([tid, name, samples, weight]) => ({ tid, name, samples, weight }))
    .filter((t) => !match || match.test(t.name))
    .sort((a, b) => b[unit] - a[unit] || a.tid - b.tid)
    .forEach((t) => {
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
  const list = make('div', 'list');
  list.append(table);
  if (!body.firstChild) list.append(make('p', 'nothing', match ? 'No thread matches.' : 'No samples.'));
  section.replaceChildren(list);
}
