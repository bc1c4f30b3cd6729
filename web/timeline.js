/* timeline.js - when samples were taken: D.time, written by src/profile/writers/page/time_page.c, in flat arrays, and what a
 * part of the time comes to.
 *
 * A moment is some samples of one place: a node of the tree, a thread and what that did. Of several in a row they are
 * spread evenly over its span; a wait lasts over all of its span. Times are in steps of T.step ns.
 */
const ACTIVITY_IDLE = D.work ? D.work.activities.length - 1 : 0;
'more'; // start.js puts here what pages of the command have beside (PAGE_MORE_JS)
const T = D.time ? unpackTime(D.time) : null;

function unpackTime(from) {
  const t = { step: from.step, steps: from.steps, count: from.count, at: new Uint32Array(from.count), span: new Uint32Array(from.count), fine: from.fine, place: new Uint32Array(from.count), samples: new Float64Array(from.count), weight: new Float64Array(from.count), longest: 0 };
  const places = numbersOf(from.places), moments = numbersOf(from.moments);
  t.node = new Uint32Array(from.placeCount);
  t.thread = new Int32Array(from.placeCount); /* -1: not known */
  t.activity = new Int8Array(from.placeCount); /* -1: not known */
  for (let i = 0; i < from.placeCount; i++) {
    t.node[i] = places.number();
    t.thread[i] = places.number() - 1;
    t.activity[i] = places.number() - 1;
  }
  let at = 0;
  for (let i = 0; i < from.count; i++) {
    const head = moments.number(), flags = head % 4, steps = (head - flags) / 4 % 4;
    t.place[i] = Math.floor(head / 16);
    t.at[i] = at += steps < 3 ? steps : 3 + moments.number();
    if (flags & 1) t.span[i] = moments.number();
    t.samples[i] = flags & 1 ? moments.number() : 1;
    const beside = flags & 2 ? moments.number() : 0;
    t.weight[i] = (t.samples[i] * from.usual + (beside % 2 ? -(beside - 1) / 2 : beside / 2)) * from.quantum;
    if (t.span[i] > t.longest) t.longest = t.span[i];
  }
  return t;
}

/* ---- kinds of what is drawn over time ---- */

const NAMES_TOLD = 6, NAME_COLOURS = [4, 0, 2, 6, 7, 3];

/* Classes, files and the like: is nothing else on top of the stacks, the kind of code says nothing, so those of the largest weight
 * are told apart: their names, the heaviest first. */
const ON_TOP = D.work || !T || D.top.some(([samples], kind) => samples && kind !== KIND_OTHER) ? null : (function () {
  const sums = new Map();
  for (let i = 1; i <= tree.count; i++) if (tree.selfWeight[i]) sums.set(tree.name[i], (sums.get(tree.name[i]) || 0) + tree.selfWeight[i]);
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, NAMES_TOLD).map(([name]) => name);
})();

/* Of wall time, also where the agent wrote the page and it is not known what they did: who waits has no CPU. */
const SHOWS_THREADS = Boolean(D.work) || D.event === 'wall';

/* What threads did, where that is known; else what code was on top of the stack, or which thread of the JVM it was. */
const DOING = D.work ? D.work.activities.map(([label], i) => ({ label, css: 'act' + i })) :
  ON_TOP ? [...ON_TOP.map((name, i) => ({ label: nameOf(name).replace(/^.*[/.](?=[^/.])/, ''), title: nameOf(name), css: 'act' + NAME_COLOURS[i] })), { label: 'Other', css: 'act10' }] : [
    { label: 'Java', css: 'jit' }, { label: 'Native', css: 'native' }, { label: 'JVM', css: 'jvm' }, { label: 'Kernel', css: 'kernel' },
    { label: 'Garbage collection', css: 'gc' }, { label: 'JIT compiler', css: 'act4' }, { label: 'Other', css: 'other' }];

function doingColours() {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
  return DOING.map(({ css }) => (css === 'act10' ? get('--box-rest') : `hsl(${get(css.startsWith('act') ? '--act-' + css.slice(3) : '--kind-' + css)})`));
}

