import { getOrInsert } from '../core/entries.ts'
import { InternalError } from '../core/errors.ts'
import { Dictionary } from '../traces/dictionary.ts'

/** Limit above the number of names, and of paths, in any set of traces; their products stay exact in a double. */
const MAX_NAMES = 2 ** 26
const NO_PATH = -1
/** Separates service and operation in the dictionary's keys: it occurs in neither. */
const SEPARATOR = '\u0000'

/** Chain of calls: the called operation, and the path of its callers. */
type CallPath = Readonly<Record<'parent' | 'name', number>>

export interface CallName {
  readonly service: string
  readonly operation: string
}

/**
 * The chains of calls that occur, from a request's root down: `frontend GET /cart › cart GetCart`
 * is a path. Paths and names are numbered from 0, the same in all periods; a path's number is larger
 * than its caller's.
 */
export class CallPaths {
  readonly #numbers = new Dictionary()
  readonly #names: CallName[] = []
  readonly #known = new Map<number, number>()
  readonly #paths: CallPath[] = []

  get size(): number {
    return this.#paths.length
  }

  /** Number of different things that are called. */
  get names(): number {
    return this.#names.length
  }

  all(): number[] {
    return [...this.#paths.keys()]
  }

  /** Returns the number of an operation of a service, or a new number if it has none. */
  nameOf(service: string, operation: string): number {
    const name = this.#numbers.code(service + SEPARATOR + operation)
    if (name === this.#names.length) this.#names.push({ service, operation })
    return name
  }

  /** Returns the path of calls to `name` by the calls of `parent`, or by nobody; new if need be. */
  child(parent: number | null, name: number): number {
    const caller = parent ?? NO_PATH
    const key = (caller + 1) * MAX_NAMES + name
    return getOrInsert(this.#known, key, () => this.#paths.push({ parent: caller, name }) - 1)
  }

  /** Returns the path of the caller, or −1 of a root. */
  parent(path: number): number {
    return this.#path(path).parent
  }

  name(path: number): number {
    return this.#path(path).name
  }

  service(path: number): string {
    return this.named(this.name(path)).service
  }

  operation(path: number): string {
    return this.named(this.name(path)).operation
  }

  named(name: number): CallName {
    return this.#names[name] ?? unknown('name', name)
  }

  /** Returns the called operation, as `service operation`. */
  callText(path: number): string {
    return `${this.service(path)} ${this.operation(path)}`
  }

  /** Returns every call from the root on, as `service operation › service operation`. */
  text(path: number): string {
    return [...this.above(path), path].map((each) => this.callText(each)).join(' › ')
  }

  /** Returns the paths that lead to a path, from the root down. */
  above(path: number): number[] {
    const above: number[] = []
    for (let at = this.parent(path); at >= 0; at = this.parent(at)) above.push(at)
    return above.reverse()
  }

  #path(path: number): CallPath {
    return this.#paths[path] ?? unknown('path', path)
  }
}

function unknown(what: string, number: number): never {
  throw new InternalError(`no ${what} of calls has number ${number}`)
}
