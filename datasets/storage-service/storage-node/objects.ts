import { join } from 'node:path'
import type { StorageNodeConfiguration } from '../cases/configuration.ts'
import { inStep, pastStep } from '../telemetry/span.ts'
import type { Disk } from './disk.ts'
import type { DiskDone, DiskJob } from './disk-job.ts'
import { isWhole, RecentBlocks, type Stretch } from './recent-blocks.ts'

/** The objects of a storage node: files in a folder, and recently used blocks in memory. */
export class Objects {
  readonly #directory: string
  readonly #disk: Disk
  readonly #configuration: StorageNodeConfiguration
  readonly #recent: RecentBlocks

  constructor(directory: string, disk: Disk, configuration: StorageNodeConfiguration) {
    this.#directory = directory
    this.#disk = disk
    this.#configuration = configuration
    this.#recent = new RecentBlocks(configuration.cacheBlocks)
  }

  /** Up to `count` bytes; fewer where the object ends. */
  async read(stretch: Stretch): Promise<Buffer> {
    const cached = isWhole(stretch) ? this.#lookUp(stretch) : undefined
    if (cached !== undefined) return cached
    const writes = this.#recent.writesTo(stretch.object)
    const job = { kind: 'read', path: this.#fileOf(stretch.object), ...stretch } as const
    const bytes = Buffer.from((await this.#onDisk('disk read', job, stretch.count)).bytes)
    if (isWhole(stretch)) this.#recent.keepRead(stretch, bytes, writes)
    return bytes
  }

  async write(object: string, offset: number, bytes: Buffer): Promise<void> {
    const path = this.#fileOf(object)
    const spinUs = this.#configuration.writeSpinUs
    await this.#onDisk('disk write', { kind: 'write', path, offset, bytes, spinUs }, bytes.length)
    this.#recent.keepWritten({ object, offset, count: bytes.length }, bytes)
  }

  async remove(object: string): Promise<void> {
    await this.#onDisk('disk remove', { kind: 'remove', path: this.#fileOf(object) }, 0)
    this.#recent.drop(object)
  }

  #lookUp(stretch: Stretch): Buffer | undefined {
    return inStep('cache lookup', (span) => {
      const found = this.#recent.find(stretch)
      span.setAttribute('cache.hit', found !== undefined)
      return found
    })
  }

  async #onDisk(step: string, job: DiskJob, count: number): Promise<DiskDone> {
    const done = await this.#disk.run(job)
    pastStep(step, { startNs: done.startNs, endNs: done.endNs, attributes: { count } })
    return done
  }

  #fileOf(object: string): string {
    return join(this.#directory, encodeURIComponent(object))
  }
}
