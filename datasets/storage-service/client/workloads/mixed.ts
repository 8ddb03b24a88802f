import { BLOCK_BYTES } from '../../front-end/block-cache.ts'
import type { Random } from '../../random.ts'
import type { Step, Steps } from '../step.ts'
import type { Mix, MixedWorkload } from '../workload.ts'
import { at, pathOf } from './paths.ts'

const POPULATE_BYTES = 4 * BLOCK_BYTES

/** One number in [0, 1) for each choice a request may need. */
interface Draws {
  readonly kind: number
  readonly file: number
  readonly hot: number
  readonly block: number
  readonly size: number
  readonly part: number
  readonly stable: number
  readonly append: number
}

/**
 * The requests of one worker. Every request draws the same numbers whatever it turns out to be, so
 * that two workloads that differ in one setting send the same requests but for that setting.
 */
export function mixedSteps(workload: MixedWorkload, worker: number, random: Random): Steps {
  const files = ownFiles(workload, worker, random)
  const created: { name: string; sizeBytes: number }[] = []
  const uncommitted: string[] = []
  let creations = 0

  const existing = (draws: Draws, reading: boolean) => {
    const hotFiles = Math.ceil(files.length * workload.hot.files)
    const among = reading && draws.hot < workload.hot.reads ? hotFiles : files.length
    return at(files, Math.floor(draws.file * among))
  }

  const makers: Record<keyof Mix, (draws: Draws) => Step> = {
    read: (draws) => {
      const file = existing(draws, true)
      return { kind: 'read', name: file.name, ...place(workload.readBytes, draws, file.blocks) }
    },
    write: (draws) => {
      const stable = draws.stable < workload.stableShare
      const growing = draws.append < workload.appendShare ? created.at(-1) : undefined
      const file = existing(draws, false)
      const name = growing?.name ?? file.name
      const where = place(workload.writeBytes, draws, file.blocks)
      const offset = growing?.sizeBytes ?? where.offset
      if (growing !== undefined) growing.sizeBytes += where.count
      if (!stable) uncommitted.push(name)
      return { kind: 'write', name, offset, count: where.count, stable }
    },
    commit: (draws) => ({ kind: 'commit', name: uncommitted.pop() ?? existing(draws, false).name }),
    create: (draws) => {
      const directory = Math.floor(draws.file * workload.directories)
      const name = pathOf(directory, `n${worker}-${String(creations++).padStart(6, '0')}`)
      created.push({ name, sizeBytes: 0 })
      return { kind: 'create', name }
    },
    remove: (draws) => {
      const oldest = created.shift()
      if (oldest === undefined) return makers.create(draws)
      forget(uncommitted, oldest.name)
      return { kind: 'remove', name: oldest.name }
    },
    lookup: (draws) => ({ kind: 'lookup', name: existing(draws, false).name }),
    getattr: (draws) => ({ kind: 'getattr', name: existing(draws, false).name }),
  }

  return {
    *populate() {
      for (const { name, blocks } of files) {
        yield { kind: 'create', name }
        const end = blocks * BLOCK_BYTES
        for (let offset = 0; offset < end; offset += POPULATE_BYTES) {
          const count = Math.min(POPULATE_BYTES, end - offset)
          yield { kind: 'write', name, offset, count, stable: true }
        }
      }
    },
    next() {
      const draws: Draws = {
        kind: random.next(),
        file: random.next(),
        hot: random.next(),
        block: random.next(),
        size: random.next(),
        part: random.next(),
        stable: random.next(),
        append: random.next(),
      }
      return makers[chosen(workload.mix, draws.kind)](draws)
    },
  }
}

function ownFiles(
  { files, workers, directories, fileBlocks }: MixedWorkload,
  worker: number,
  random: Random,
) {
  const { least, most } = fileBlocks
  const own = Math.floor(files / workers)
  return Array.from({ length: own }, (_, i) => ({
    name: pathOf(random.below(directories), `f${worker}-${String(i).padStart(4, '0')}`),
    blocks: least + random.below(most - least + 1),
  }))
}

/** A place of one of these sizes in a file: whole blocks, or a part of one. */
function place(sizes: readonly number[], { size, block, part }: Draws, fileBlocks: number) {
  const count = at(sizes, Math.floor(size * sizes.length))
  const whole = Math.ceil(count / BLOCK_BYTES)
  const first = Math.floor(block * Math.max(1, fileBlocks - whole + 1))
  const parts = Math.max(1, Math.floor(BLOCK_BYTES / count))
  const offset = first * BLOCK_BYTES + (parts > 1 ? Math.floor(part * parts) * count : 0)
  return { offset, count: Math.min(count, fileBlocks * BLOCK_BYTES - offset) }
}

function chosen(mix: Mix, draw: number): keyof Mix {
  const shares = Object.entries(mix) as [keyof Mix, number][]
  let left = draw * shares.reduce((sum, [, share]) => sum + share, 0)
  for (const [kind, share] of shares) {
    left -= share
    if (left < 0) return kind
  }
  return at(shares, shares.length - 1)[0]
}

function forget(names: string[], name: string): void {
  for (let i = names.length - 1; i >= 0; i--) if (names[i] === name) names.splice(i, 1)
}
