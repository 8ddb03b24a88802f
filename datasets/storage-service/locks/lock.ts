export type Release = () => void

/** A lock that one holder has at a time; those who wait get it in the order they came. */
export class Lock {
  #held = false
  readonly #queue: (() => void)[] = []

  /** Those waiting, the holder not counted. */
  get queueLength(): number {
    return this.#queue.length
  }

  get held(): boolean {
    return this.#held
  }

  /** Resolves when the lock is ours, to the function that gives it up (once). */
  async acquire(): Promise<Release> {
    if (this.#held) await new Promise<void>((granted) => this.#queue.push(granted))
    this.#held = true
    let released = false
    return () => {
      if (released) throw new Error('A lock was released twice: release it where it was acquired.')
      released = true
      const next = this.#queue.shift()
      if (next === undefined) this.#held = false
      else next()
    }
  }
}
