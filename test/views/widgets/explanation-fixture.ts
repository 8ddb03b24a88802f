import { explainMutation } from '../../../src/explain/parameters/explain.ts'
import type { ExplainOptions, Explanation } from '../../../src/explain/parameters/explanation.ts'
import { randomSource } from '../../../src/stats/random.ts'
import { compareRequests, type RequestSketch, requests } from '../../explain/parameters/fixture.ts'
import { recordedCase } from '../../recorded.ts'

export async function recorded(name: string): Promise<Explanation> {
  const comparison = await recordedCase(name)
  return explainMutation(comparison, comparison.ranking.mutations[0] as never)
}

export const rmw = await recorded('rmw')

/** Sizes fall, and users with them; large ones are slow on one of four hosts. */
export function mixed(options: ExplainOptions = {}): Explanation {
  const side = (seed: number, share: number) => {
    const random = randomSource(seed)
    return requests(300, (): RequestSketch => {
      const isLarge = random.next() < share
      const host = `node${random.integer(4)}`
      const size = isLarge ? 65_536 : 4096
      const user = random.next() < 0.15 ? `u${random.integer(2)}` : isLarge ? 'u0' : 'u1'
      return {
        web: { size, kB: size / 1024, user, load: random.next() },
        host,
        storeUs: 100 + 10 * random.next() + (isLarge && host === 'node1' ? 400 : 0),
      }
    })
  }
  return explainMutation(compareRequests(side(1, 0.1), side(2, 0.8)), 0, {
    sample: 'all',
    ...options,
  })
}
