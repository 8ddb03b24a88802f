import type { Scheme } from './palette.ts'

/** Attributes that hold the theme of front-ends: JupyterLab, VS Code, and pages of documentation. */
export const THEME_ATTRIBUTES = [
  'class',
  'data-jp-theme-light',
  'data-theme',
  'data-vscode-theme-kind',
]
const IS_DARK = '(prefers-color-scheme: dark)'

/** Whether what stands behind an element is light or dark: a widget, a front-end's page, or none. */
export function schemeOf(element: Element): Scheme {
  const { colorScheme } = getComputedStyle(document.documentElement)
  return schemeBehind(element) ?? (colorScheme.includes('dark') ? schemeOfSystem() : 'light')
}

/** Returns the scheme of a widget, which has a background of its own: that of its page, else of the reader's system. */
export function schemeOfWidget(place: Element): Scheme {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset
  const isLight = jpThemeLight === 'true' || vscodeThemeKind?.endsWith('light')
  const named = jpThemeLight ?? vscodeThemeKind
  return schemeBehind(place) ?? (named ? (isLight ? 'light' : 'dark') : schemeOfSystem())
}

function schemeOfSystem(): Scheme {
  return matchMedia(IS_DARK).matches ? 'dark' : 'light'
}

function schemeBehind(element: Element): Scheme | undefined {
  for (let at: Element | null = element; at !== null; at = parentOf(at)) {
    const numbers = getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []
    const [red = 0, green = 0, blue = 0, opacity = 1] = numbers.map(Number)
    if (opacity > HALF) return red + green + blue < HALF * 3 * 255 ? 'dark' : 'light'
  }
  return undefined
}

const HALF = 0.5

/** Returns the parent of an element, also out of shadow roots. */
function parentOf(element: Element): Element | null {
  const root = element.getRootNode()
  return element.parentElement ?? (root instanceof ShadowRoot ? root.host : null)
}

/** Calls `changed` whenever the scheme behind an element becomes another, until the answer is called. */
export function watchScheme(
  element: Element,
  changed: (scheme: Scheme) => void,
  schemeNow: (element: Element) => Scheme = schemeOf,
): () => void {
  let known = schemeNow(element)
  const look = () => {
    const scheme = schemeNow(element)
    if (scheme === known) return
    known = scheme
    changed(scheme)
  }
  const system = matchMedia(IS_DARK)
  system.addEventListener('change', look)
  const attributes = new MutationObserver(look)
  for (const root of [document.documentElement, document.body]) {
    attributes.observe(root, { attributeFilter: THEME_ATTRIBUTES })
  }
  return () => {
    system.removeEventListener('change', look)
    attributes.disconnect()
  }
}
