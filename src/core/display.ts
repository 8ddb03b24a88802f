/** One value, rendered once for each kind of reader. Notebooks pick the richest they know. */
export interface MimeBundle {
  'text/plain': string
  'text/html'?: string
  'image/svg+xml'?: string
  'application/vnd.vegalite.v5+json'?: object
}

/** Something that can render itself as a {@link MimeBundle}. */
export interface HasMimeBundle {
  mimeBundle(): MimeBundle
  /** Returns the bundle's `text/plain`, if that is cheaper than the whole bundle. */
  displayText?(): string
}

export interface DisplaySink {
  /** Shows the bundle as an output of the running cell. */
  send(bundle: MimeBundle): void
  /** The bundle as this notebook wants it: with the page runtime, or without any script. */
  complete(bundle: MimeBundle): MimeBundle
  /** If exactly `text` is printed next, the sink shows the bundle in its place. */
  replaceNextPrint(text: string, bundle: () => MimeBundle): void
}

/** Node's hook for `console.log` and `util.inspect`, which tslab applies to a cell's last value. */
export const inspectHook: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** The Deno kernel's hook for a cell's last value. */
export const jupyterHook: unique symbol = Symbol.for('Jupyter.display')

let sink: DisplaySink | undefined

export function setDisplaySink(next: DisplaySink | undefined): void {
  sink = next
}

export function displaySink(): DisplaySink | undefined {
  return sink
}

/** Returns the result of a value's {@link inspectHook}: its text, which a notebook swaps for the bundle. */
export function inspectDisplayable(value: HasMimeBundle): string {
  const text = value.displayText?.() ?? value.mimeBundle()['text/plain']
  sink?.replaceNextPrint(text, () => value.mimeBundle())
  return text
}

export function completeBundle(value: HasMimeBundle): MimeBundle {
  const bundle = value.mimeBundle()
  return sink === undefined ? bundle : sink.complete(bundle)
}

/** A value that shows itself: last in a notebook cell, through `show(value)`, as text elsewhere. */
export abstract class Displayable implements HasMimeBundle {
  abstract mimeBundle(): MimeBundle

  [inspectHook](): string {
    return inspectDisplayable(this)
  }

  [jupyterHook](): MimeBundle {
    return completeBundle(this)
  }
}

export function hasMimeBundle(value: unknown): value is HasMimeBundle {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<HasMimeBundle>).mimeBundle === 'function'
  )
}
