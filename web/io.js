/* io.js - the event io: what reads, writes and the like were about, where they come from, and all calls by operation.
 *
 * Of short calls some are samples and stand for the others. What is an estimate for that reason has a standard error,
 * and is written with as many digits as that leaves sure, as in the terminal (src/profile/model/human.c).
 */
const IO_TABLES = [['Files', ['file']], ['Peers', ['socket']], ['Others', ['pipe', 'device', 'other']]];
const IO_ROWS = 100;

/* VALUE with DIGITS digits, others 0; UP: at least as much. */
function withDigits(value, digits, up) {
  let unit = 1;
  while (value / unit >= 10 ** digits) unit *= 10;
  if (unit === 1 && !up) return value;
  return (up ? Math.ceil(value / unit) : Math.round(value / unit)) * unit;
}

/* [mark, value, digits] of an estimate; what one to four happenings make out is less than its value. */
function about(value, error) {
  const happenings = (value / error) ** 2;
  if (happenings < 4.5) {
    const n = Math.max(1, Math.round(happenings));
    return ['< ', withDigits(Math.max(value, error) / n * [5.57, 7.22, 8.77, 10.24][n - 1], 1, true), 1];
  }
  const digits = error > 0.3 * value ? 1 : error > 0.03 * value ? 2 : 3;
  return ['~', withDigits(value, digits, false), digits];
}

/* WRITE (count or time) of VALUE, or of what is sure of it. */
function estimate(write, value, error) {
  if (!error) return write(value);
  const [mark, rounded] = about(value, error);
  return mark + write(rounded).replace(/(\.\d*?)0+( |$)/, '$1$2').replace(/\.( |$)/, '$1');
}

function estimatedBytes(value, error) {
  if (!error) return bytes(value);
  for (let unit = 1, u = 0; ; unit *= 1024, u++) {
    const [mark, rounded, digits] = about(value / unit, error / unit);
    if (rounded >= 1000 && u < 4) continue;
    return `${mark}${+rounded.toFixed(u && rounded < 10 && digits > 1 ? 1 : 0)} ${['bytes', 'KB', 'MB', 'GB', 'TB'][u]}`;
  }
}

const ioRow = ([target, operation, kind, calls, moved, weight, idle, longest, callsError, bytesError, timeError, idleError]) => (
  { target, operation, kind, calls, moved, weight, idle, longest, callsError, bytesError, timeError, idleError });

function ioTable(title, heads, lines) {
  const table = make('table'), head = make('tr'), thead = make('thead'), body = make('tbody');
  heads.forEach((text, i) => head.append(make('th', i < heads.length - 1 ? 'number' : '', text)));
  thead.append(head);
  body.append(...lines);
  table.append(thead, body);
  const part = make('section', 'io');
  part.append(make('h2', '', title), table);
  return part;
}

function linkedLine(cells, action) {
  const line = make('tr', action ? 'link' : '');
  line.append(...cells);
  if (action) {
    line.tabIndex = 0;
    line.addEventListener('click', action);
    line.addEventListener('keydown', (e) => e.key === 'Enter' && action());
  }
  return line;
}

function ioLine(row, search) {
  const idle = !row.weight && row.idle, what = make('td', '', row.target);
  what.title = row.target;
  if (row.weight && row.idle) what.append(make('span', 'pack', `, and ${estimate(time, row.idle, row.idleError)} idle`));
  return linkedLine([
    idle ? make('td', 'number pack', 'idle') : shareCell(row.weight, tree.totalWeight[0]),
    numberCell(idle ? estimate(time, row.idle, row.idleError) : estimate(time, row.weight, row.timeError)),
    numberCell(estimate(count, row.calls, row.callsError)), numberCell(estimatedBytes(row.moved, row.bytesError)),
    numberCell(time(row.longest)), make('td', '', row.operation), what,
  ], row.weight ? () => search(row.target) : null);
}

/* All tables of the tab, with what MATCH finds; a row leads to its frame in the graph by SEARCH. */
function drawIo(section, match, search) {
  const rows = D.io.map(ioRow).filter((row) => !match || match.test(row.target)), list = make('div', 'list');
  for (const [title, kinds] of IO_TABLES) {
    const some = rows.filter((row) => kinds.includes(row.kind));
    if (!some.length) continue;
    const part = ioTable(title, ['Share', 'Time', 'Calls', 'Bytes', 'Longest', '', ''], some.slice(0, IO_ROWS).map((row) => ioLine(row, search)));
    if (some.length > IO_ROWS) part.append(make('p', 'hint', `and ${count(some.length - IO_ROWS)} more`));
    list.append(part);
  }
  const places = D.ioPlaces.filter(([name]) => !match || match.test(name));
  if (places.length) {
    list.append(ioTable('Asked for by', ['Share', 'Time', 'Samples', ''], places.slice(0, IO_ROWS).map(([name, samples, weight, error]) => (
      linkedLine([shareCell(weight, tree.totalWeight[0]), numberCell(estimate(time, weight, error)), numberCell(count(samples)), make('td', '', name)], () => search(name))))));
  }
  if (!list.firstChild) list.append(make('p', 'nothing', match ? 'Nothing matches.' : 'No samples.'));
  if (D.ioMore) list.append(make('p', 'hint', `${count(D.ioMore)} more lines are in JSON alone.`));
  if (D.ioCounted.length && !match) {
    const inSamples = (operation) => D.io.map(ioRow).reduce((sum, row) => sum + (row.operation === operation ? row.weight + row.idle : 0), 0);
    list.append(ioTable('All calls, each counted', ['In samples', 'Time', 'Calls', 'Bytes', ''], D.ioCounted.map(([operation, calls, moved, ns]) => (
      linkedLine([numberCell(ns ? `${(100 * inSamples(operation) / ns).toFixed(2)} %` : '-'), numberCell(time(ns)), numberCell(count(calls)), numberCell(bytes(moved)), make('td', '', operation)])))));
  }
  if (D.io.map(ioRow).some((row) => row.callsError || row.timeError || row.idleError)) {
    list.append(make('p', 'hint', `~ estimated: of calls shorter than ${time(D.interval)} some are samples and stand for the others; < less than, estimated from few. Idle: it waited until a client wanted something.`));
  }
  section.replaceChildren(list);
}
