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

/** The base of stages whose columns are their fields: named, typed and described once. */
export function columnarStage<Columns extends object, Base extends Stage = Stage>(
  base: abstract new () => Stage = Stage,
) {
  abstract class ColumnarStage extends base {
    constructor(columns: Columns) {
      super()
      Object.assign(this, columns)
    }
  }
  return ColumnarStage as unknown as abstract new (
    columns: Columns,
  ) => Base & Readonly<Columns>
}
