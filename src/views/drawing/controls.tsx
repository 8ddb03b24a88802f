import type { ComponentChildren, JSX } from 'preact'
import { type MutableRef, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { STILL_WIDTH } from './figure.tsx'

export function Button(props: JSX.ButtonHTMLAttributes) {
  return <button type="button" {...props} />
}

interface ChoiceProps<V extends string> {
  readonly name: string
  readonly help?: string
  /** Class of buttons whose name only screen readers say; by default the name stands before them. */
  readonly class?: string
  readonly value: V | null
  readonly values: Readonly<Record<V, string>>
  readonly onChoose: (value: V) => void
}

export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { name, help, class: look, value, values, onChoose } = props
  return (
    <fieldset class={look ?? 'fd-choice'} aria-label={name} title={help}>
      {look === undefined && <span style="align-self:center;margin-right:2px">{name}</span>}
      {(Object.keys(values) as V[]).map((each) => (
        <Button key={each} aria-pressed={each === value} onClick={() => onChoose(each)}>
          {values[each]}
        </Button>
      ))}
    </fieldset>
  )
}

interface CheckboxProps {
  readonly label: string
  readonly help?: string
  readonly isChecked: boolean
  readonly isDisabled?: boolean
  readonly onChange: (isChecked: boolean) => void
}

