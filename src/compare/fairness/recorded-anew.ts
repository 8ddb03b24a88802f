import { group, sum } from 'd3-array'
import { formatAmount } from '../../core/quantity.ts'
import { firstOf, grouped, printable, spoken } from '../../core/words.ts'
import { AFTER, BEFORE, type FlowSet } from '../../flows/flow-set.ts'
import { recordedFlows } from '../../flows/fold/folded-flows.ts'
import { operationOf } from '../../flows/node-labels.ts'
import { type RecordedOnce, recordedOtherwise } from '../steps/recorded-otherwise.ts'
import { type ComparedPeriods, type ComparisonWarning, warning } from './comparison-warning.ts'

/** Warns that consumers wait for work; that wait is left out of their requests. */
export function idleWaits({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const { waits = [], quantity } = recordedFlows(given)
  if (waits.length === 0) return []
  const told = waits.map(({ service, operation, counts, sumsUs }) => {
    const [was, is] = ([BEFORE, AFTER] as const).map((period) =>
      formatAmount(sumsUs[period] / counts[period], quantity),
    )
    return `${printable(service)} ${printable(operation)} (${counts[BEFORE] > 0 ? was : 'none'} before, ${counts[AFTER] > 0 ? is : 'none'} after)`
  })
  return warning('idle-waits', {
    finding: `Consumers wait for work: ${firstOf(told)}.`,
    effect:
      'Their requests begin when that wait ends. It grows when messages get rarer, and delays nobody.',
    answer: 'Where these waits changed, look at the request rate.',
  })
}

/** Whether an operation of a service receives messages: it may have received none, and nobody waits for it. */
function receivesMessages({ messages, labels }: FlowSet, service: string): boolean {
  const receivers = new Set(messages?.receiver)
  return [...receivers].some((code) => operationOf(labels.get(code)).service === service)
}

/** Warns of spans that only one period records, or names so, for work done in both. */
export function recordedAnew({ flows: given }: ComparedPeriods): ComparisonWarning[] {
  const flows = recordedFlows(given)
  const { operations: once, uncovered } = recordedOtherwise(flows)
  const layers = (flows.layers ?? []).map((one) => ({
    ...one,
    ...{ isWhole: false, isRelay: true, renamed: null },
  }))
  const operations = [...once, ...layers]
  const renamedWhole = flows.renames ?? []
  if (operations.length + renamedWhole.length === 0) return []
  const renames = operations.filter(({ renamed }) => renamed !== null)
  const [wholes, parts] = [true, false].map((isWhole) =>
    operations.filter((one) => one.renamed === null && one.isWhole === isWhole),
  ) as [RecordedOnce[], RecordedOnce[]]
  const named = (own: readonly RecordedOnce[]) =>
    own.some((one) => one.isWhole)
      ? ''
      : `${firstOf(own.map(({ operation }) => printable(operation)))} `
  const ofOnePeriod = [wholes, parts].flatMap((some) => {
    const kindOf = ({ service, period, isRelay }: RecordedOnce) => `${period} ${isRelay} ${service}`
    return Array.from(group(some, kindOf).values(), (own) => {
      const [{ service, period, isRelay, isWhole }] = own as [RecordedOnce]
      const spans = grouped(sum(own, (one) => one.spans))
      const records =
        period === AFTER
          ? `records ${named(own)}spans only after (${spans})`
          : `records no ${named(own)}spans after (${spans} before)`
      const takes = isRelay
        ? 'which only pass calls on'
        : isWhole && receivesMessages(flows, service)
          ? `but may have received no messages${period === AFTER ? ' before' : ''}`
          : 'but its callers are as fast as before'
      return `${printable(service)} ${records}, ${takes}`
    })
  })
  // A call has its name on both sides: that of who is called is reported.
  const renamed = Array.from(
    group(
      [
        ...renames.map((one) => ({ ...one, names: 1 })),
        ...renamedWhole.map((one) => ({ ...one, renamed: [one.renamed] })),
      ],
      ({ operation, renamed: now }) => JSON.stringify([operation, now]),
    ).values(),
    (own) => {
      const { service, operation, renamed: now, names = 1 } = own.at(-1)!
      const was = operation === null ? [service] : [service, operation]
      const called = was.map((name) => printable(name)).join(' ')
      const one = firstOf(now!.map((name) => printable(name)))
      return names > 1
        ? `${grouped(names)} names like ${called} are compared as one, ${one}`
        : `${called} is now called ${one}`
    },
  )
  return warning('recorded-otherwise', {
    finding: `${spoken([...ofOnePeriod, firstOf(renamed, { most: 3, separator: '; ' })]).join('; ')}.`,
    effect: spoken([
      renamedWhole.length > 0 &&
        'Renamed steps are compared as one: they make the same calls, carry the same attributes, or differ only in ids.',
      operations.length > 0 &&
        `${renamedWhole.length > 0 ? 'For the rest, the' : 'The'} recording changed, not the work. Its times are not compared${
          uncovered.size > 0
            ? ', nor are its calls, those of its callers, and the work and calls it covers.'
            : '; its calls count as calls of its callers.'
        }`,
    ]).join(' '),
    answer: 'To compare them, record both periods the same way.',
  })
}
