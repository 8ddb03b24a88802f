import { Lock, type Release } from './lock.ts'

/** Locks by name, made when first asked for and dropped when nobody holds or awaits them. */
export class LockTable {
  readonly #locks = new Map<string, Lock>()

  get size(): number {
    return this.#locks.size
  }

  /** The lock of that name, to look at or to acquire now. */
  lockOf(name: string): Lock {
    let lock = this.#locks.get(name)
    if (lock === undefined) {
      lock = new Lock()
      this.#locks.set(name, lock)
    }
    return lock
  }

  /** Resolves when the named lock is ours, to the function that gives it up. */
  async acquire(name: string): Promise<Release> {
    const lock = this.lockOf(name)
    const release = await lock.acquire()
    return () => {
      release()
      if (!lock.held && lock.queueLength === 0) this.#locks.delete(name)
    }
  }
}
