/* data.js - the profile as written by src/profile/writers/page/page_data.c, unpacked into flat arrays.
 *
 * Nodes are numbered in depth-first order, 0 is "all": everything below node i is i + 1 … end[i] - 1.
 * PROFILES has one object for each event, bytesOf gives the bytes of base64 (start.js).
 *
 * Kinds are numbers: those of the writer, KIND_JVM for native code of the JVM itself, and KIND_CALL.
 *
 * Of a trace (D.calls, src/profile/writers/page/calls_page.c) samples are invocations: a node's own are those of itself, and
 * weight is wall-clock time.
 */
/* An address may be any text: what is no number of an event is the first one. */
const shownEvent = () => {
  const asked = Number(new URLSearchParams(location.hash.slice(1)).get('event'));
  return Number.isInteger(asked) && asked > 0 && asked < PROFILES.length ? asked : 0;
};
const SHOWN = shownEvent();
const D = PROFILES[SHOWN];
/* Waits for work are left out of all numbers, unless the address asks for them. */
const asksForIdle = () => new URLSearchParams(location.hash.slice(1)).get('idle') === '1';
const SHOWS_IDLE = !D.idle || asksForIdle();

const KIND_KERNEL = 6, KIND_OTHER = 7, KIND_JVM = 8, KIND_CALL = 9;
const KINDS = [
  { css: 'interpreted', label: 'Interpreted' },
  { css: 'c1', label: 'Compiled by C1' },
  { css: 'jit', label: 'Compiled by C2' },
  { css: 'inlined', label: 'Inlined' },
  { css: 'interpreted', label: 'Native method', sameAs: 0 },
  { css: 'native', label: 'Native' },
  { css: 'kernel', label: 'Kernel' },
  { css: 'other', label: 'Marker' },
  { css: 'jvm', label: 'JVM' },
  { css: 'call', label: 'Traced method' },
];
// A trace that was kept as JSON says nothing of how its methods are compiled.
const ofCalls = Boolean(D.calls) || D.event === 'calls';
if (ofCalls) KINDS[2] = KINDS[KIND_CALL];
// Nor do collapsed stacks whose frames have no endings.
else if (D.kindsUnknown) KINDS[2] = { css: 'jit', label: 'Java' };
const TYPE_JAVA = '0', TYPE_JVM = '2';
const NO_NAME = -1;

const libraries = new Map();
for (let i = 0; i < D.libraries.length; i += 2) libraries.set(D.libraries[i], D.libraries[i + 1]);

const tree = unpack(D.tree, D.nodes);

