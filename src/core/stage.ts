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
