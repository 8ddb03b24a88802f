/**
 * What Arquero's API reference does with a table, on `t`, a stage table with the columns `key`, `x`
 * and `list`; `other` is Arquero's own with `key` and `y`. Each value is the body of a function.
 */
export const VERBS: Readonly<Record<string, readonly string[]>> = {
  // Tables: https://idl.uw.edu/arquero/api/table
  array: ["t.array('x')", "t.array('x', Float32Array)"],
  assign: ["t.assign(t.select('x').rename({ x: 'z' }), { w: [1, 2, 3, 4] })"],
  column: ["t.column('x')?.at(0)"],
  columnAt: ['t.columnAt(0)?.length'],
  columnIndex: ["t.columnIndex('x')"],
  columnName: ['t.columnName(0)'],
  columnNames: ['t.columnNames()', "t.columnNames((name) => name !== 'x')"],
  comparator: ["t.orderby('x').comparator()(0, 1, t.data())"],
  create: ["t.create({ names: ['x'] })"],
  data: ["t.data()['x']"],
  get: ["t.get('x')", "t.get('x', 2)"],
  getter: ["t.getter('x')(1)"],
  groups: ["t.groupby('key').groups().size"],
  indices: ['t.indices()', "t.orderby('x').indices(false)"],
  isFiltered: ['t.isFiltered()'],
  isGrouped: ['t.isGrouped()'],
  isOrdered: ['t.isOrdered()'],
  mask: ['t.filter((d) => d.x > 1).mask().count()'],
  numCols: ['t.numCols()'],
  numRows: ['t.numRows()'],
  object: ['t.object().x', 't.object(1).key'],
  objects: [
    't.objects().map((row) => row.x)',
    "t.objects({ limit: 2, offset: 1, columns: ['key', { x: 'y' }] })",
    "t.groupby('key').objects({ grouped: 'entries' })",
  ],
  params: ['t.params()', 't.params({ most: 2 }).filter((d, $) => d.x < $.most).numRows()'],
  partitions: ["t.groupby('key').partitions().length", 't.partitions(false)'],
  print: ['t.print()', 't.print(2)', "t.print({ limit: 2, columns: aq.not('list') })"],
  reify: ['t.filter((d) => d.x > 1).reify()', 't.reify([0, 2])'],
  scan: ['t.scan((row, data, stop) => { if (row === 1) stop() }, true)', 't.scan(() => {})'],
  size: ['t.size'],
  totalRows: ['t.totalRows()'],
  values: [
    "[...t.values('x')].length",
    "[...t.filter((d) => d.x > 1).orderby('x').values('x')]",
    "Array.from(t.values('x'), (x) => x * 2)",
  ],
  iterator: ['[...t].map((row) => row.x)', '(() => { for (const row of t) return row.key })()'],
  toArrow: ['t.toArrow()', "t.toArrow({ columns: ['x'], limit: 2 })", 'aq.toArrow(t)'],
  toArrowIPC: ["t.toArrowIPC({ format: 'file' })", 'aq.toArrowIPC(t)'],
  toCSV: ["t.toCSV({ delimiter: '\\t', header: false })", 'aq.toCSV(t)'],
  toHTML: ["t.toHTML({ limit: 2, align: { x: 'r' } })", 'aq.toHTML(t)'],
  toJSON: ["t.toJSON({ columns: ['x'] })", 'aq.toJSON(t)'],
  toMarkdown: ['t.toMarkdown({ limit: 2 })', 'aq.toMarkdown(t)'],

  // Verbs: https://idl.uw.edu/arquero/api/verbs
  count: ['t.count()', "t.groupby('key').count({ as: 'n' })"],
  derive: [
    't.derive({ sumXY: (d) => d.x + 1, root: (d) => aq.op.sqrt(d.x) })',
    "t.derive({ z: (d) => d.x - aq.op.average(d.x) }, { before: 'x' })",
    "t.derive({ avg: aq.rolling((d) => aq.op.average(d.x), [-1, 1]), even: aq.bin('x') })",
    "t.derive({ twice: 'd => d.x * 2', ten: aq.escape((d) => d.x * 10) }, { drop: true })",
  ],
  filter: [
    't.filter((d) => aq.op.abs(d.x) < 3)',
    'const least = 2; return t.filter(aq.escape((d) => d.x >= least))',
  ],
  groupby: [
    "t.groupby('key')",
    "t.groupby({ big: (d) => d.x > 2 }, 'key')",
    "t.groupby(['key', 'x'])",
  ],
  orderby: [
    "t.orderby('key', aq.desc('x'))",
    't.orderby((d) => -d.x)',
    "t.orderby(aq.collate('key', 'de'))",
  ],
  relocate: [
    "t.relocate(['list', 'x'], { before: 'key' })",
    "t.relocate('key', { after: aq.range(1, 2) })",
  ],
  rename: ["t.rename({ x: 'time' })", "t.rename(aq.names('a', 'b', 'c'))"],
  reduce: [
    'class Counter extends aq.Reducer { init() { return { n: 0 } } add(state) { state.n += 1 } ' +
      'write(state, values, index) { values.n[index] = state.n; return 1 } }; ' +
      "return t.groupby('key').reduce(new Counter(['n']))",
  ],
  rollup: [
    "t.rollup({ mean: (d) => aq.op.mean(d.x), most: aq.op.max('x') })",
    "t.groupby('key').rollup({ n: aq.op.count() })",
    't.rollup()',
  ],
  sample: [
    't.sample(2)',
    't.sample(5, { replace: true, shuffle: false })',
    "t.sample(aq.frac(0.5), { weight: 'x' })",
  ],
  select: [
    "t.select('key', 'x')",
    "t.select(aq.not('list'), { x: 'time' })",
    "t.select(aq.names('a', 'b'))",
    't.select(aq.range(0, 1))',
    "t.select(aq.matches(/^k/), aq.startswith('x'), aq.endswith('t'))",
    't.select(aq.all())',
  ],
  slice: ['t.slice(1, -1)', 't.slice(-2)'],
  ungroup: ["t.groupby('key').ungroup()"],
  unorder: ["t.orderby('x').unorder()"],
  dedupe: ['t.dedupe()', "t.dedupe('key')", 't.dedupe({ parity: (d) => d.x % 2 })'],
  impute: ['t.impute({ x: () => 0 })', "t.impute({ x: () => 0 }, { expand: ['key'] })"],
  fold: ["t.fold('x')", "t.fold(['key', 'x'], { as: ['name', 'what'] })", "t.fold(aq.not('list'))"],
  pivot: [
    "t.pivot('key', 'x')",
    "t.pivot(['key'], { sum: (d) => aq.op.sum(d.x) }, { sort: false })",
  ],
  spread: [
    "t.spread('list', { limit: 2 })",
    "t.spread({ both: (d) => [d.x, d.key] }, { as: ['a', 'b'] })",
  ],
  unroll: ["t.unroll('list')", "t.unroll('list', { limit: 1, index: true })"],
  lookup: [
    "t.lookup(other, 'key', 'y')",
    "t.lookup(other, ['key', 'key'], ['y'])",
    't.lookup(other)',
  ],
  join: [
    "t.join(other, 'key')",
    "t.join(other, ['key', 'key'])",
    't.join(other)',
    'other.join(t, (a, b) => aq.op.equal(a.key, b.key))',
    "t.join(other, 'key', [aq.all(), aq.not('key')], { suffix: ['', '_other'] })",
    "t.join(other, 'key', { key: (a) => a.key, sum: (a, b) => a.x + b.y })",
  ],
  join_left: ["t.join_left(other, 'key')", "other.join_left(t, ['key', 'key'])"],
  join_right: ["t.join_right(other, 'key')"],
  join_full: ["t.join_full(other, 'key')"],
  cross: ['t.cross(other)', "t.cross(other, [['x'], ['y']])"],
  semijoin: ['t.semijoin(other)', "other.semijoin(t, 'key')"],
  antijoin: ["t.antijoin(other, ['key', 'key'])"],
  concat: ['t.concat(t)', 'other.concat(t, [t, other])'],
  union: ["t.select('key').union(other.select('key'))"],
  intersect: ["t.select('key').intersect(other.select('key'))"],
  except: ["other.select('key').except(t.select('key'))"],
}

/** The cell that does all of it. */
export function verbsCell(): string {
  const bodies = Object.entries(VERBS).flatMap(([verb, bodies]) =>
    bodies.map((body) => {
      const text = body.includes('return ') ? body : `return ${body}`
      return `tried(${JSON.stringify(verb)}, () => { ${text} })`
    }),
  )
  return [
    "import * as aq from 'arquero'",
    "import { stageTable } from 'flowdelta'",
    "const t = stageTable({ key: ['a', 'b', 'a', 'c'], x: [1, 2, 3, 4], list: [[1, 2], [3], [4, 5], [6]] })",
    "const other = aq.table({ key: ['a', 'b', 'd'], y: [10, 20, 30] })",
    'function tried(verb: string, run: () => unknown): void {',
    '  try { run() } catch (error) { console.error(verb, String(error)) }',
    '}',
    ...bodies,
  ].join('\n')
}
