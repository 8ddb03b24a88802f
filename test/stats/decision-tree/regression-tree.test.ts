import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { growClassificationTree, growRegressionTree, treePaths } from '../../../src/stats/index.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { describeWithShared, sharedFile } from '../../shared.ts'
import { categorical, numeric } from './tree-columns.ts'

const HOSTS = Array.from({ length: 50 }, (_, i) => `datanode${String(i + 1).padStart(3, '0')}`)
const SLOW = HOSTS.slice(0, 25)
const ROWS = 3000

/** 50 hosts, the first 25 slower by 20 ms in latencies that spread over about as much. */
function slowHosts(delayUs: number) {
  const random = randomSource(7)
  const hosts = Array.from({ length: ROWS }, () => HOSTS[random.integer(50)] as string)
  const sizes = hosts.map(() => 2 ** random.integer(8))
  const latencyUs = Float64Array.from(
    hosts,
    (host) => random.logNormal(9.5, 0.6) + (SLOW.includes(host) ? delayUs : 0),
  )
  return { columns: [numeric('size', sizes), categorical('host', hosts)], latencyUs }
}

test('25 slow hosts of 50 are one split', () => {
  const { columns, latencyUs } = slowHosts(20_000)
  const tree = growRegressionTree(columns, latencyUs)
  const { root } = tree
  const paths = treePaths(tree)
  expect(paths.map((conditions) => conditions.map(({ column }) => column))).toEqual([
    ['host'],
    ['host'],
  ])
  expect(paths[0]?.[0]).toMatchObject({ kind: 'levels', levels: SLOW })
  const [slow, others] = root.kind === 'split' ? root.children : []
  expect(Number(slow?.mean) - Number(others?.mean)).toBeGreaterThan(18_000)
  expect(Number(slow?.mean) - Number(others?.mean)).toBeLessThan(22_000)
})

test('so they are for slow and usual requests, though most requests of slow hosts are not slow', () => {
  const { columns, latencyUs } = slowHosts(20_000)
  const slow = Uint8Array.from(latencyUs, (latency) => (latency > 40_000 ? 1 : 0))
  const tree = growClassificationTree(columns, slow, { criterion: 'gini' })
  expect(treePaths(tree)[0]).toMatchObject([{ column: 'host', kind: 'levels', levels: SLOW }])
  const [first] = tree.root.kind === 'split' ? tree.root.children : []
  const share = ([usual, slow]: readonly [number, number]) => slow / (usual + slow)
  expect(share(first?.weights ?? [0, 0])).toBeLessThan(0.5)
  expect(share(first?.weights ?? [0, 0]) / share(tree.root.weights)).toBeGreaterThan(1.3)
})

test('a column behind another is preferred to it: the rack to its hosts', () => {
  const { columns, latencyUs } = slowHosts(20_000)
  const host = columns[1]
  if (host?.kind !== 'categorical') throw new Error('expected hosts')
  const racks = Array.from(host.codes, (code) => (code < 25 ? 'left' : 'right'))
  const { root } = growRegressionTree([host, categorical('rack', racks)], latencyUs)
  expect(root).toMatchObject({ kind: 'split', column: 'rack', test: { codes: [[0], [1]] } })
})

describe('chance', () => {
  const random = randomSource(11)
  const runs = Array.from({ length: 200 }, () => {
    const hosts = Array.from({ length: 400 }, () => HOSTS[random.integer(50)] as string)
    return {
      columns: [
        categorical('host', hosts),
        numeric('offset', hosts.map(random.next)),
        numeric(
          'size',
          hosts.map(() => random.integer(4)),
        ),
      ],
      // As latencies are: a few hundred times as long as most.
      target: Float64Array.from(hosts, () => random.logNormal(3, 2)),
      labels: Uint8Array.from(hosts, () => (random.next() < 0.1 ? 1 : 0)),
    }
  })
  const splits = (roots: { kind: string }[]) => roots.filter(({ kind }) => kind === 'split').length

  // Binomial: more than 18 of 200 at a rate of 0.05 happens once in a hundred times.
  test('splits on nothing no more often than alpha, also with extreme targets', () => {
    const trees = runs.map(({ columns, target }) =>
      growRegressionTree(columns, target, { alpha: 0.05 }),
    )
    expect(splits(trees.map(({ root }) => root))).toBeLessThan(19)
  })

  test('nor does gini', () => {
    const trees = runs.map(({ columns, labels }) =>
      growClassificationTree(columns, labels, { criterion: 'gini', alpha: 0.05 }),
    )
    expect(splits(trees.map(({ root }) => root))).toBeLessThan(19)
  })

  test('without the test it nearly always does', () => {
    const trees = runs
      .slice(0, 40)
      .map(({ columns, target }) => growRegressionTree(columns, target, { prune: false }))
    expect(splits(trees.map(({ root }) => root))).toBe(40)
  })
})

