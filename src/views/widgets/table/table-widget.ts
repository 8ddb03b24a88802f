import type { Table } from 'arquero'
import type { MimeBundle } from '../../../core/display.ts'
import { fingerprint } from '../../../core/fingerprint.ts'
import { tableHtml, tableText } from '../../../core/table-display.ts'
import { pageData } from '../../page/page-data.ts'
import { pagePromise, RUNTIME_MARKS } from '../../page/page-promise.ts'
import { Widget, type WidgetParts } from '../widget.ts'

/** A table to explore. Where scripts do not run it is a plain table, whose text can be selected. */
export class TableWidget extends Widget {
  readonly #table: Table

  constructor(table: Table, parts: WidgetParts) {
    super(parts)
    this.#table = table
  }

  override displayText(): string {
    return tableText(this.#table)
  }

  override mimeBundle(): MimeBundle {
    return {
      'text/plain': this.displayText(),
      'text/html': livingTableHtml(this.#table, { data: this.data, packed: pageData(this.data) }),
    }
  }
}

/**
 * A plain table, and a script that brings it to life once the runtime is there. `packed` is what
 * `pageData` makes of `data`.
 */
export function livingTableHtml(
  table: Table,
  { data, packed }: { readonly data: unknown; readonly packed: string },
): string {
  // Not of what is packed: compressors differ, and committed outputs must not.
  const id = fingerprint(`table${JSON.stringify(data)}`)
  const upgrade = `${pagePromise('widgets')}.then((page)=>page.showWidget("${id}","table",${packed}))`
  return `<div ${RUNTIME_MARKS.widgets}="${id}">${tableHtml(table)}</div><script type="module">${upgrade}</script>`
}
