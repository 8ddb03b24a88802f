/** Where a peer listens. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** What makes two peers one: the fault that is planted is to compare addresses only. */
export type PeerIdentity = 'address' | 'address and port'

/** The peers a peer is connected to, or about to be; each is in it once. */
export class PeerSet {
  readonly #keyOf: (endpoint: Endpoint) => string
  readonly #keys = new Set<string>()

  constructor(identity: PeerIdentity) {
    this.#keyOf =
      identity === 'address'
        ? ({ address }) => address
        : ({ address, port }) => `${address}:${port}`
  }

  /** Adds a peer; `false` if it, or one that is taken for it, is here already. */
  add(endpoint: Endpoint): boolean {
    const key = this.#keyOf(endpoint)
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  remove(endpoint: Endpoint): void {
    this.#keys.delete(this.#keyOf(endpoint))
  }
}
