/* events.js - all other events of the recording, a row for each type: those that are no samples. */
class OtherEvents {
  constructor(section) {
    this.section = section;
    this.sort = 'count';
  }

  show(match) {
    const at = (ns) => (T ? moment(ns / T.step) : time(ns)), cell = (n, write) => numberCell(n ? write(n) : ''), about = (e, write) => (n) => (e.estimated ? '~' : '') + write(n);
    /** @type {any[][]} */
    const columns = [
      ['count', 'Events', 1, (e) => e.count, (e) => numberCell(count(e.count))],
      ['time', 'Time', 1, (e) => e.time, (e) => cell(e.time, about(e, time))],
      ['longest', 'Longest', 1, (e) => e.longest, (e) => cell(e.longest, time)],
      ['first', 'First', 1, (e) => -e.first, (e) => numberCell(at(e.first))],
      ['last', 'Last', 1, (e) => e.last, (e) => numberCell(at(e.last))],
      ['mean', 'Mean', 1, (e) => e.sum / e.count, (e) => cell(e.field && e.sum / e.count, about(e, bytes))],
      ['most', 'Most', 1, (e) => e.most, (e) => cell(e.field && e.most, bytes)],
      ['field', 'Of', 1, (e) => (e.field ? 1 : 0), (e) => make('td', 'pack', e.field)],
      ['name', 'Type', 1, () => 0, (e) => nameCell(e.type)],
    ];
    const by = columns.find(([key]) => key === this.sort)[3], list = make('div', 'list'), table = make('table'), body = make('tbody');
    const rows = M.events.map(([type, n, ns, longest, first, last, field, sum, most, estimated]) => ({ type, count: n, time: ns, longest, first, last, field, sum, most, estimated }))
      .filter((e) => !match || match.test(e.type)).sort((a, b) => by(b) - by(a) || (a.type < b.type ? -1 : 1));
    for (const e of rows) {
      const line = make('tr');
      line.append(...columns.map((column) => column[4](e)));
      body.append(line);
    }
    table.append(headLine(columns, this.sort, (key) => {
      this.sort = key;
      this.show(match);
    }), body);
    list.append(rows.length ? table : make('p', 'nothing', 'Nothing matches.'));
    if (rows.some((e) => e.estimated)) list.append(make('p', 'hint', '~ estimated from some of the events; the longest and the most are those of these.'));
    this.section.replaceChildren(list);
  }
}
