/* edit.js - the tree without what is in the way: frames that are hidden, stacks that are left out. state.edit has a line for
 * each step, "what name", in their order.
 *
 * Each step makes a new tree of the one before, and everything on the page is of the last one. What a step leaves out is the
 * root's own: so shares stay shares of the whole profile, and what is missing can be told.
 */
const EDITS = {
  hide: { label: 'Hide', key: 'h', tell: 'Its callers have what it has' },
  focus: { label: 'Focus on', key: 'f', tell: 'Only stacks with it, from it on' },
  drop: { label: 'Drop', key: 'x', tell: 'Leave out all stacks with it' },
  leaf: { label: 'Treat as leaf', key: 'e', tell: 'It has what it calls' },
  once: { label: 'Collapse recursion', key: 'o', tell: 'Where it calls itself it stands once' },
};
const EDITS_MOST = 50; /* each is a tree of its own */
const COLUMNS = ['selfSamples', 'selfWeight', 'totalSamples', 'totalWeight'];

/* A step as the address has it, whatever is in the name. */
function editText(what, name) {
  return `${what} ${name.replace(/[\\\n]/g, (c) => (c === '\n' ? '\\n' : '\\\\'))}`;
}

/* Steps of TEXT as the address has them; what is none is left away, and what is too much. */
function editsOf(text) {
  return text.split('\n').filter((line) => line.includes(' ')).map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)])
    .filter(([what, name]) => Object.keys(EDITS).includes(what) && (name || D.names.includes(''))).slice(0, EDITS_MOST)
    .map(([what, name]) => ({ what, name: name.replace(/\\(n|\\)/g, (_, c) => (c === 'n' ? '\n' : '\\')), text: `${what} ${name}` }));
}

/* Of each name whether it is that of METHOD. */
function namesOfMethod(method) {
  return Uint8Array.from(D.names, (_, i) => (methodName(i) === method ? 1 : 0));
}

/* Nodes of an edited tree in the order of the tree, and where each node of the tree FROM went: 0, it is left out. */
class EditedTree {
  constructor(from, what, wanted) {
    const size = from.count + 1;
    this.from = from;
    this.what = what;
    this.wanted = wanted;
    this.made = this.groups = 0;
    this.to = new Int32Array(size);
    this.next = new Int32Array(size).fill(-1); /* sources of a node are a list */
    this.seenBy = new Int32Array(D.names.length).fill(-1);
    this.groupOf = new Int32Array(D.names.length);
    /* of groups: of sources with a name below a node */
    this.names = new Int32Array(size);
    this.heads = new Int32Array(size);
    this.tails = new Int32Array(size);
    this.ups = new Int32Array(size);
    this.inside = new Int32Array(size);
    this.name = new Int32Array(size).fill(NO_NAME, 0, 1);
    this.parent = new Int32Array(size).fill(-1, 0, 1);
    this.kind = new Uint8Array(size).fill(KIND_OTHER, 0, 1);
    this.mixed = new Map();
    this.build();
  }

  build() {
    const open = new Int32Array(this.from.count + 1);
    let depth = 0, first = 0;
    const push = () => { for (let g = this.groups; g-- > first;) open[depth++] = g; };
    if (this.what === 'focus') this.findOutermost();
    else this.below(0, 0, 0, 0);
    push();
    while (depth) {
      const g = open[--depth], node = ++this.made;
      this.name[node] = this.names[g];
      this.parent[node] = this.ups[g];
      this.mixKinds(node, this.heads[g]);
      const inside = this.inside[g];
      if (this.what === 'once' && this.wanted[this.names[g]] && !inside) this.takeNested(g);
      first = this.groups;
      this.below(node, this.heads[g], this.tails[g], inside || this.wanted[this.names[g]]);
      push();
    }
  }

  /* Sources from HEAD to TAIL are NODE: group what they call by name. */
  below(node, head, tail, inside) {
    const { name, end } = this.from, { what, wanted, next, to } = this;
    for (let s = head; s >= 0; s = next[s]) {
      to[s] = node;
      if (what === 'leaf' && s && wanted[name[s]]) {
        to.fill(node, s, end[s]);
        continue;
      }
      for (let c = s + 1; c < end[s]; c = end[c]) {
        const is = wanted[name[c]];
        if (is && what === 'hide') tail = next[tail] = c; /* what it calls is called by its caller */
        else if (!is || !(what === 'drop' || (what === 'once' && inside))) this.add(name[c], c, node, inside);
      }
    }
  }

  add(name, source, up, inside) {
    if (this.seenBy[name] === up) {
      const g = this.groupOf[name];
      this.tails[g] = this.next[this.tails[g]] = source;
      return;
    }
    const g = this.groups++;
    this.seenBy[name] = up;
    this.groupOf[name] = g;
    this.names[g] = name;
    this.heads[g] = this.tails[g] = source;
    this.ups[g] = up;
    this.inside[g] = inside;
  }

