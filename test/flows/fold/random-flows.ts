import type { RandomSource } from '../../../src/stats/random.ts'
import type { GraphSketch } from '../../make-traces.ts'

interface Drawing {
  readonly labels: string[]
  readonly edges: (readonly [number, number])[]
}

type Part = (drawing: Drawing, tip: number) => number

/** A flow made of chains, forks, loops, equal branches and pipelines within each other. */
export function randomFlow(random: RandomSource): GraphSketch {
  const drawing: Drawing = { labels: ['m1__t__CALL'], edges: [] }
  const tip = randomPart(random, 2)(drawing, 0)
  drawing.edges.push([tip, drawing.labels.push('m1__t__REPLY') - 1])
  return timed(drawing, random)
}

/** The same flow with nodes and edges in another order, the root still first. */
export function shuffled(flow: GraphSketch, random: RandomSource): GraphSketch {
  const rest = random.shuffle(flow.labels.map((_, node) => node).slice(1))
  const order = [0, ...rest]
  const placeOf = new Map(order.map((node, place) => [node, place]))
  const edges = random.shuffle(flow.edges.map((_, edge) => edge))
  return {
    ...flow,
    labels: order.map((node) => flow.labels[node] as string),
    edges: edges.map((edge) => {
      const [from, to] = flow.edges[edge] as readonly [number, number]
      return [placeOf.get(from) as number, placeOf.get(to) as number] as const
    }),
    latencyUs: edges.map((edge) => flow.latencyUs?.[edge] as number),
  }
}

/** The same flow, an edge left out or added, forward in time. */
export function tampered(flow: GraphSketch, random: RandomSource): GraphSketch {
  const { labels, edges } = flow
  const [a, b] = [random.integer(labels.length), random.integer(labels.length)]
  const isNew = a < b && !edges.some(([from, to]) => from === a && to === b)
  const into = new Map<number, number>()
  for (const [, to] of edges) into.set(to, (into.get(to) ?? 0) + 1)
  const spare = edges.findIndex(([, to]) => (into.get(to) as number) > 1)
  if (isNew) return timed({ labels: [...labels], edges: [...edges, [a, b]] }, random)
  return timed({ labels: [...labels], edges: edges.filter((_, edge) => edge !== spare) }, random)
}

/** Nodes come such that edges lead to higher numbers. */
function timed({ labels, edges }: Drawing, random: RandomSource): GraphSketch {
  const timesUs = new Float64Array(labels.length)
  const sorted = [...edges].sort(([, a], [, b]) => a - b)
  for (const [from, to] of sorted) {
    const arrivalUs = (timesUs[from] as number) + random.logNormal(3, 1)
    timesUs[to] = Math.max(timesUs[to] as number, arrivalUs)
  }
  const latencyUs = edges.map(([from, to]) => (timesUs[to] as number) - (timesUs[from] as number))
  return { labels, edges, latencyUs, responseTimeUs: timesUs[labels.length - 1] as number }
}

function randomPart(random: RandomSource, depth: number): Part {
  const parts = Array.from({ length: 1 + random.integer(3) }, () => {
    const kind = depth === 0 ? 0 : random.integer(5)
    if (kind === 1) return loop(randomPart(random, depth - 1), times(random))
    if (kind === 2) return branches(randomPart(random, depth - 1), times(random))
    if (kind === 3) return pipeline(random)
    if (kind === 4) {
      const [a, b] = [randomPart(random, depth - 1), randomPart(random, depth - 1)]
      return fork([a, b])
    }
    return point(random)
  })
  return (drawing, tip) => parts.reduce((at, part) => part(drawing, at), tip)
}

const times = (random: RandomSource) => 2 + random.integer(3)

function point(random: RandomSource): Part {
  const label = `m${1 + random.integer(3)}__t__${'ABCDEF'[random.integer(6)]}`
  return (drawing, tip) => {
    const node = drawing.labels.push(label) - 1
    drawing.edges.push([tip, node])
    return node
  }
}

function loop(part: Part, count: number): Part {
  return (drawing, tip) => {
    let at = tip
    for (let round = 0; round < count; round++) at = part(drawing, at)
    return at
  }
}

function branches(part: Part, count: number): Part {
  return fork(Array.from({ length: count }, () => part))
}

function fork(parts: readonly Part[]): Part {
  return (drawing, tip) => {
    const ends = parts.map((part) => part(drawing, tip))
    const join = drawing.labels.push('m1__t__JOIN') - 1
    for (const end of new Set(ends)) drawing.edges.push([end, join])
    return join
  }
}

/** Lanes of a few steps; some steps hand over to the next lane, or to the one behind it. */
function pipeline(random: RandomSource): Part {
  const steps = 2 + random.integer(4)
  const count = 2 + random.integer(5)
  const names = Array.from({ length: steps }, (_, i) => `m${1 + random.integer(3)}__t__STEP${i}`)
  const shifts = Array.from({ length: 1 + random.integer(3) }, () => ({
    from: random.integer(steps),
    to: random.integer(steps),
    offset: 1 + random.integer(2),
  }))
  const enter = random.integer(2)
  return (drawing, tip) => {
    const start = drawing.labels.length
    const at = (lane: number, step: number) => start + lane * steps + step
    const add = (from: number, to: number) => {
      if (drawing.edges.some(([a, b]) => a === from && b === to)) return
      drawing.edges.push([from, to])
    }
    for (let lane = 0; lane < count; lane++) drawing.labels.push(...names)
    for (let lane = 0; lane < count; lane++) {
      if (lane === 0 || enter === 1) add(tip, at(lane, 0))
      for (let step = 1; step < steps; step++) add(at(lane, step - 1), at(lane, step))
      if (lane > 0) add(at(lane - 1, 0), at(lane, 0))
      for (const { from, to, offset } of shifts) {
        if (lane >= offset) add(at(lane - offset, from), at(lane, to))
      }
    }
    return at(count - 1, steps - 1)
  }
}
