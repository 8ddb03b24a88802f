import { sum } from 'd3-array'
import type { Comparison } from '../../compare/comparison.ts'
import { formatAmount, signedAmount } from '../../core/quantity.ts'
import { shortText } from '../../core/words.ts'
import { PERIOD_NAMES } from './chart-frame.ts'
import { ribbonIsClear } from './ribbon.ts'
import { type RibbonPart, ribbonParts } from './ribbon-parts.ts'

/** Blocks of changed parts, the largest change first; all else is `REST`. */
const BLOCKS = ['█', '▓', '▒'] as const
const REST = '░'
const INDENT = ' '.repeat('before '.length)
const MAX_NAME = 46

/**
 * Writes a mean request as two lines of blocks, before and after, on one scale, and names the changed
 * parts in a third line. Returns no lines if the change may be chance.
 */
export function ribbonLines(comparison: Comparison, width: number): string[] {
  const { account, flows } = comparison
  if (!ribbonIsClear(comparison)) return []
  const parts = ribbonParts(account, { limit: BLOCKS.length, longest: MAX_NAME })
  return blockLines(parts, {
    width,
    amount: (us) => formatAmount(us, flows.quantity),
    signed: (us) => signedAmount(us, flows.quantity),
  })
}

/** Parts of two means that follow each other, as two lines of blocks on one scale; a third names what changed. */
export function blockLines(
  parts: readonly Pick<RibbonPart, 'name' | 'change' | 'beforeUs' | 'afterUs'>[],
  {
    width,
    amount,
    signed,
  }: {
    readonly width: number
    readonly amount: (us: number) => string
    readonly signed: (us: number) => string
  },
): string[] {
  const changeUs = ({ beforeUs, afterUs }: (typeof parts)[0]) => afterUs - beforeUs
  const changed = parts
    .filter(({ change }) => change !== 'little')
    .sort((a, b) => Math.abs(changeUs(b)) - Math.abs(changeUs(a)))
    .slice(0, BLOCKS.length)
  const lengths = PERIOD_NAMES.map((period) => parts.map((part) => part[`${period}Us`]))
  const means = lengths.map((us) => sum(us))
  if (changed.length === 0 || means.includes(0)) return []
  const amounts = means.map(amount)
  const room = width - INDENT.length - 1 - Math.max(...amounts.map(({ length }) => length))
  const scale = room / Math.max(...means)
  let said = INDENT
  const blockOf = new Map<(typeof parts)[0], string>()
  for (const [i, part] of changed.entries()) {
    const block = BLOCKS[i] as string
    const head = `${i === 0 ? '' : '  '}${block} ${signed(changeUs(part))} `
    const left = width - said.length - head.length
    // A name that would be cut has no part, but the first.
    if (i > 0 && part.name.length > left) break
    said += head + shortText(part.name, Math.max(1, left))
    blockOf.set(part, block)
  }
  const others = parts.filter((part) => !blockOf.has(part))
  const rest = `  ${REST} ${signed(sum(others, changeUs))} other steps`
  if (others.length > 0 && said.length + rest.length <= width) said += rest
  const bars = lengths.map((ofPeriod, period) => {
    let atUs = 0
    const blocks = ofPeriod.map((us, i) => {
      const from = Math.round(atUs * scale)
      atUs += us
      const block = blockOf.get(parts[i] as (typeof parts)[0]) ?? REST
      return block.repeat(Math.round(atUs * scale) - from)
    })
    return `${`${PERIOD_NAMES[period]} `.padEnd(INDENT.length)}${blocks.join('')} ${amounts[period]}`
  })
  return [...bars, said]
}
