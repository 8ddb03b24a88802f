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
 *
 * @param base what it extends itself
 */
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
