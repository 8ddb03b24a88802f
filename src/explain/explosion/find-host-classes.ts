import type { Comparison } from '../../compare/comparison.ts'
import { OptionError, rejectUnknownOptions } from '../../core/errors.ts'
import { FlowSet } from '../../flows/flow-set.ts'
import { compareHosts } from './compare-hosts.ts'
import { groupHosts } from './group-hosts.ts'
import { HostClasses, type HostClassOptions } from './host-classes.ts'
import { collectHostSamples } from './host-samples.ts'
import { nameClasses } from './name-classes.ts'

/**
 * Finds classes of hosts that perform alike, by comparing each with its peers. Classes in place of
 * hosts make categories few, as leaving hosts out does, and still tell slow machines from others.
 *
 * For each operation, the times of every two hosts that do it are compared with the Kolmogorov-
 * Smirnov test, corrected over all pairs and operations (Benjamini-Hochberg); then hosts are grouped
 * so that each is like at least half of its class. Times are durations of the host's own spans, by
 * its own clock, and in trace-point graphs the latencies of edges within the host; periods are
 * compared each by itself.
 *
 * Limits: durations include what the host waits for, so a host that always calls a slow one is slow
 * too. Spans of one request are not independent. Hosts with too few spans (8 against 8) cannot be told
 * apart: they join the largest class that does the same work, and `compared` says so. Takes the
 * square of the number of hosts, for every operation.
 *
 * @param source a comparison, or a stage of `buildFlows`
 * @param options.alpha two hosts differ when q is below this; default 0.05
 * @param options.minimumEffect and when their times lie apart by at least this share of their mean
 *   (Wasserstein distance); default 0.1: with enough spans, any two hosts differ a little
 * @throws OptionError for a level outside 0 to 1 or a negative effect; FlowdeltaError for an unknown
 *   option
 *
 * Source: Sambasivan 2013, §3.5.3; how pairs become classes is flowdelta's own.
 *
 * @example
 * const hosts = findHostClasses(comparison)
 * hosts.classOf('frontend-0').hosts // [ 'frontend-0' ]
 * comparison.with({ label: hosts.label }).categories.size // 6
 */
export function findHostClasses(
  source: Comparison | FlowSet,
  options: Partial<HostClassOptions> = {},
): HostClasses {
  rejectUnknownOptions(options, ['alpha', 'minimumEffect'])
  const { alpha = 0.05, minimumEffect = 0.1 } = options
  if (!(alpha > 0 && alpha < 1)) throw new OptionError('alpha', alpha, 'a level between 0 and 1')
  if (!(minimumEffect >= 0)) {
    throw new OptionError('minimumEffect', minimumEffect, 'a share of the mean, 0 or more')
  }
  const samples = collectHostSamples(source instanceof FlowSet ? source : source.flows)
  const pairs = compareHosts(samples, { alpha, minimumEffect })
  const groups = groupHosts(pairs).map((group) => group.map((host) => pairs.hosts[host] as string))
  return new HostClasses(nameClasses(groups, samples), pairs, { alpha, minimumEffect })
}
