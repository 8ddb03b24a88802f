import { ascending, group } from 'd3-array'
import { FlowdeltaError, show } from '../../core/errors.ts'
import { columnarStage, own, rowTable, type StageTable } from '../../core/stage.ts'
import { onMachine } from '../../flows/label-parts.ts'
import { labelText, machineOf, type NodeLabel } from '../../flows/node-labels.ts'
import { quantile } from '../../stats/quantile.ts'
import type { HostClassOptions, HostPairs, OperationSamples } from './compare-hosts.ts'

/** Hosts that do the same work in about the same time. */
export interface HostClass {
  /** Name of the class. Begins with the common part of its hosts' names: `datanode*`; numbered if there are several. */
  readonly name: string
  readonly hosts: readonly string[]
  /**
   * Typical time over that of all hosts that do the same, the medians of each operation compared and
   * the median of these ratios taken: 1.5 is half as long again. NaN where nothing was timed.
   */
  readonly slowness: number
}

interface HostClassColumns {
  readonly options: HostClassOptions
  /** Classes that share a name's beginning, the fastest first. */
  readonly classes: readonly HostClass[]
}

/** Hosts in classes of like performance: what `findHostClasses` finds. */
export class HostClasses extends columnarStage<HostClassColumns>() {
  readonly #pairs: HostPairs
  readonly #classOf: ReadonlyMap<string, HostClass>

  constructor(columns: HostClassColumns, pairs: HostPairs) {
    super(columns)
    this.#pairs = pairs
    this.#classOf = new Map(
      columns.classes.flatMap((each) => each.hosts.map((host) => [host, each])),
    )
  }

  get size(): number {
    return this.classes.length
  }

  /** @throws FlowdeltaError for a host that no request was on */
  classOf(host: string): HostClass {
    const found = this.#classOf.get(host)
    if (found !== undefined) return found
    const known = [...this.#classOf.keys()].slice(0, 5).join(', ')
    throw new FlowdeltaError(
      `There is no class of host ${show(host)}. Give one of the column host of .table(): ${known}, …`,
    )
  }

  /** Returns the node with its class in place of its host; hosts that are not known stay as they are. */
  inClass(node: NodeLabel): NodeLabel {
    const machine = machineOf(node)
    return onMachine(node, this.#classOf.get(machine)?.name ?? machine)
  }

  /** A rule for labels with classes in place of hosts, for `categorize` and `compare`. */
  readonly label = (node: NodeLabel): string => labelText(this.inClass(node))

  /** Returns one row per host, class by class: how many peers it could be compared with, and differs from. */
  table(): StageTable {
    const { hosts } = this.#pairs
    const rows = this.#hosts().map((at) => {
      const host = hosts[at] as string
      const pairs = hosts.flatMap((_, other) => (other === at ? [] : this.#pairs.pair(at, other)))
      const peers = pairs.filter(({ tests }) => tests > 0).length
      const different = pairs.filter((pair) => pair.different).length
      return { host, class: this.classOf(host).name, peers, different, compared: peers > 0 }
    })
    return rowTable(rows, own('host class peers different compared'))
  }

  classTable(): StageTable {
    return rowTable(this.classes, {
      class: 'name',
      hosts: ({ hosts }) => hosts.length,
      slowness: 'slowness',
      names: ({ hosts }) => hosts.join(' '),
    })
  }

  /**
   * Returns the comparison of every two hosts that could be compared, in both orders so that it fills a square: hosts
   * in the order of `table()`, each with the operation in which they differ most surely.
   */
  matrix(): StageTable {
    const order = this.#hosts()
    const nameOf = (number: number) => this.#pairs.hosts[number] as string
    const cells = order.flatMap((one) =>
      order.flatMap((two) => {
        if (one === two || this.#pairs.pair(one, two).tests === 0) return []
        const [host, other] = [nameOf(one), nameOf(two)]
        const sameClass = this.classOf(host) === this.classOf(other)
        return [{ ...this.#pairs.pair(one, two), host, other, sameClass }]
      }),
    )
    return rowTable(cells, own('host other operation statistic q effect different sameClass'))
  }

  override displayText(): string {
    return this.classTable().displayText()
  }

  #hosts(): number[] {
    const numbers = new Map(this.#pairs.hosts.map((host, i) => [host, i]))
    return this.classes.flatMap(({ hosts }) => hosts.map((host) => numbers.get(host) as number))
  }
}

/** Names groups by how hosts' names begin: `datanode*`; equal ones are numbered, fastest first. */
export function nameClasses(
  groups: readonly (readonly string[])[],
  samples: readonly OperationSamples[],
): HostClass[] {
  const drafts = groups
    .map((hosts) => ({ hosts, beginning: beginning(hosts), slowness: slowness(hosts, samples) }))
    .sort(
      (a, b) =>
        ascending(a.beginning, b.beginning) ||
        (a.slowness || 0) - (b.slowness || 0) ||
        ascending(a.hosts[0], b.hosts[0]),
    )
  return Array.from(group(drafts, (draft) => draft.beginning)).flatMap(([beginning, alike]) =>
    alike.map(({ hosts, slowness }, i) => {
      const name = alike.length > 1 ? `${beginning} ${i + 1}` : beginning
      return { name, hosts, slowness }
    }),
  )
}

function beginning(hosts: readonly string[]): string {
  const [first = '', ...others] = hosts
  if (others.length === 0) return first
  let length = first.length
  for (const host of others) {
    while (!host.startsWith(first.slice(0, length))) length--
  }
  return `${first.slice(0, length).replace(/[-_.:/0-9]+$/, '')}*`
}

function slowness(hosts: readonly string[], samples: readonly OperationSamples[]): number {
  const ratios = samples.flatMap(({ byHost }) => {
    const own = medianOver(hosts, byHost)
    const all = medianOver([...byHost.keys()], byHost)
    return own > 0 && all > 0 ? [own / all] : []
  })
  return quantile(Float64Array.from(ratios).sort(), 0.5)
}

function medianOver(hosts: readonly string[], byHost: ReadonlyMap<string, Float64Array>): number {
  const medians = hosts.flatMap((host) => {
    const times = byHost.get(host)
    return times === undefined ? [] : [quantile(times, 0.5)]
  })
  return quantile(Float64Array.from(medians).sort(), 0.5)
}