/* Of each place what its thread did, a number in DOING. */
function doingOfPlaces() {
  const of = new Uint8Array(T.node.length), known = new Map(ON_TOP ? ON_TOP.map((name, i) => [name, i]) : []);
  const byThread = D.threads.map(([, name]) => (SHOWS_THREADS ? -1 : /^(GC |G1 |ZWorker|ZDriver|XWorker|Shenandoah|ParGC|Concurrent Mark)/.test(name) ? 4 : /CompilerThre/.test(name) ? 5 : -1));
  const byKind = { [KIND_KERNEL]: 3, [KIND_JVM]: 2, 5: 1, 4: 1, [KIND_OTHER]: 6 };
  for (let i = 0; i < of.length; i++) {
    if (ON_TOP) of[i] = known.has(tree.name[T.node[i]]) ? known.get(tree.name[T.node[i]]) : ON_TOP.length;
    else if (T.activity[i] >= 0) of[i] = T.activity[i];
    else if (!D.work) of[i] = T.thread[i] >= 0 && byThread[T.thread[i]] >= 0 ? byThread[T.thread[i]] : byKind[tree.kind[T.node[i]]] || 0;
  }
  return of;
}

/* Of each place whether it is shown at all: waits for work are not, unless they are asked for. */
function shownPlaces() {
  return Uint8Array.from(T.activity, (a) => (SHOWS_IDLE || a !== ACTIVITY_IDLE ? 1 : 0));
}

/* ---- groups of threads: their names without numbers ---- */

const groupOfName = (name) => name.replace(/\d+/g, '*');

