/**
 * What decides in comparisons: each number once, under the name by which all rules use it. A rule that needs another
 * number is another rule. Values are round ones; they were checked on the yardstick, the recorded cases, and halves of
 * periods in which nothing changed.
 */

// Chances of an error.

/** Level of a question of its own, and default of `alpha`: one error in twenty is usual in the field. */
export const LEVEL = 0.05
/** Level for what changes how all else is read, such as another mix of requests: a false one would mislead. */
export const SURE_LEVEL = 0.001
/** Level where being alike is asked for: from this p on, two samples are. */
export const ALIKE_LEVEL = 0.01
/** Level for what tests hold that stretches of time are alike, which they hardly are: gaps, drifts, and versions. */
export const DRIFT_LEVEL = 1e-4
/** Share of `alpha` for evidence that is rare, and p from which a change is still possible. */
export const SIDE_LEVEL = 0.1
/** Share of the level for the test of all of after; the rest is for its parts. */
export const WHOLE_LEVEL = 0.92
/** Power at which a shift counts as detectable: the usual 80 % (Cohen 1988, "Statistical Power Analysis"). */
export const POWER = 0.8

// Shares of requests, calls, times, or a change.

/** Up to this share, something is negligible: below what any test of some hundred requests sees. */
export const NEGLIGIBLE = 0.01
/** A defect of more traces than this can matter to the results. */
export const MIN_AFFECTED = 0.005
/** The slowest hundredth, one at least, counts as no slower than the next: single requests have reasons of their own. */
export const SLOWEST = 0.01
/** From this share on, something is worth a sentence. */
export const SMALL = 0.05
/** Shares, sizes and counts that differ by less are the same for a reader. */
export const NOTABLE = 0.1
/** From this share on, something accounts for a part; what differs by less than that stands for the same. */
export const PART = 0.25
/** More than this share is most of it: all else together is less. */
export const MOST = 0.5
/** Large enough a share to speak of the whole, and of what is left only beside it. */
export const LARGE = 0.8
/** All but stragglers: retries, warm-up, and requests that overlap a deployment. */
export const NEARLY_ALL = 0.9
/** All, as far as recordings with some lost spans show. */
export const ALL = 0.98
/** All but this many take less: times beyond are unusual even among the slow. */
export const HARDLY_ANY = 0.999

// Ratios, and distances in standard errors.

/** Ratios up to this count as the same: weights, and numbers of requests. */
export const ALIKE = 1.1
/** Ratio from which two rates or times are apart. */
export const APART = 1.25
/** Ratio from which something is far from the usual, and amounts are no longer told as one. */
export const FAR = 1.5
/** Twice as long, as much or as likely: no drift of a quiet system reaches it. */
export const TWICE = 2
/** Standard errors that are clear for one question: about `LEVEL`. */
export const CLEAR = 2
/** Standard errors that are sure: about `SURE_LEVEL`, or several questions. */
export const SURE = 3

// Fewest requests, calls or services.

/** Fewest that are not a single one, which may have a reason of its own. */
export const MIN_SEVERAL = 2
/** Fewest that agree and make a pattern. */
export const MIN_ALIKE = 3
/** Fewest that show more than a coincidence, and expected count from which approximations hold (Cochran 1954). */
export const MIN_SEEN = 5
/** Fewest that show what is usual. */
export const MIN_KNOWN = 10
/** Fewest that show a tail: one in twenty is one of them. */
export const MIN_TAIL = 20
/** Fewest that show how times spread. */
export const MIN_SPREAD = 50
/** Fewest for intervals of means: with fewer, these are too narrow, as rare slow requests are missing. */
export const MIN_MEANS = 200

// Divisions, for what varies over time.

/** Stretches of a period whose levels are compared: enough to see them wander, with many requests each. */
export const BLOCKS = 10
/** Stretches in which arrivals, and neighbors in time, are counted. */
export const STRETCHES = 20
/** Short stretches, in which bursts show. */
export const SHORT_STRETCHES = 80
/** Parts for cross-validation (Hastie et al. 2009, "The Elements of Statistical Learning", 7.10). */
export const FOLDS = 5
/** Random samples of the same data: their spread is known to a twentieth. */
export const RESAMPLES = 200
/** Random draws for a p-value: its least value is 1e-4. */
export const DRAWS = 9_999
/** Steps after which a fit that converges has done so. */
export const ROUNDS = 50

// Limits of a search, and of lists; more take time and tell hardly more.

/** Most that are looked for one after another, each beside the earlier ones. */
export const MAX_FOLLOWED = 3
/** Candidates that are followed at a time. */
export const BEAM = 8
/** Values that a number or an attribute may have before they are cut or grouped. */
export const MAX_VALUES = 16
/** Most kinds of calls, messages or conditions that are tested at one place: the most frequent ones. */
export const MAX_TRIED = 30
/** Evenly spread places where numbers may be cut; the question decides which one is used. */
export const MAX_CUTS = 64
/** Characters of a recorded text in a sentence. */
export const MAX_TEXT = 80
/** Runs of the period before. */
export const MAX_RUNS = 100
/** Distinct names, times or parts that are kept: those with the most requests. */
export const MAX_KEPT = 200
/** Steps of two flows that are matched: pairs grow with their square. */
export const MAX_STEPS = 2000
/** Values, and calls of a period, that are told apart. */
export const MAX_CODES = 4_000
/** Requests or spans that are compared one by one, evenly chosen. */
export const MAX_LOOKED_AT = 20_000

// One rule each.

/** Weight of a failed request, in requests that take twice as long as usual. */
export const FAILED_WEIGHT = 10
/** Runs that show how much runs differ; with fewer, only shifts many times that are found. */
export const MIN_RUNS = 4
/** Standard deviation of the log of the share that fails, between like runs. */
export const RUN_SPREAD = 0.3
/** Runs that this counts as. */
export const RUN_SPREAD_DF = 4
/** Power of ranks by which a slower subset shows. */
export const SUBSET_POWER = 4
/** Requests that the share of both sides counts as, when shares before are rare: segments differ by a factor of two. */
export const PRIOR_COUNT = 2
/** Shortest pause between requests, in response times: shorter ones come and go with these. */
export const MIN_PAUSE = 10
/** Likelihood ratio from which a change can be placed in time. */
export const MIN_RATIO = 16
/** The same between the periods as they are, which were chosen beforehand. */
export const MIN_PERIOD_RATIO = 4
/** Share of the noise that neighbors in time add, by which a step must be likelier than a drift. */
export const DRIFT_SHARE = 0.7
/** Twice the logarithm of how much likelier a step must be than a drift to divide a recording. */
export const MIN_BETTER = 4.5
/** Least gain of log likelihood by a lower limit of recorded times. */
export const MIN_GAIN = 8
/** Largest distance from a median, in spreads; times beyond it count as this far. */
export const MAX_SPREADS = 4
/** Least spread of logs: times repeat to 1 ‰ at best. */
export const LEAST_SPREAD = 1e-3
/** Sums that differ by less, as a share, differ by rounding. */
export const NOTHING = 1e-9
/** Price of moves that are sure, whose largest distance is 1: they move at any distance, beyond any price of chance. */
export const SURE_PRICE = -10
/** Characters of a shortened id, and fewest of one that is unique: eight hex digits tell 4 billion apart. */
export const ID_LENGTH = 8
/** Longer ids lose their end. */
export const MAX_ID_LENGTH = 12