export function Checkbox({ label, help, isChecked, isDisabled, onChange }: CheckboxProps) {
  return (
    <label title={help}>
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onInput={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  )
}

interface SearchProps {
  readonly value: string
  readonly placeholder: string
  readonly onSearch: (text: string) => void
  readonly onEnter?: () => void
}

/** Takes words to look for in a drawing; Enter may go to the next place that has them. */
export function Search({ value, placeholder, onSearch, onEnter }: SearchProps) {
  return (
    <label>
      search
      <input
        type="search"
        value={value}
        placeholder={placeholder}
        style="width:15em"
        onInput={({ currentTarget }) => onSearch(currentTarget.value)}
        onKeyDown={(event) => actOnKey(event, { Enter: onEnter })}
      />
    </label>
  )
}

interface SelectProps<V> {
  readonly label: string
  readonly class?: string
  readonly value: V
  readonly values: readonly V[]
  readonly textOf?: (value: V) => string
  readonly onChoose: (value: V) => void
}

/** Select list for many values; `Choice` shows a few next to each other. */
export function Select<V extends string | number>(props: SelectProps<V>) {
  const { label, class: look, value, values, textOf = String, onChoose } = props
  return (
    <label class={look}>
      {label}
      <select
        value={String(value)}
        onInput={({ currentTarget }) => onChoose(values[currentTarget.selectedIndex] as V)}
      >
        {values.map((each) => (
          <option key={each} value={String(each)}>
            {textOf(each)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Draws a line that opens into more, which is drawn only then. */
export function Fold({ title, children }: { title: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="fd-fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen ? children : null}
    </details>
  )
}

interface FoldMarkProps {
  /** `null` for a row that has nothing to fold. */
  readonly isOpen: boolean | null
  readonly label: string
  readonly onFold: () => void
}

/** Opens and closes a row of a tree; as wide as nothing where there is nothing to open. */
export function FoldMark({ isOpen, label, onFold }: FoldMarkProps) {
  if (isOpen === null) return <span class="fd-fold-mark" />
  const fold = (event: MouseEvent) => {
    event.stopPropagation()
    onFold()
  }
  return (
    <Button class="fd-fold-mark" tabIndex={-1} aria-label={label} onClick={fold}>
      {isOpen ? '▾' : '▸'}
    </Button>
  )
}

/** Returns the keys of a row of a tree: right opens it, left closes it or goes to its parent. */
export function foldKeys(isOpen: boolean | null, onFold: () => void, toParent: () => void): Acts {
  return {
    ...(isOpen === false && { ArrowRight: onFold }),
    ArrowLeft: isOpen === true ? onFold : toParent,
  }
}

export function StateCode({ code }: { readonly code: string }) {
  const [copied, setCopied] = useState('')
  const copy = async () => {
    await navigator.clipboard.writeText(code)
    setCopied(code)
  }
  return (
    <div class="fd-code">
      <code>{code}</code>
      <Button onClick={copy}>{copied === code ? 'Copied' : 'Copy'}</Button>
    </div>
  )
}

/** Measures the width of an element, again whenever it changes: drawings keep their letters' size. */
export function useWidth<T extends HTMLElement>(
  atFirst: number = STILL_WIDTH,
): readonly [place: MutableRef<T | null>, width: number] {
  const place = useRef<T | null>(null)
  const [width, setWidth] = useState(atFirst)
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    const measure = () => {
      if (element.clientWidth > 0) setWidth(element.clientWidth)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [place, width]
}

/** Returns whether text of an element is being selected: the click that ends a drag is no click. */
export function isSelectingText(element: Element): boolean {
  const root: SelectionRoot = element.getRootNode()
  const selection = root.getSelection?.() ?? getSelection()
  return selection?.type === 'Range' && selection.containsNode(element, true)
}

/** Chromium keeps the selection within a shadow root apart from that of the page. */
type SelectionRoot = Node & { getSelection?(): Selection | null }

type Acts = Readonly<Record<string, (() => unknown) | undefined>>

export function actOnKey(event: KeyboardEvent, acts: Acts) {
  if (event.altKey || event.ctrlKey || event.metaKey) return
  const act = acts[event.key]
  if (act === undefined || event.target !== event.currentTarget) return
  event.preventDefault()
  act()
}

/**
 * Makes marks of a drawing or rows of a table one stop of the Tab key, at the one that was `reached`:
 * arrows, Home and End go on in the order of `keys`, other keys do what `acts` say.
 */
export function useStops<K extends string | number>(
  keys: readonly K[],
  reached: K | null | undefined,
  onReach: (key: K) => void,
) {
  const { current: elements } = useRef(new Map<K, HTMLElement | SVGElement | null>())
  const stop = keys.find((key) => key === reached) ?? keys[0]
  const goTo = (key: K | undefined) => key !== undefined && elements.get(key)?.focus()
  const stopAt = (key: K, acts: Acts = {}) => {
    const goOn = (by: number) => () => goTo(keys[keys.indexOf(key) + by])
    const ways = {
      ArrowDown: goOn(1),
      ArrowRight: goOn(1),
      ArrowUp: goOn(-1),
      ArrowLeft: goOn(-1),
      Home: () => goTo(keys[0]),
      End: () => goTo(keys.at(-1)),
    }
    return {
      ref: (element: HTMLElement | SVGElement | null) => void elements.set(key, element),
      tabindex: key === stop ? 0 : -1,
      onFocus: () => onReach(key),
      onKeyDown: (event: KeyboardEvent) => actOnKey(event, { ...ways, ...acts }),
    }
  }
  return { goTo, stopAt }
}

interface TreeMark {
  readonly words: string
  readonly level?: number
  readonly isSelected?: boolean
  readonly acts: Acts
}

/** Makes marks of a drawing a tree that the keyboard walks through, and reports the mark that is pointed at or reached. */
export function useTreeMarks<K extends string | number>(
  keys: readonly K[],
  reached: K | null | undefined,
  onReach: (key: K) => void,
) {
  const { goTo, stopAt } = useStops(keys, reached, onReach)
  const markAt = (key: K, { words, level = 1, isSelected, acts }: TreeMark) => {
    const stop = stopAt(key, acts)
    return {
      ...stop,
      role: 'treeitem' as const,
      'aria-level': level,
      'aria-selected': isSelected ?? stop.tabindex === 0,
      'aria-label': words,
      onMouseEnter: () => onReach(key),
    }
  }
  return { goTo, markAt }
}

interface MarkChoice<K> {
  readonly isChosen: (mark: K) => boolean
  readonly onToggle: (mark: K) => void
  readonly onLetGo: () => void
}

/** Lets marks be chosen by click and keyboard: Enter and space choose, Escape lets go. */
export function useMarkKeys<K extends string | number>(
  marks: readonly K[],
  { isChosen, onToggle, onLetGo }: MarkChoice<K>,
) {
  const [reached, setReached] = useState<K>()
  const { stopAt } = useStops(marks, reached ?? marks.find(isChosen), setReached)
  return (mark: K, label: string) => {
    const toggle = () => onToggle(mark)
    return {
      role: 'button',
      'aria-pressed': isChosen(mark),
      'aria-label': label,
      onClick: toggle,
      ...stopAt(mark, { Enter: toggle, ' ': toggle, Escape: onLetGo }),
    } as JSX.SVGAttributes<SVGGElement>
  }
}

const MIN_RANGE = 0.005

/** Marks a range by dragging; `onRange` gets shares of the width once it is let go. */
export function useDragRange(onRange: (range: readonly [from: number, to: number]) => void) {
  const [start, setStart] = useState<number | null>(null)
  const [now, setNow] = useState(0)
  const rangeTo = (end: number, begin: number) =>
    [Math.min(begin, end), Math.max(begin, end)] as const
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
      setStart(shareAt(event))
      setNow(shareAt(event))
      // Text would be selected on the way.
      event.preventDefault()
    },
    onPointerMove: (event: PointerEvent) => {
      if (start !== null) setNow(shareAt(event))
    },
    onPointerUp: (event: PointerEvent) => {
      if (start === null) return
      const end = shareAt(event)
      setStart(null)
      if (Math.abs(end - start) >= MIN_RANGE) onRange(rangeTo(end, start))
    },
    onPointerCancel: () => setStart(null),
  }
  return [start === null ? null : rangeTo(now, start), handlers] as const
}

function shareAt({ clientX, currentTarget }: PointerEvent): number {
  const { left, width } = (currentTarget as Element).getBoundingClientRect()
  return Math.min(1, Math.max(0, width > 0 ? (clientX - left) / width : 0))
}