  findOutermost() {
    for (let i = 1; i <= this.from.count;) {
      const is = this.wanted[this.from.name[i]];
      if (is) this.add(this.from.name[i], i, 0, 0);
      i = is ? this.from.end[i] : i + 1;
    }
  }

  /* All calls of itself below group G are the outermost one. */
  takeNested(g) {
    const last = this.tails[g];
    for (let s = this.heads[g]; ; s = this.next[s]) {
      for (let i = s + 1; i < this.from.end[s]; i++) if (this.wanted[this.from.name[i]]) this.tails[g] = this.next[this.tails[g]] = i;
      if (s === last) return;
    }
  }

  mixKinds(node, head) {
    const { kind, mixed, totalSamples } = this.from;
    if (this.next[head] < 0) {
      this.kind[node] = kind[head];
      if (mixed.has(head)) this.mixed.set(node, mixed.get(head));
      return;
    }
    const sums = new Map();
    for (let s = head; s >= 0; s = this.next[s]) for (const [k, n] of mixed.get(s) || [[kind[s], totalSamples[s]]]) sums.set(k, (sums.get(k) || 0) + n);
    const seen = [...sums].sort((a, b) => b[1] - a[1]);
    this.kind[node] = seen[0][0];
    if (seen.length > 1) this.mixed.set(node, seen);
  }

  /* What the own values of SELF, one of each node, come to here, with all below; ADDED has the own ones here. */
  sums(self) {
    const count = this.made, own = new Float64Array(count + 1);
    for (let i = 0; i < self.length; i++) own[this.to[i]] += self[i];
    const total = own.slice();
    for (let i = count; i > 0; i--) total[this.parent[i]] += total[i];
    return [own, total];
  }

  tree() {
    const count = this.made, end = new Int32Array(count + 1);
    for (let i = 0; i <= count; i++) end[i] = i + 1;
    for (let i = count; i > 0; i--) if (end[this.parent[i]] < end[i]) end[this.parent[i]] = end[i];
    const [selfSamples, totalSamples] = this.sums(this.from.selfSamples), [selfWeight, totalWeight] = this.sums(this.from.selfWeight);
    const cut = (column) => column.slice(0, count + 1);
    return { count, name: cut(this.name), parent: cut(this.parent), end, kind: cut(this.kind), mixed: this.mixed, selfSamples, selfWeight, totalSamples, totalWeight };
  }
}

class Edits {
  constructor() {
    this.text = '';
    this.list = [];
    this.steps = []; /* of the list, and in front of it what was sampled: { text, tree, map, objects } */
  }

  /* Make the tree that of TEXT, if it is not yet. */
  follow(text) {
    if (text === this.text) return;
    if (!this.steps.length) this.steps.push(this.sampled());
    this.text = text;
    this.list = editsOf(text);
    let known = 1;
    while (known < this.steps.length && known <= this.list.length && this.steps[known].text === this.list[known - 1].text) known++;
    this.steps.length = known;
    for (const edit of this.list.slice(known - 1)) this.steps.push(this.step(this.steps[this.steps.length - 1], edit));
    this.show(this.steps[this.steps.length - 1]);
  }

  sampled() {
    const whole = T && T.whole ? T.whole : tree, columns = {};
    for (const key of COLUMNS) columns[key] = whole[key];
    return { text: '', tree: { ...tree, ...columns }, map: Int32Array.from(tree.name, (_, i) => i), objects: objects && { ...objects }, to: null };
  }

  step(before, { what, name, text }) {
    const wanted = namesOfMethod(name), made = new EditedTree(before.tree, what, wanted), own = before.objects && made.sums(before.objects.self);
    return { text, tree: made.tree(), to: made.to, map: before.map.map((node) => made.to[node]), objects: own && { self: own[0], total: own[1] } };
  }

  show({ tree: shown, map, objects: counted }) {
    Object.assign(tree, shown);
    if (objects) Object.assign(objects, counted);
    for (const by of Object.keys(rowsBy)) delete rowsBy[by];
    rootOfThread = null;
    if (!T) return;
    T.whole = {};
    for (const key of COLUMNS) {
      T.whole[key] = shown[key]; /* a selection changes the tree's */
      tree[key] = shown[key].slice();
    }
    T.tree = this.steps[0].tree;
    T.drawn = T.node.map((node) => map[node]);
    T.selected = T.other = T.threadSums = null;
    when.was = ''; /* it is to be selected again */
  }

  /* The address of one step more, and of the node NODE of the tree in it. */
  with(what, name, node) {
    if (this.list.length === EDITS_MOST) return {};
    const text = [...this.list.map((edit) => edit.text), editText(what, name)].join('\n');
    this.follow(text);
    const at = node ? this.steps[this.steps.length - 1].to[node] : 0;
    return { edit: text, zoom: at ? 'i' + at : '', focus: '' };
  }

  without(at) {
    return { edit: this.list.filter((_, i) => i !== at).map((edit) => edit.text).join('\n'), zoom: '' };
  }
}