/* A function that gives the numbers (LEB128) in a MEMBER of bytes one after the other; byte() gives a single byte. */
function numbersOf(member) {
  const bytes = typeof member === 'string' ? bytesOf(member) : member; /* base64 unless it was packed */
  let at = 0;
  const number = () => {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  return { number, byte: () => bytes[at++] };
}

function unpack(member, count) {
  const size = count + 1;
  const t = {
    count,
    name: new Int32Array(size), parent: new Int32Array(size), end: new Int32Array(size),
    kind: new Uint8Array(size), mixed: new Map(),
    selfSamples: new Float64Array(size), selfWeight: new Float64Array(size),
    totalSamples: new Float64Array(size), totalWeight: new Float64Array(size),
  };
  const { number, byte } = numbersOf(member);
  t.name[0] = NO_NAME;
  t.parent[0] = -1;
  t.kind[0] = KIND_OTHER;
  let parent = 0;
  for (let i = 1; i <= count; i++) {
    const head = byte();
    let up = head >> 5;
    if (up === 7) up += number();
    while (up-- > 0) parent = t.parent[parent];
    t.parent[i] = parent;
    const name = t.name[i] = number();
    t.kind[i] = D.nameTypes[name] === TYPE_JVM ? KIND_JVM : D.calls && D.nameTypes[name] === TYPE_JAVA ? KIND_CALL : head & 7;
    if (head & 8) {
      const mask = byte(), seen = [];
      for (let k = 0; k < 8; k++) if (mask & 1 << k) seen.push([k, number()]);
      t.mixed.set(i, seen);
    }
    if (head & 16) {
      t.selfSamples[i] = t.totalSamples[i] = number();
      t.selfWeight[i] = t.totalWeight[i] = number();
    }
    parent = i;
  }
  if (!SHOWS_IDLE) leaveOutIdle(t);
  for (let i = 0; i <= count; i++) t.end[i] = i + 1;
  for (let i = count; i > 0; i--) {
    const p = t.parent[i];
    t.totalSamples[p] += t.totalSamples[i];
    t.totalWeight[p] += t.totalWeight[i];
    if (t.end[p] < t.end[i]) t.end[p] = t.end[i];
  }
  return t;
}

function leaveOutIdle(t) {
  const { number } = numbersOf(D.idle);
  for (let i = 1; i <= t.count; i++) {
    t.selfSamples[i] -= number();
    t.selfWeight[i] -= number();
    t.totalSamples[i] = t.selfSamples[i];
    t.totalWeight[i] = t.selfWeight[i];
  }
}

/* One more number a node, and what it comes to with all below. */
function unpackColumn(member) {
  const self = new Float64Array(tree.count + 1), total = new Float64Array(tree.count + 1);
  const { number } = numbersOf(member);
  for (let i = 1; i <= tree.count; i++) self[i] = number();
  for (let i = tree.count; i > 0; i--) {
    total[i] += self[i];
    total[tree.parent[i]] += total[i];
  }
  return { self, total };
}
const cpuTimes = D.calls ? unpackColumn(D.calls.cpu) : null;
/* Of a part of the time it is not known how many. */
const showsObjects = () => objects && !(T && T.selected);
const objects = D.objects ? unpackColumn(D.objects) : null; /* how many there are */

/* ---- names ---- */

function nameOf(id) {
  return id === NO_NAME ? 'all' : D.names[id];
}

/* "java/util/HashMap.put(I)V" → ["java/util/", "HashMap", ".put(I)V"]; package and class are '' elsewhere. */
function nameParts(id) {
  const name = nameOf(id);
  if (id === NO_NAME || D.nameTypes[id] !== TYPE_JAVA) return ['', '', name];
  const open = name.indexOf('('), dot = name.lastIndexOf('.', open > 0 ? open : name.length);
  const hidden = name.indexOf('.0x');
  const slash = name.lastIndexOf(D.dots ? '.' : '/', (hidden > 0 ? hidden : dot) - 1);
  return [name.slice(0, slash + 1), name.slice(slash + 1, dot), name.slice(dot)];
}

/* The spellings of a name to try, longest first, when there is little room. */
function nameChoices(id) {
  const [pack, klass, method] = nameParts(id);
  if (!klass) return [method];
  const all = pack ? [pack + klass + method, klass + method] : [klass + method];
  return all.concat(method.slice(1));
}

/* ---- search ---- */

const SEARCH_MS = 2000, NO_PATTERN = 'not a regular expression', SLOW_PATTERN = 'as a regular expression it takes too long';

/* A test for the text QUERY: a regular expression, plain text where it is none or takes too long (LITERAL says which); case
 * counts only when it has capitals. null for an empty query. */
function matcher(query) {
  if (!query) return null;
  const anyCase = query === query.toLowerCase();
  let literal = '', names = null, test = null;
  try {
    const pattern = new RegExp(query, anyCase ? 'i' : '');
    test = (text) => pattern.test(text);
    names = matchedNames(test, /\)[*+{]/.test(query));
    if (!names) literal = SLOW_PATTERN;
  } catch (error) { /* some are refused at their first use */
    literal = NO_PATTERN;
  }
  if (literal) {
    test = (text) => (anyCase ? text.toLowerCase() : text).includes(query);
    names = Uint8Array.from(D.names, (name) => (test(name) ? 1 : 0));
  }
  return { query, literal, names, any: names.includes(1), test };
}

/* Which names TEST finds; null: that takes too long. Nothing stops an expression that runs away, and what it takes grows with the
 * length, up to two times or more with each letter. So the short names come first, and where the next one is much longer, or
 * groups are REPEATED, its beginnings come before it. Names of threads are searched, too. */
function matchedNames(test, repeated) {
  const names = new Uint8Array(D.names.length), until = performance.now() + SEARCH_MS;
  let shorter = 0;
  for (const [text, i] of textsByLength()) {
    for (let n = longer(repeated ? 0 : shorter); n < text.length; n = longer(n)) {
      test(text.slice(0, n));
      if (performance.now() > until) return null;
    }
    if (test(text) && i < names.length) names[i] = 1;
    if (performance.now() > until) return null;
    shorter = text.length;
  }
  return names;
}

const longer = (length) => (length < 60 ? length + 2 : Math.ceil(length * 1.25));

let byLength = null;
function textsByLength() {
  if (!byLength) byLength = [...D.names, ...D.threads.map(([, name]) => name)].map((text, i) => [text, i]).sort((a, b) => a[0].length - b[0].length);
  return byLength;
}

/* What the matching stacks below node FROM come to, each counted once. */
function matchedTotal(match, from) {
  let samples = 0, weight = 0;
  for (let i = from, end = tree.end[from]; i < end;) {
    if (i > 0 && match.names[tree.name[i]]) {
      samples += tree.totalSamples[i];
      weight += tree.totalWeight[i];
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return { samples, weight };
}

/* ---- methods ---- */

/* The name without its line, so that a method is one row whatever its lines. */
const methodOf = (function () {
  const ids = Int32Array.from(D.names, (_, i) => i);
  if (!D.lines) return ids;
  const first = new Map();
  D.names.forEach((name, i) => {
    const plain = D.nameTypes[i] + (D.nameTypes[i] === TYPE_JAVA ? name.replace(/:\d+$/, '') : name);
    if (!first.has(plain)) first.set(plain, i);
    ids[i] = first.get(plain);
  });
  return ids;
})();

function methodName(id) {
  return D.lines && D.nameTypes[id] === TYPE_JAVA ? D.names[id].replace(/:\d+$/, '') : D.names[id];
}

/* The class or the package of a method; other code is a group of its own kind. */
const GROUPS = { '': 'method', class: 'class', package: 'package', ...(D.work ? { program: 'method of the program' } : {}) };
const OTHER_CODE = { 1: '(native code)', 2: '(the JVM)', 3: '(the kernel)', 4: '(markers)' };

function groupName(id, by) {
  if (D.nameTypes[id] !== TYPE_JAVA) return OTHER_CODE[D.nameTypes[id]];
  const [pack, klass] = nameParts(id);
  return by === 'class' ? pack + klass : pack.slice(0, -1) || '(no package)';
}

/* For each name the number of its row; rows are named by the first name in them. */
function groupIds(by) {
  if (!by) return methodOf;
  const first = new Map();
  return Int32Array.from(D.names, (_, i) => {
    const text = groupName(i, by);
    if (!first.has(text)) first.set(text, i);
    return first.get(text);
  });
}

/* Samples and weight of node I, of both sides of a difference. */
function addSides(changes, i, outermost) {
  SIDES.forEach((side, k) => {
    changes.self[k][0] += side.selfSamples[i];
    changes.self[k][1] += side.selfWeight[i];
    if (!outermost) return;
    changes.total[k][0] += side.totalSamples[i];
    changes.total[k][1] += side.totalWeight[i];
  });
}

/* One row a method, class or package; where it called itself that counts once in total. Made at first use. */
const rowsBy = {};
function methods(by = '') {
  if (rowsBy[by]) return rowsBy[by];
  if (by === 'program') return (rowsBy[by] = programRows());
  const rows = new Map(), ids = groupIds(by);
  for (let i = 1; i <= tree.count; i++) {
    const id = ids[tree.name[i]];
    let row = rows.get(id);
    if (!row) {
      row = { changes: D.diff ? { self: [[0, 0], [0, 0]], total: [[0, 0], [0, 0]] } : null, id, text: by ? groupName(id, by) : methodName(id), kind: tree.kind[i], most: 0, until: 0, selfSamples: 0, selfWeight: 0, samples: 0, weight: 0, selfCpu: 0, cpu: 0, selfObjects: 0 };
      rows.set(id, row);
    }
    const outermost = i >= row.until; /* not below another frame of this row */
    row.selfSamples += tree.selfSamples[i];
    row.selfWeight += tree.selfWeight[i];
    if (cpuTimes) row.selfCpu += cpuTimes.self[i];
    if (objects) row.selfObjects += objects.self[i];
    if (row.changes) addSides(row.changes, i, outermost);
    if (outermost) {
      row.samples += tree.totalSamples[i];
      row.weight += tree.totalWeight[i];
      if (cpuTimes) row.cpu += cpuTimes.total[i];
      row.until = tree.end[i];
    }
    if (tree.totalSamples[i] > row.most) {
      row.most = tree.totalSamples[i];
      row.kind = tree.kind[i];
    }
  }
  rowsBy[by] = [...rows.values()].filter((row) => !isThreadName(row.id) && (row.samples || row.weight || SHOWS_IDLE));
  return rowsBy[by];
}

/* A thread's root frame: "[name tid=123]". */
function isThreadName(id) {
  return D.nameTypes[id] === '4' && / tid=\d+\]$/.test(D.names[id]);
}

/* Direct callers and callees of method ID with what they share of its total, each stack once. */
function neighbours(id) {
  const callers = new Map(), callees = new Map(), self = { samples: 0, weight: 0 };
  const add = (map, other, i, values) => {
    const row = map.get(other) || { id: other, kind: tree.kind[i], until: 0, samples: 0, weight: 0 };
    if (values < row.until) return;
    row.until = tree.end[values];
    row.samples += tree.totalSamples[values];
    row.weight += tree.totalWeight[values];
    map.set(other, row);
  };
  for (let i = 1, until = 0; i <= tree.count; i++) {
    if (methodOf[tree.name[i]] !== id) continue;
    self.samples += tree.selfSamples[i];
    self.weight += tree.selfWeight[i];
    for (let j = i + 1; j < tree.end[i]; j = tree.end[j]) add(callees, methodOf[tree.name[j]], j, j);
    if (i < until) continue;
    until = tree.end[i];
    const p = tree.parent[i];
    add(callers, p > 0 ? methodOf[tree.name[p]] : NO_NAME, p, i);
  }
  return { callers: [...callers.values()], callees: [...callees.values()], self };
}

/* ---- numbers for people ---- */

function count(n) {
  return Math.round(n).toLocaleString('en-US');
}

/* What is counted, in words: "1 sample", "2,000 calls". */
function counted(n) {
  const word = ofCalls ? 'call' : 'sample';
  return `${count(n)} ${n === 1 ? word : word + 's'}`;
}

/* A weight: CPU time, or events, or bytes. */
/* As the terminal has them: 12 KB, 2.7 GB. */
function bytes(n) {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  let u = 0;
  for (; n >= 1024 && u + 1 < units.length; u++) n /= 1024;
  return `${u && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[u]}`;
}

function amount(weight) {
  if (D.inEvents && D.unit === 'bytes') return bytes(weight);
  return D.inEvents ? `${count(weight)} ${D.unit}` : time(weight);
}

function time(ns) {
  const decimals = (value, unit, digits, word) => (ns % unit === 0 ? String(value) : value.toFixed(digits)) + ' ' + word;
  if (ns < 1e3) return Math.round(ns) + ' ns';
  if (ns < 999950) return decimals(ns / 1e3, 1e3, 1, 'µs');
  if (ns < 999950000) return decimals(ns / 1e6, 1e6, 1, 'ms');
  const s = Math.round(ns / 1e9), two = (n) => String(n).padStart(2, '0');
  if (s < 120) return decimals(ns / 1e9, 1e9, 2, 's');
  if (s < 7200) return Math.floor(s / 60) + ' min ' + two(s % 60) + ' s';
  return Math.floor(s / 3600) + ' h ' + two(Math.floor(s / 60) % 60) + ' min';
}

/* Never rounds up to 100 % nor down to 0 %. */
function percent(part, whole) {
  if (!part || !whole) return '0 %';
  if (part === whole) return '100 %';
  const p = 100 * part / whole;
  if (p < 0.01) return '< 0.01 %';
  return Math.min(p, p < 100 ? 99.99 : p).toFixed(2) + ' %';
}
