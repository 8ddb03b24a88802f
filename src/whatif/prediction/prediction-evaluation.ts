import { Stage } from '../../core/stage.ts'
import { type StageTable, stageTable } from '../../core/stage-table.ts'

/** How far predictions of calls to one operation, or to all, are off: medians of |predicted / recorded − 1|. */
export interface PredictionErrors {
  /** Calls that were predicted: those that wait for children. */
  readonly calls: number
  /** Calls that were not, as none with the same children was among those learned from. */
  readonly unlike: number
  /** By the nearest execution model and its usual preprocessing times. */
  readonly model: number
  /** By linear regression on the latencies of children. */
  readonly regression: number
  /** By the sum of latencies along the call's critical path. */
  readonly criticalPath: number
}

export interface OperationErrors extends PredictionErrors {
  readonly service: string
  readonly operation: string
}

/** How well execution models predict latencies of callers, beside simpler ways. */
export class PredictionEvaluation extends Stage {
  /** Over all operations. */
  readonly all: PredictionErrors
  /** Of each operation, most calls first. */
  readonly operations: readonly OperationErrors[]

  constructor(all: PredictionErrors, operations: readonly OperationErrors[]) {
    super()
    this.all = all
    this.operations = operations
  }

  /** One row an operation, `all` first. */
  table(): StageTable {
    const rows = [{ service: 'all', operation: '', ...this.all }, ...this.operations]
    return stageTable({
      service: rows.map(({ service }) => service),
      operation: rows.map(({ operation }) => operation),
      calls: rows.map(({ calls }) => calls),
      unlike: rows.map(({ unlike }) => unlike),
      model: rows.map(({ model }) => model),
      regression: rows.map(({ regression }) => regression),
      criticalPath: rows.map(({ criticalPath }) => criticalPath),
    })
  }
}
