/** The colors of every chart, light and dark; safe for color-blind readers. `changeText` has the contrast that letters need. */
const COLORS = {
  before: ['#E69F00', '#F0B429'],
  after: ['#0072B2', '#56B4E9'],
  change: ['#D55E00', '#FF7F2A'],
  changeText: ['#B34C00', '#FF8A4C'],
  less: ['#762A83', '#CF9DE0'],
  rest: ['#7F7F7F', '#8F969E'],
  faint: ['#B8B8B8', '#666D75'],
  band: ['#EDEDED', '#33373D'],
  text: ['#333333', '#E8E8E8'],
  softText: ['#666666', '#A8A8A8'],
  title: ['#111111', '#F1F3F5'],
  grid: ['#E6E6E6', '#353A42'],
  axis: ['#888888', '#757D87'],
  rule: ['#555555', '#9AA2AB'],
} as const

/** The light colors: charts turn dark by {@link DARK_COLORS}. */
export const PALETTE = Object.fromEntries(
  Object.entries(COLORS).map(([name, [light]]) => [name, light]),
) as { readonly [Name in keyof typeof COLORS]: (typeof COLORS)[Name][0] }

/** Several things of one kind, as steps or sets; none is the purple of {@link CHANGE_SCALE}, or green. */
export const SERIES = ['#0072B2', '#D55E00', '#333333', '#2AA1B3', '#A6761D', '#7F7F7F'] as const

/** From few to many, light and dark: each apart from the page. */
export const SIZE_SCALE = [
  ['#35B0BE', '#2C7A8C'],
  ['#2A98C0', '#2F8DB0'],
  ['#1D80BE', '#3C9FD0'],
  ['#2069B0', '#5CB0DE'],
  ['#22529E', '#80C1E8'],
  ['#253C8C', '#A3D2F0'],
  ['#1E2670', '#C6E3F7'],
  ['#15174F', '#E6F3FC'],
] as const

/** Colors of drawings, light and dark. */
export const DRAWING_COLORS = {
  text: ['#222222', '#E8E8E8'],
  soft: ['#5F5F5F', '#A8A8A8'],
  line: ['#D0D0D0', '#4A4A4A'],
  back: ['#FFFFFF', '#1B1B1B'],
  raised: ['#F5F5F5', '#272727'],
  before: COLORS.before,
  after: COLORS.after,
  change: COLORS.change,
  changeText: COLORS.changeText,
  less: COLORS.less,
  focus: COLORS.after,
  selected: ['#E3EFF7', '#1F3647'],
} as const

/** From much less over none to much more, light and dark; letters of `title` can be read on all but the ends. */
export const CHANGE_SCALE = [
  COLORS.less,
  ['#B692C4', '#7A4D8A'],
  ['#E4D2E8', '#4A3650'],
  ['#EAEAEA', '#3A3A3A'],
  ['#FBE0CC', '#4F3524'],
  ['#F2A06B', '#A85418'],
  COLORS.change,
] as const

/** Dark counterpart of each color of a chart or drawing, except for a chart's page, which is white. */
export const DARK_COLORS: ReadonlyMap<string, string> = new Map<string, string>([
  ...Object.values(DRAWING_COLORS),
  ...Object.values(COLORS),
  ...CHANGE_SCALE,
  ...SIZE_SCALE,
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
export function themedSpec(spec: object, scheme: Scheme): object {
  const { background: _, config: given = {}, ...rest } = spec as Record<string, unknown>
  const own = given as Readonly<Record<string, object>>
  const names = [...new Set([...Object.keys(DEFAULTS), ...Object.keys(own)])]
  const config = Object.fromEntries(
    names.map((name) => {
      const isPart = typeof own[name] === 'object' || own[name] === undefined
      return [name, isPart ? { ...DEFAULTS[name], ...own[name] } : own[name]]
    }),
  )
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
