import { Displayable, type MimeBundle } from './display.ts'
import type { StageTable } from './stage-table.ts'

/** A step of an analysis, immutable, with a table to look at; shown, it shows its table. */
export abstract class Stage extends Displayable {
  /** The stage as an Arquero table. */
  abstract table(): StageTable

  displayText(): string {
    return this.table().displayText()
  }

  mimeBundle(): MimeBundle {
    return this.table().mimeBundle()
  }
}

/**
 * Makes the base class of stages whose columns are their fields: names, types and meanings stand
 * once, in `Columns`.
 */
export function columnarStage<Columns extends object>() {
  abstract class ColumnarStage extends Stage {
    constructor(columns: Columns) {
      super()
      Object.assign(this, columns)
    }
  }
  return ColumnarStage as abstract new (
    columns: Columns,
  ) => Stage & Readonly<Columns>
}