test('one extreme latency moves the split', () => {
  const sizes = Array.from({ length: 40 }, (_, i) => i)
  const target = Float64Array.from(sizes, (size) => (size < 20 ? 10 : 20))
  target[0] = 1e6
  const { root } = growRegressionTree([numeric('size', sizes)], target, { prune: false })
  expect(root).toMatchObject({ test: { value: 4 } })
})

test('where all is told, the variance falls from 2.25 to 0', () => {
  const target = Float64Array.of(1, 1, 1, 1, 1, 4, 4, 4, 4, 4)
  const { root } = growRegressionTree([numeric('x', [1, 2, 3, 4, 5, 9, 8, 7, 6, 10])], target)
  expect(root).toMatchObject({ weight: 10, mean: 2.5, sd: 1.5, gain: 2.25 })
  expect(root).toMatchObject({ test: { kind: 'threshold', value: 5 } })
})

test('a constant target, no rows and no columns give a leaf', () => {
  const x = numeric('x', [1, 2, 3, 4])
  expect(growRegressionTree([x], new Float64Array(4).fill(0.1), { minLeaf: 1 }).root.kind).toBe(
    'leaf',
  )
  expect(growRegressionTree([], new Float64Array(0)).root).toMatchObject({
    kind: 'leaf',
    weight: 0,
  })
  expect(growRegressionTree([], Float64Array.of(1)).root).toMatchObject({ mean: 1, sd: 0 })
})

test('a target that is no number is named with its row', () => {
  expect(() => growRegressionTree([], Float64Array.of(1, Number.NaN))).toThrow(
    'Option target[1] is NaN. Give a finite number.',
  )
})

describeWithShared('which hosts are slow in TraceBench', () => {
  function connects(run: string) {
    const file = sharedFile(`data/tracebench-hdfs/${run}/event.csv.gz`)
    if (file === undefined) throw new Error(`no events of ${run}`)
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n').slice(1)
    const events = lines.map((line) => line.split(','))
    const own = events.filter(([, , operation]) => operation === 'OP: connect next Datanode')
    const [start, end, host, task] = [3, 4, 6, 0]
    const cells = (at: number) => own.map((event) => event[at] as string)
    return {
      columns: [categorical('host', cells(host)), categorical('task', cells(task))],
      latencyUs: Float64Array.from(
        own,
        (event) => Number(BigInt(event[end] as string) - BigInt(event[start] as string)) / 1000,
      ),
    }
  }

  test('20 ms on 25 of 50 datanodes: datanode001 to 025, in one split, without error', () => {
    const { columns, latencyUs } = connects('w_netdelay_20ms_on_25_of_50_datanodes')
    const tree = growRegressionTree(columns, latencyUs)
    const [slow, others] = tree.root.kind === 'split' ? tree.root.children : []
    expect(Number(slow?.mean)).toBeGreaterThan(Number(others?.mean))
    const [first] = treePaths(tree)
    expect(first?.[0]).toMatchObject({ kind: 'levels', column: 'host', levels: SLOW })
  })

  test.each(['w_normal_b', 'w_netdelay_all_20ms'])('%s: no hosts', (run) => {
    const { columns, latencyUs } = connects(run)
    const { root } = growRegressionTree(columns, latencyUs)
    expect(root.kind === 'split' ? root.column : null).not.toBe('host')
  })
})