function findLanes() {
  const groups = new Map(), ofThread = D.threads.map(([, name]) => groupOfName(name));
  ofThread.forEach((name, thread) => {
    if (!groups.has(name)) groups.set(name, { name, threads: [], weight: 0 });
    groups.get(name).threads.push(thread);
  });
  const weights = new Float64Array(D.threads.length), seen = new Uint8Array(D.threads.length);
  for (let i = 0; i < T.count; i++) {
    const thread = T.thread[T.place[i]];
    if (thread < 0 || !T.shown[T.place[i]]) continue;
    weights[thread] += T.weight[i];
    seen[thread] = 1;
  }
  T.threadWeight = weights;
  for (const g of groups.values()) {
    g.threads = g.threads.filter((t) => seen[t]).sort((a, b) => weights[b] - weights[a] || a - b);
    g.weight = g.threads.reduce((sum, t) => sum + weights[t], 0);
  }
  return [...groups.values()].filter((g) => g.threads.length).sort((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
}

if (T) {
  T.drawn = T.node; /* what the tree has of each place, if it is edited (edit.js) */
  T.doing = doingOfPlaces();
  T.shown = shownPlaces();
  T.lanes = findLanes();
  T.selected = T.whole = T.other = null; /* whole: the tree's sums, kept from the first selection on; other: what it is compared with, itself among it */
}

/* ---- parts of the time ---- */

/* Samples and weight of moment I between steps FROM and TO (not including it), into OUT. */
function partOf(i, from, to, out) {
  const at = T.at[i], span = T.span[i], n = T.samples[i];
  out.samples = out.weight = 0;
  if (at >= to || at + span < from) return out;
  if (!span || (at >= from && at + span < to)) {
    out.samples = n;
    out.weight = T.weight[i];
  } else if (n > 1) {
    const first = at >= from ? 0 : Math.ceil((from - at) * (n - 1) / span);
    const last = at + span < to ? n - 1 : Math.ceil((to - at) * (n - 1) / span) - 1;
    out.samples = Math.max(0, last - first + 1);
    out.weight = T.weight[i] * out.samples / n;
  } else {
    out.samples = n;
    out.weight = T.weight[i] * (Math.min(to, at + span) - Math.max(from, at)) / span;
  }
  return out;
}

/* Call FN with each moment that is shown (ALL: or not) between FROM and TO, and what of it lies there; WANTED: places, null: all. */
function eachMoment(from, to, wanted, fn, all = false) {
  const part = { samples: 0, weight: 0 };
  // what began before may last into it, but no longer than the longest
  for (let i = firstMoment(Math.max(0, from - T.longest)); i < T.count && T.at[i] < to; i++) {
    if ((!all && !T.shown[T.place[i]]) || (wanted && !wanted[T.place[i]])) continue;
    partOf(i, from, to, part);
    if (part.samples || part.weight) fn(i, part);
  }
}

/* Whether SELECTION has waits for work that are left out. */
function waitsLeftOut({ from, to, lane, each }) {
  const wanted = placesOfLane(lane), part = { samples: 0, weight: 0 };
  if (SHOWS_IDLE || each) return false;
  for (let i = firstMoment(Math.max(0, from - T.longest)); i < T.count && T.at[i] < to; i++)
    if (!T.shown[T.place[i]] && (!wanted || wanted[T.place[i]]) && partOf(i, from, to, part).samples) return true;
  return false;
}

/* The first moment at AT or later. */
function firstMoment(at) {
  let low = 0, high = T.count;
  while (low < high) {
    const mid = low + high >> 1;
    if (T.at[mid] < at) low = mid + 1;
    else high = mid;
  }
  return low;
}

/* Everything on the page is of SELECTION { from, to, lane } from now on; null: of all. It may have a way of its own to go over
 * its moments (each), and over those that it is compared with, its own among them (eachOther). */
function selectTime(selection) {
  T.selected = selection;
  for (const by of Object.keys(rowsBy)) delete rowsBy[by];
  if (!T.whole) T.whole = { selfSamples: tree.selfSamples.slice(), selfWeight: tree.selfWeight.slice(), totalSamples: tree.totalSamples.slice(), totalWeight: tree.totalWeight.slice() };
  T.other = T.whole;
  if (!selection) {
    for (const key of Object.keys(T.whole)) tree[key].set(T.whole[key]);
    T.threadSums = null;
    return;
  }
  const all = selection.each || ((fn) => eachMoment(selection.from, selection.to, placesOfLane(selection.lane), fn));
  const sums = D.threads.map(() => [0, 0]), doing = DOING.map(() => [0, 0]), add = (to, part) => {
    to[0] += part.samples;
    to[1] += part.weight;
  };
  sumTree(tree, all, (place, part) => {
    if (T.thread[place] >= 0) add(sums[T.thread[place]], part);
    add(doing[T.doing[place]], part);
  });
  T.threadSums = sums;
  T.doingSums = doing;
  if (!selection.eachOther) return;
  T.other = {};
  for (const key of Object.keys(T.whole)) T.other[key] = new Float64Array(tree.count + 1);
  sumTree(T.other, selection.eachOther, () => {});
}

/* TO gets the sums of the moments that EACH gives; those of places go to ADD(place, part) as well. */
function sumTree(to, each, add) {
  to.selfSamples.fill(0);
  to.selfWeight.fill(0);
  each((i, part) => {
    const place = T.place[i];
    to.selfSamples[T.drawn[place]] += part.samples;
    to.selfWeight[T.drawn[place]] += part.weight;
    add(place, part);
  });
  to.totalSamples.set(to.selfSamples);
  to.totalWeight.set(to.selfWeight);
  for (let i = tree.count; i > 0; i--) {
    to.totalSamples[tree.parent[i]] += to.totalSamples[i];
    to.totalWeight[tree.parent[i]] += to.totalWeight[i];
  }
}

/* Which places are of the threads of LANE, a group's name or laneOfThread; null: all are, it is none. */
function placesOfLane(lane) {
  if (!lane || !isLane(lane)) return null;
  const threads = new Set(threadsOfLane(lane));
  return Uint8Array.from(T.thread, (t) => (threads.has(t) ? 1 : 0));
}

function threadsOfLane(lane) {
  const group = T.lanes.find((g) => g.name === lane), tid = /^tid=(\d+)$/.exec(lane);
  if (group) return group.threads;
  return D.threads.map((t, i) => i).filter((i) => (tid ? D.threads[i][0] === +tid[1] : laneOfThread(i) === lane));
}

/* Virtual threads have no tid: their name stands for them, and tid 0 for all of them. */
function laneOfThread(thread) {
  return laneOf(D.threads[thread]);
}

function laneOf([tid, name]) {
  return tid ? 'tid=' + tid : name;
}

/* All threads that the file knows, [tid, name]: an event has those alone that it sampled. */
let threadsKnown = null;
function knownThreads() {
  if (!threadsKnown) threadsKnown = [D, ...PROFILES].flatMap((p) => [...p.threads, ...(p.marks ? p.marks.threads : [])]);
  return threadsKnown;
}

/* Whether LANE is of threads of the file, be it that they have no samples of this event. */
let lanesKnown = null;
function isLane(lane) {
  if (!lanesKnown) lanesKnown = new Set(['tid=0', ...knownThreads().flatMap((thread) => [laneOf(thread), groupOfName(thread[1])])]);
  return lanesKnown.has(lane);
}

function nameOfLane(lane) {
  const found = lane.startsWith('tid=') && knownThreads().find((thread) => laneOf(thread) === lane);
  return lane === 'tid=0' ? 'virtual threads' : found ? `${found[1]} (tid ${found[0]})` : lane;
}

/* What code is on top of the stacks that are selected, as D.top has it. */
function selectedTop() {
  const top = KINDS.map(() => [0, 0]);
  for (let i = 1; i <= tree.count; i++) {
    top[tree.kind[i]][0] += tree.selfSamples[i];
    top[tree.kind[i]][1] += tree.selfWeight[i];
  }
  return top;
}

/* How many samples there were in steps that are shorter than T.step: counts of t.fine.step ns each, unpacked at first use; null: it
 * is not known, or some are not shown. */
function fineCounts() {
  if (!T.fine || !T.shown.every(Boolean)) return null;
  if (!T.fine.all) {
    const numbers = numbersOf(T.fine.counts), all = new Uint32Array(T.fine.count);
    for (let i = 0; i < all.length; i++) all[i] = numbers.number();
    const samples = all.reduce((sum, n) => sum + n, 0);
    T.fine = { step: T.fine.step, all, each: samples ? (T.whole || tree).totalWeight[0] / samples : 0 };
  }
  return T.fine;
}

/* ---- sums over time ---- */

/* WEIGHT of what threads did in COUNT equal parts of FROM … TO: sums[doing][part]; WANTED: places, null: all. */
function sumsOverTime(from, to, count, wanted) {
  const sums = DOING.map(() => new Float64Array(count)), scale = count / (to - from);
  eachMoment(from, to, wanted, (i, part) => {
    spread(sums[T.doing[T.place[i]]], 0, count, i, part.weight, from, scale);
  });
  return sums;
}

/* Add WEIGHT of moment I to the COUNT parts of ROW from FIRST on, SCALE to a step, from step FROM on. A sample of time
 * stands for the time before it. */
function spread(row, first, count, i, weight, from, scale) {
  const own = D.inEvents ? 0 : weight / T.samples[i] / T.step;
  const begin = Math.max(0, (T.at[i] - (T.span[i] && T.samples[i] === 1 ? 0 : own) - from) * scale);
  const end = Math.min(count, (T.at[i] + T.span[i] - from) * scale), last = Math.min(count - 1, Math.floor(end));
  const a = Math.min(Math.floor(begin), last), long = end - begin;
  if (a === last || long <= 0) {
    row[first + last] += weight;
    return;
  }
  row[first + a] += weight * (a + 1 - begin) / long;
  for (let k = a + 1; k < last; k++) row[first + k] += weight / long;
  row[first + last] += weight * Math.max(0, end - last) / long;
}

/* From two hours on times are told as hours, minutes and seconds: "1:05:09". */
const isLong = () => T.steps * T.step >= 7200e9;

function clock(s, digits, seconds = true) {
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0'), n = Math.round(s * 10 ** digits), whole = Math.floor(n / 10 ** digits);
  const parts = `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}`;
  return parts + (seconds ? ':' + two(whole % 60) : '') + (digits ? '.' + String(n % 10 ** digits).padStart(digits, '0') : '');
}

/* "12.345 s", as exact as the steps are. */
function moment(steps) {
  const s = steps * T.step / 1e9, digits = s < 100 ? 2 : 1;
  if (isLong()) return clock(s, T.step < 1e9 ? 1 : 0);
  if (s < 120) return s.toFixed(T.step < 1e7 && s < 10 ? 3 : digits) + ' s';
  return `${Math.floor(s / 60)} min ${(s % 60).toFixed(1).padStart(4, '0')} s`;
}

/* "12.3 s … 14.1 s" */
function stretch(selection) {
  return `${moment(selection.from)} – ${moment(selection.to)}`;
}
