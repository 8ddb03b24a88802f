import { FlowdeltaError, show } from '../../core/errors.ts'
import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import { labelText, type NodeLabel } from '../../flows/node-labels.ts'
import { quantile } from '../../stats/quantile.ts'
import type { HostPairs, OperationSamples } from './compare-hosts.ts'
import { machineOf, onMachine } from './label-parts.ts'

/** What makes hosts different. */
export interface HostClassOptions {
  /** Two hosts differ when q is below this … */
  readonly alpha: number
  /** … and their times lie apart by at least this share of their mean. */
  readonly minimumEffect: number
}

/** Hosts that do the same in about the same time. */
export interface HostClass {
  /** Begins with what the hosts' names have in common: `datanode*`; numbered where there are several. */
  readonly name: string
  readonly hosts: readonly string[]
  /**
   * Typical time over that of all hosts that do the same, the medians of each operation compared and
   * the median of these ratios taken: 1.5 is half as long again. NaN where nothing was timed.
   */
  readonly slowness: number
}

/** What is known of one host. */
interface HostRow {
  readonly host: string
  readonly class: string
  /** Hosts it could be compared with, and how many of them it differs from. */
  readonly peers: number
  readonly different: number
}

/** Hosts in classes of like performance: what `findHostClasses` finds. */
export class HostClasses extends Stage {
  readonly options: HostClassOptions
  /** Of classes that share a name's beginning, the fastest first. */
  readonly classes: readonly HostClass[]
  readonly #pairs: HostPairs
  readonly #classOf: ReadonlyMap<string, HostClass>

  constructor(classes: readonly HostClass[], pairs: HostPairs, options: HostClassOptions) {
    super()
    this.options = options
    this.classes = classes
    this.#pairs = pairs
    this.#classOf = new Map(
      classes.flatMap((each) => each.hosts.map((host) => [host, each] as const)),
    )
  }

  /** How many classes there are. */
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

  /** The node with its class in place of its host; hosts that are not known stay as they are. */
  inClass(node: NodeLabel): NodeLabel {
    const machine = machineOf(node)
    return onMachine(node, this.#classOf.get(machine)?.name ?? machine)
  }

  /**
   * A rule for labels with classes in place of hosts, for `categorize` and `compare`. It can be
   * handed on as it is.
   */
  readonly label = (node: NodeLabel): string => labelText(this.inClass(node))

  /** One row a host, class by class: how many peers it could be compared with, and differs from. */
  table(): StageTable {
    const rows = this.#rows()
    return stageTable({
      host: rows.map(({ host }) => host),
      class: rows.map((row) => row.class),
      peers: rows.map(({ peers }) => peers),
      different: rows.map(({ different }) => different),
      compared: rows.map(({ peers }) => peers > 0),
    })
  }

  /** One row a class. */
  classTable(): StageTable {
    const { classes } = this
    return stageTable({
      class: classes.map(({ name }) => name),
      hosts: classes.map(({ hosts }) => hosts.length),
      slowness: classes.map(({ slowness }) => slowness),
      names: classes.map(({ hosts }) => hosts.join(' ')),
    })
  }

  /**
   * The comparison of every two hosts that could be compared, in both orders so that it fills a
   * square: hosts in the order of `table()`, each with the operation in which they differ most surely.
   */
  matrix(): StageTable {
    const order = this.#rows().map(({ host }) => this.#pairs.hosts.indexOf(host))
    const cells = order.flatMap((one) =>
      order.flatMap((other) => {
        if (one === other) return []
        const pair = this.#pairs.pair(one, other)
        return pair.tests === 0 ? [] : [{ ...pair, ...this.#names(one, other) }]
      }),
    )
    return stageTable({
      host: cells.map(({ host }) => host),
      other: cells.map(({ other }) => other),
      operation: cells.map(({ operation }) => operation),
      statistic: cells.map(({ statistic }) => statistic),
      q: cells.map(({ q }) => q),
      effect: cells.map(({ effect }) => effect),
      different: cells.map(({ different }) => different),
      sameClass: cells.map(({ sameClass }) => sameClass),
    })
  }

  override displayText(): string {
    return this.classTable().displayText()
  }

  #names(one: number, two: number) {
    const host = this.#pairs.hosts[one] as string
    const other = this.#pairs.hosts[two] as string
    return { host, other, sameClass: this.classOf(host) === this.classOf(other) }
  }

  #rows(): HostRow[] {
    const { hosts } = this.#pairs
    const numbers = new Map(hosts.map((host, i) => [host, i]))
    return this.classes.flatMap((each) =>
      each.hosts.map((host) => {
        const at = numbers.get(host) as number
        const pairs = hosts.flatMap((_, other) =>
          other === at ? [] : [this.#pairs.pair(at, other)],
        )
        return {
          ...{ host, class: each.name },
          peers: pairs.filter(({ tests }) => tests > 0).length,
          different: pairs.filter(({ different }) => different).length,
        }
      }),
    )
  }
}

/**
 * Names groups of hosts by what their names have in common, without digits and separators at its
 * end: `datanode*`. One host alone keeps its name. Groups whose names would be the same are numbered,
 * the fastest first.
 */
export function nameClasses(
  groups: readonly (readonly string[])[],
  samples: readonly OperationSamples[],
): HostClass[] {
  const drafts = groups
    .map((hosts) => ({ hosts, beginning: beginning(hosts), slowness: slowness(hosts, samples) }))
    .sort(
      (a, b) =>
        compareText(a.beginning, b.beginning) ||
        (a.slowness || 0) - (b.slowness || 0) ||
        compareText(a.hosts[0] ?? '', b.hosts[0] ?? ''),
    )
  const taken = new Map<string, number>()
  for (const draft of drafts) taken.set(draft.beginning, (taken.get(draft.beginning) ?? 0) + 1)
  const numbers = new Map<string, number>()
  return drafts.map(({ hosts, beginning, slowness }) => {
    const number = (numbers.get(beginning) ?? 0) + 1
    numbers.set(beginning, number)
    const name = (taken.get(beginning) ?? 0) > 1 ? `${beginning} ${number}` : beginning
    return { name, hosts, slowness }
  })
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

/** See {@link HostClass.slowness}. */
function slowness(hosts: readonly string[], samples: readonly OperationSamples[]): number {
  const ratios = samples.flatMap(({ byHost }) => {
    const own = medianOver(hosts, byHost)
    const all = medianOver([...byHost.keys()], byHost)
    return own > 0 && all > 0 ? [own / all] : []
  })
  return quantile(Float64Array.from(ratios).sort(), 0.5)
}

/** The median of the hosts' medians, so that busy hosts count no more than others. */
function medianOver(hosts: readonly string[], byHost: ReadonlyMap<string, Float64Array>): number {
  const medians = hosts.flatMap((host) => {
    const times = byHost.get(host)
    return times === undefined ? [] : [quantile(times, 0.5)]
  })
  return quantile(Float64Array.from(medians).sort(), 0.5)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
