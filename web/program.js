/* program.js - rows of a profile of waits by methods of the program: nearly all of its samples are in a handful of methods of
 * the JDK (Unsafe.park, Object.wait0), which say nothing; what helps is who called those. As program_methods.h has it.
 */
const OF_JDK = /^(java|javax|jdk|sun|com[/.]sun)[/.]/, LAMBDA = /\$\$Lambda/;

/* Whether node I is of a method of the program: of its own, no class that only hands on. */
function isOfProgram(i) {
  const name = D.names[tree.name[i]];
  return D.nameTypes[tree.name[i]] === TYPE_JAVA && /\.[^.]*$/.test(name) && !OF_JDK.test(name) && !LAMBDA.test(name);
}

/* The row of node I: the innermost method of the program, and what that called of the JDK; 0: there is none. */
function programPlace(i) {
  let called = 0;
  for (let node = i; node > 0; node = tree.parent[node]) {
    if (isOfProgram(node)) return { node, called };
    if (D.nameTypes[tree.name[node]] === TYPE_JAVA) called = node;
  }
  return { node: i, called: 0 };
}

function programRows() {
  const rows = new Map();
  for (let i = 1; i <= tree.count; i++) {
    if (!tree.selfSamples[i] && !tree.selfWeight[i]) continue;
    const { node, called } = programPlace(i), id = methodOf[tree.name[node]], below = called ? methodOf[tree.name[called]] : NO_NAME;
    const key = id + ' ' + below;
    let row = rows.get(key);
    if (!row) {
      const [, klass, method] = called ? nameParts(below) : ['', '', ''];
      row = { id, text: methodName(id) + (called ? `  (${klass + method})` : ''), find: methodName(id), kind: tree.kind[node], selfSamples: 0, selfWeight: 0, samples: 0, weight: 0 };
      rows.set(key, row);
    }
    row.selfSamples += tree.selfSamples[i];
    row.selfWeight += tree.selfWeight[i];
    row.samples = row.selfSamples;
    row.weight = row.selfWeight;
  }
  return [...rows.values()];
}
