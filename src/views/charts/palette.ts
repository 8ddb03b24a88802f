/** The colors of every chart; safe for color-blind readers. */
export const PALETTE = {
  before: '#E69F00',
  after: '#0072B2',
  change: '#D55E00',
  rest: '#7F7F7F',
  faint: '#B8B8B8',
  band: '#EDEDED',
  text: '#333333',
  softText: '#666666',
} as const

export const PERIOD_NAMES = ['before', 'after'] as const
