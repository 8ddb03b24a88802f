/** The colors of every chart; safe for color-blind readers. `changeText` has the contrast that letters need. */
export const PALETTE = {
  before: '#E69F00',
  after: '#0072B2',
  change: '#D55E00',
  changeText: '#B34C00',
  less: '#762A83',
  rest: '#7F7F7F',
  faint: '#B8B8B8',
  band: '#EDEDED',
  text: '#333333',
  softText: '#666666',
  title: '#111111',
  grid: '#E6E6E6',
  axis: '#888888',
  rule: '#555555',
} as const

const DARK: Readonly<Record<keyof typeof PALETTE, string>> = {
  before: '#F0B429',
  after: '#56B4E9',
  change: '#FF7F2A',
  changeText: '#FF8A4C',
  less: '#8A3A98',
  rest: '#8F969E',
  faint: '#666D75',
  band: '#33373D',
  text: '#E8E8E8',
  softText: '#A8A8A8',
  title: '#F1F3F5',
  grid: '#353A42',
  axis: '#757D87',
  rule: '#9AA2AB',
}

/** Several things of one kind, as steps or sets: the palette's, and others of Okabe and Ito. */
export const SERIES = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#8C6BB1', '#7F7F7F'] as const

/** Colors of drawings, light and dark. */
export const DRAWING_COLORS = {
  text: ['#222222', '#E8E8E8'],
  soft: ['#5F5F5F', '#A8A8A8'],
  line: ['#D0D0D0', '#4A4A4A'],
  back: ['#FFFFFF', '#1B1B1B'],
  raised: ['#F5F5F5', '#272727'],
  before: [PALETTE.before, DARK.before],
  after: [PALETTE.after, DARK.after],
  change: [PALETTE.change, DARK.change],
  changeText: [PALETTE.changeText, DARK.changeText],
  less: [PALETTE.less, DARK.less],
  focus: [PALETTE.after, DARK.after],
  selected: ['#E3EFF7', '#1F3647'],
} as const

/** Colors from pink to green, for numbers below and above 0; letters of `title` can be read on each. */
export const DIVERGING = ['#DE77AE', '#EEB9D5', '#F7F7F7', '#C1DF9F', '#7FBC41'] as const
const DARK_DIVERGING = ['#8A2F63', '#5C2E4A', '#2B2F35', '#334A25', '#3F6B1E'] as const

/** Dark counterpart of each color of a chart or drawing, except for a chart's page, which is white. */
export const DARK_COLORS: ReadonlyMap<string, string> = new Map<string, string>([
  ...Object.values(DRAWING_COLORS),
  ...(Object.keys(PALETTE) as (keyof typeof PALETTE)[]).map(
    (name) => [PALETTE[name], DARK[name]] as const,
  ),
  ...DIVERGING.map((color, i) => [color, String(DARK_DIVERGING[i])] as const),
])

/** Colors that Vega takes if a spec names none. */
const DEFAULTS: Readonly<Record<string, object>> = {
  text: { color: PALETTE.text },
  rule: { color: PALETTE.rule },
  header: { labelColor: PALETTE.text, titleColor: PALETTE.text },
  legend: {
    labelColor: PALETTE.text,
    titleColor: PALETTE.text,
    symbolBaseFillColor: PALETTE.rest,
  },
  title: { color: PALETTE.title, subtitleColor: PALETTE.softText },
}

export type Scheme = 'light' | 'dark'

/** The colors that a spec may not name. */
const PAGE = 'white'
const DARK_PAGE = '#1B1B1B'

/** Returns a chart for a page of a color scheme, whose background it shows. */
export function themedSpec(spec: Readonly<Record<string, unknown>>, scheme: Scheme): object {
  const own = (spec['config'] ?? {}) as Readonly<Record<string, object>>
  const names = [...new Set([...Object.keys(DEFAULTS), ...Object.keys(own)])]
  const config = Object.fromEntries(
    names.map((name) => {
      const isPart = typeof own[name] === 'object' || own[name] === undefined
      return [name, isPart ? { ...DEFAULTS[name], ...own[name] } : own[name]]
    }),
  )
  const { background: _, ...rest } = spec
  const whole = scheme === 'light' ? { ...rest, config } : darkened({ ...rest, config })
  return { ...(whole as object), background: 'transparent' }
}

/** Replaces every color of a spec by its dark counterpart; data stay as they are. */
function darkened(value: unknown): unknown {
  if (typeof value === 'string')
    return value === PAGE ? DARK_PAGE : (DARK_COLORS.get(value) ?? value)
  if (Array.isArray(value)) return value.map(darkened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, key === 'data' ? part : darkened(part)]),
  )
}
