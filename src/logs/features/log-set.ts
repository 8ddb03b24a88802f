import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'
import type { EventFeature, Feature, StateFeature } from './feature-types.ts'
import { LOG_CLASSES, type LogClass } from './log-class.ts'
import type { LogReport } from './log-report.ts'
import type { VariableFeatures } from './variable-features.ts'

export interface LogSetData {
  readonly instances: readonly string[]
  readonly classOf: Uint8Array
  readonly runTimeUs: Float64Array
  readonly events: VariableFeatures<EventFeature>
  readonly states: VariableFeatures<StateFeature>
  readonly report: LogReport
}

/**
 * Two sets of logs as features: a few numbers for every variable in every instance (a node, a
 * request, a run). Messages are not kept. `LogBuilder` and the readers make it.
 */
export class LogSet extends Stage implements LogSetData {
  /** Ids, in the order in which the instances were first named. */
  readonly instances: readonly string[]
  /** `BEFORE` or `AFTER`, an instance each. */
  readonly classOf: Uint8Array
  /** From its start to its last message, an instance each; NaN without messages. */
  readonly runTimeUs: Float64Array
  readonly events: VariableFeatures<EventFeature>
  readonly states: VariableFeatures<StateFeature>
  /** What was left out or simplified. */
  readonly report: LogReport

  constructor(data: LogSetData) {
    super()
    this.instances = data.instances
    this.classOf = data.classOf
    this.runTimeUs = data.runTimeUs
    this.events = data.events
    this.states = data.states
    this.report = data.report
  }

  /** The class of an instance. */
  classNameOf(instance: number): LogClass {
    return LOG_CLASSES[this.classOf[instance] as 0 | 1]
  }

  /** How many instances of each class there are. */
  get counts(): Readonly<Record<LogClass, number>> {
    const after = this.classOf.reduce((sum, code) => sum + code, 0)
    return { before: this.instances.length - after, after }
  }

  /** One row an instance: its class, its run time, and how many events and states it has. */
  table(): StageTable {
    const numbers = Array.from(this.instances.keys())
    const eventsIn = new Float64Array(numbers.length)
    const messages = new Float64Array(numbers.length)
    eachEntry(this.events, 'count', (instance, count) => {
      eventsIn[instance] = Number(eventsIn[instance]) + Number(count > 0)
      messages[instance] = Number(messages[instance]) + count
    })
    const statesIn = new Float64Array(numbers.length)
    eachEntry(this.states, 'final', (instance, value) => {
      statesIn[instance] = Number(statesIn[instance]) + Number(!Number.isNaN(value))
    })
    return stageTable({
      instance: this.instances,
      class: numbers.map((instance) => this.classNameOf(instance)),
      runTimeUs: this.runTimeUs,
      events: eventsIn,
      eventMessages: messages,
      states: statesIn,
    })
  }

  /** One row an instance and event variable, with all its features. */
  eventTable(): StageTable {
    return this.#featureTable(this.events)
  }

  /** One row an instance and state variable, with all its features. */
  stateTable(): StageTable {
    return this.#featureTable(this.states)
  }

  #featureTable<F extends Feature>(features: VariableFeatures<F>): StageTable {
    const { names } = features
    const n = this.instances.length
    const rows = Array.from({ length: names.length * n }, (_, row) => row)
    const classes = Array.from(this.instances, (_, instance) => this.classNameOf(instance))
    return stageTable({
      variable: rows.map((row) => names[Math.floor(row / n)]),
      instance: rows.map((row) => this.instances[row % n]),
      class: rows.map((row) => classes[row % n]),
      ...Object.fromEntries(features.types.map((type) => [type, features.values(type)])),
    })
  }
}

function eachEntry<F extends Feature>(
  features: VariableFeatures<F>,
  type: F,
  take: (instance: number, value: number) => void,
): void {
  for (const variable of features.names.keys()) {
    const { instances, values } = features.entries(variable)
    for (const [entry, value] of values(type).entries()) take(Number(instances[entry]), value)
  }
}
