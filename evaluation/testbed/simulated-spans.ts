import { AttributesBuilder } from '../../src/traces/attributes.ts'
import { Dictionary } from '../../src/traces/dictionary.ts'
import {
  growingFloat64,
  growingInt32,
  growingUint8,
  growingUint32,
} from '../../src/traces/growing-columns.ts'
import { QualityLog } from '../../src/traces/quality.ts'
import { NO_PARENT, SPAN_KINDS, type SpanKind } from '../../src/traces/span-columns.ts'
import { SpanTraces } from '../../src/traces/span-traces.ts'

/** When simulated requests begin: a whole second, that nobody takes for a time that was recorded. */
const EPOCH_NS = 946_684_800_000_000_000n

/** Spans as they are simulated, in columns from the start. */
export class SimulatedSpans {
  readonly services = new Dictionary()
  readonly operations = new Dictionary()
  readonly #ids: string[] = []
  readonly #offsets = growingUint32()
  readonly #parent = growingInt32()
  readonly #startUs = growingFloat64()
  readonly #durationUs = growingFloat64()
  readonly #service = growingUint32()
  readonly #operation = growingUint32()
  readonly #kind = growingUint8()

  beginTrace(id: string): void {
    this.#ids.push(id)
    this.#offsets.push(this.#parent.length)
  }

  /** The row of a new span; one without a parent (−1) is the trace's root. */
  open(
    { service, operation }: { readonly service: number; readonly operation: number },
    kind: SpanKind,
    { parent, startUs }: { readonly parent: number; readonly startUs: number },
  ): number {
    const row = this.#parent.length
    this.#parent.push(parent < 0 ? NO_PARENT : parent)
    this.#startUs.push(startUs)
    this.#durationUs.push(0)
    this.#service.push(service)
    this.#operation.push(operation)
    this.#kind.push(SPAN_KINDS.indexOf(kind))
    return row
  }

  close(row: number, endUs: number): void {
    this.#durationUs.values[row] = endUs - (this.#startUs.values[row] as number)
  }

  finish(name: string): SpanTraces {
    const rows = this.#parent.length
    const nameless = () => new Dictionary([''])
    this.#offsets.push(rows)
    return new SpanTraces(
      name,
      {
        epochNs: EPOCH_NS,
        ids: this.#ids,
        spanOffsets: this.#offsets.take(),
        services: this.services,
        operations: this.operations,
        hosts: nameless(),
        versionNames: nameless(),
        spans: {
          parent: this.#parent.take(),
          startUs: this.#startUs.take(),
          durationUs: this.#durationUs.take(),
          service: this.#service.take(),
          operation: this.#operation.take(),
          host: new Uint32Array(rows),
          version: new Uint32Array(rows),
          kind: this.#kind.take(),
          status: new Uint8Array(rows),
          followsFrom: new Uint8Array(rows),
        },
        attributes: new AttributesBuilder().finish(rows, new Int32Array(0)),
        weight: undefined,
      },
      new QualityLog().finish(this.#ids.length),
    )
  }
}
