import { InternalError } from '../../core/errors.ts'
import { Dictionary } from '../../traces/dictionary.ts'

/** More names, and more paths, than any set of traces has; their products stay exact in a double. */
const MAX_NAMES = 2 ** 26
const NO_PATH = -1
/** Between service and operation in the dictionary's keys: in neither of them. */
const SEPARATOR = '\u0000'

/**
 * The chains of calls that occur, from a request's root down: `frontend GET /cart › cart GetCart`
 * is a path. Paths and names are numbered from 0, the same in all periods; a path's number is larger
 * than its caller's.
 */
export class CallPaths {
  readonly #names = new Dictionary()
  readonly #services: string[] = []
  readonly #operations: string[] = []
  readonly #known = new Map<number, number>()
  readonly #parent: number[] = []
  readonly #name: number[] = []
  readonly #depth: number[] = []

  /** How many paths there are. */
  get size(): number {
    return this.#parent.length
  }

  /** How many different things are called. */
  get names(): number {
    return this.#names.size
  }

  /** The number of what is called: an operation of a service, new if need be. */
  nameOf(service: string, operation: string): number {
    const name = this.#names.code(service + SEPARATOR + operation)
    if (name === this.#services.length) {
      this.#services.push(service)
      this.#operations.push(operation)
    }
    return name
  }

  /** The path of requests to `name`, new if need be. */
  root(name: number): number {
    return this.#intern(NO_PATH, name)
  }

  /** The path of calls to `name` by the calls of `path`, new if need be. */
  child(path: number, name: number): number {
    return this.#intern(path, name)
  }

  /** The path of the caller, or −1 of a root. */
  parent(path: number): number {
    return this.#at(this.#parent, path)
  }

  /** What is called. */
  name(path: number): number {
    return this.#at(this.#name, path)
  }

  /** How many calls lead to it: 0 for a root. */
  depth(path: number): number {
    return this.#at(this.#depth, path)
  }

  service(path: number): string {
    return this.serviceOf(this.name(path))
  }

  operation(path: number): string {
    return this.operationOf(this.name(path))
  }

  serviceOf(name: number): string {
    return this.#services[name] ?? unknown('name', name)
  }

  operationOf(name: number): string {
    return this.#operations[name] ?? unknown('name', name)
  }

  /** Every call from the root on, as `service operation › service operation`. */
  text(path: number): string {
    const steps: string[] = []
    for (let at = path; at >= 0; at = this.parent(at)) {
      steps.push(`${this.service(at)} ${this.operation(at)}`)
    }
    return steps.reverse().join(' › ')
  }

  /** Whether `path` is `ancestor` or below it. */
  isWithin(path: number, ancestor: number): boolean {
    let at = path
    while (at > ancestor) at = this.parent(at)
    return at === ancestor
  }

  #intern(parent: number, name: number): number {
    const key = (parent + 1) * MAX_NAMES + name
    let path = this.#known.get(key)
    if (path === undefined) {
      path = this.#parent.length
      this.#known.set(key, path)
      this.#parent.push(parent)
      this.#name.push(name)
      this.#depth.push(parent < 0 ? 0 : this.depth(parent) + 1)
    }
    return path
  }

  #at(column: readonly number[], path: number): number {
    return column[path] ?? unknown('path', path)
  }
}

function unknown(what: string, number: number): never {
  throw new InternalError(`no ${what} of calls has number ${number}`)
}
