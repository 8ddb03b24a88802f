import { type RandomSource, randomSource } from '../../src/stats/random.ts'

/** One kind of request: a tree of calls, flattened to trace points with forks and joins. */
export interface FlowTemplate {
  readonly labels: readonly string[]
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** Mean latency of each edge, µs. */
  readonly meanUs: readonly number[]
  /** How often requests of this kind come, before and after. */
  readonly rates: readonly [before: number, after: number]
  /** An edge that got slower, and how many times slower; -1 for none. */
  readonly slowed: { readonly edge: number; readonly factor: number }
}

const ROOTS = ['READ', 'WRITE', 'LOOKUP', 'GETATTR', 'CREATE', 'REMOVE', 'READDIR', 'COMMIT']
const POINTS = ['CACHE', 'LOCK', 'RPC_SEND', 'RPC_RECEIVE', 'DISK', 'QUEUE', 'ALLOCATE', 'CHECKSUM']

/** How large flows are, and how often each kind comes. */
export interface SimulatedScale {
  readonly kinds: number
  /** Nodes of each kind's flow; kinds come most frequent first. */
  readonly sizes: (random: RandomSource) => readonly number[]
  /** Frequency of kind `k`, as a share of no particular whole. */
  readonly popularity: (kind: number) => number
}

/** Flows of about as many nodes each, a few kinds frequent and many rare. */
export function evenScale(kinds: number, nodes: number): SimulatedScale {
  return {
    kinds,
    sizes: (random) =>
      Array.from({ length: kinds }, () =>
        Math.max(4, Math.round(nodes * (0.4 + 1.2 * random.next()))),
      ),
    popularity: (kind) => 1 / (kind + 3),
  }
}

/**
 * The thesis's SFS 97 run (Sambasivan 2013, Table 3.1): 1,602 categories whose flows have 206 nodes
 * on average (SD 200), while the average request has 30 (SD 51), as most requests are small. Sizes
 * are log-normal; the exponent that makes small kinds frequent was fitted to those numbers.
 */
export const SFS97_SCALE: SimulatedScale = {
  kinds: 1602,
  sizes: (random) =>
    Array.from({ length: 1602 }, () =>
      Math.max(4, Math.round(random.logNormal(4.996, 0.815))),
    ).sort((a, b) => a - b),
  popularity: (kind) => (kind + 3) ** -1.45,
}

/**
 * Kinds of requests in the manner of the thesis's storage traces: structures that share roots, a
 * few frequent and many rare, fork-joins among chains. Simulated, not recorded. One kind in twenty
 * comes more or less often after, one in twenty has an edge that gets slower.
 */
export function simulatedTemplates(scale: SimulatedScale, { seed = 1 } = {}): FlowTemplate[] {
  const random = randomSource(seed)
  return scale.sizes(random).map((nodes, kind) => {
    const template = growTemplate(random, { kind, nodes })
    const popularity = scale.popularity(kind)
    const shift = random.next() < 0.05 ? random.next() * 2 : 1
    const slow = random.next() < 0.05
    return {
      ...template,
      rates: [popularity, popularity * shift],
      slowed: {
        edge: slow ? random.integer(template.from.length) : -1,
        factor: 1 + 3 * random.next(),
      },
    }
  })
}

function growTemplate(random: RandomSource, { kind, nodes }: { kind: number; nodes: number }) {
  const root = ROOTS[kind % ROOTS.length] as string
  const labels = [`e10__t3__NFS3_${root}_CALL_TYPE\\nDEFAULT`]
  const from: number[] = []
  const to: number[] = []
  const add = (label: string, parents: readonly number[]) => {
    labels.push(label)
    for (const parent of parents) {
      from.push(parent)
      to.push(labels.length - 1)
    }
    return labels.length - 1
  }
  const point = () => {
    const component = 10 + random.integer(6)
    const name = POINTS[random.integer(POINTS.length)]
    return `e${component}__t${1 + random.integer(4)}__${name}_${random.integer(3)}\\nDEFAULT`
  }
  let tip = 0
  while (labels.length < nodes - 1) {
    if (random.next() < 0.2 && labels.length + 6 < nodes) {
      const branches = 2 + random.integer(2)
      const ends = Array.from({ length: branches }, () => add(point(), [add(point(), [tip])]))
      tip = add('e10__t3__JOIN\\nDEFAULT', ends)
    } else tip = add(point(), [tip])
  }
  add(`e10__t3__NFS3_${root}_REPLY_TYPE\\nDEFAULT`, [tip])
  return { labels, from, to, meanUs: from.map(() => 20 + 400 * random.next() ** 3) }
}

/** The requests of one period, as Spectroscope's DOT, graph by graph. */
export function* simulatedDot(
  templates: readonly FlowTemplate[],
  { requests, period, seed }: { requests: number; period: 0 | 1; seed: number },
): Generator<string> {
  const random = randomSource(seed + period)
  const cumulative: number[] = []
  let total = 0
  for (const { rates } of templates) {
    total += rates[period]
    cumulative.push(total)
  }
  let arrivalUs = 0
  for (let request = 1; request <= requests; request++) {
    const pick = random.next() * total
    const template = templates[lowerBound(cumulative, pick)] as FlowTemplate
    arrivalUs += 500 * random.next()
    yield dotOf(template, { random, period, request, arrivalUs })
  }
}

function dotOf(
  { labels, from, to, meanUs, slowed }: FlowTemplate,
  {
    random,
    period,
    request,
    arrivalUs,
  }: { random: RandomSource; period: 0 | 1; request: number; arrivalUs: number },
): string {
  const timesUs = new Float64Array(labels.length)
  const work = from.map((_, edge) => {
    const factor = period === 1 && edge === slowed.edge ? slowed.factor : 1
    return (meanUs[edge] as number) * factor * random.logNormal(0, 0.4)
  })
  // Edges are listed such that all into a node come before any out of it.
  from.forEach((source, edge) => {
    const target = to[edge] as number
    const arrival = (timesUs[source] as number) + (work[edge] as number)
    timesUs[target] = Math.max(timesUs[target] as number, arrival)
  })
  const breadcrumb = 2586230574719640 + request * 1_000_003
  // Two trace points can fall on one tick; the last two digits keep their ids apart.
  const tick = (node: number) => Math.round((timesUs[node] as number) * 3000) * 100 + node
  const id = (node: number) => `${breadcrumb}.${breadcrumb + tick(node)}`
  // Concurrent trace points are recorded in the order they happened, not in a canonical one.
  const order = labels
    .map((_, node) => node)
    .sort((a, b) => (timesUs[a] as number) - (timesUs[b] as number))
  const responseTimeUs = (timesUs[labels.length - 1] as number).toFixed(6)
  let text = `# ${request}  R: ${responseTimeUs} usecs RT: ${arrivalUs.toFixed(6)} usecs\nDigraph G {\n`
  for (const node of order) text += `${id(node)} [label="${labels[node]}"]\n`
  from.forEach((source, edge) => {
    const target = to[edge] as number
    const latency = ((timesUs[target] as number) - (timesUs[source] as number)).toFixed(6)
    text += `${id(source)} -> ${id(target)} [label="R: ${latency} us"]\n`
  })
  return `${text}}\n\n`
}

function lowerBound(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}
