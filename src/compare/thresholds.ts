/**
 * The numbers that decide in comparisons, each once, under the name that all rules use. Do not add a number for one
 * case: ask which of these the rule means.
 */

// Chances of an error.

/** Level of one question: one error in twenty, as is usual. */
export const LEVEL = 0.05
/** Level for what changes how everything else is read, such as another request mix: an error would mislead. */
export const SURE_LEVEL = 0.001
/** Two samples count as alike from this p on. */
export const ALIKE_LEVEL = 0.01
/** Level of tests that assume steady levels, which recordings hardly have: gaps, drifts and versions. */
export const DRIFT_LEVEL = 1e-4
/** Share of `alpha` for rare evidence. Up to this p, a change stays possible. */
export const SIDE_LEVEL = 0.1
/** Share of the level for the whole after period; its parts share the rest. */
export const WHOLE_LEVEL = 0.92
/** Power at which a shift counts as detectable: 80 %, as is usual (Cohen 1988, "Statistical Power Analysis"). */
export const POWER = 0.8

// Shares of requests, calls, times, or a change.

/** A smaller share is negligible: no test of a few hundred requests sees it. */
export const NEGLIGIBLE = 0.01
/** A defect of more traces than this can affect the results. */
export const MIN_AFFECTED = 0.005
/** The slowest hundredth, at least one, counts as no slower than the next: single requests have their own reasons. */
export const SLOWEST = 0.01
/** A share that is worth a sentence. */
export const SMALL = 0.05
/** A reader takes amounts for the same if they differ by less than this. */
export const NOTABLE = 0.1
/** A considerable part: what explains less explains nothing, and what differs by less is the same change. */
export const PART = 0.25
/** Most of it: everything else together is less. */
export const MOST = 0.5
/** Large enough to speak of the whole. */
export const LARGE = 0.8
/** All but stragglers: retries, warm-up, requests during a deployment. */
export const NEARLY_ALL = 0.9
/** All: recordings lose a few spans. */
export const ALL = 0.98
/** Times above those of this share are unusual even for slow requests. */
export const HARDLY_ANY = 0.999

// Ratios, and distances in standard errors.

/** Weights, and numbers of requests, are the same up to this ratio. */
export const ALIKE = 1.1
/** Two rates or times differ from this ratio on. */
export const APART = 1.25
/** Times are far from the usual from this ratio on. */
export const FAR = 1.5
/** Twice as long, as many or as likely: the drift of a quiet system does not reach it. */
export const TWICE = 2
/** Standard errors that are clear for one question, at about `LEVEL`. */
export const CLEAR = 2
/** Standard errors that are sure, also for several questions: about `SURE_LEVEL`. */
export const SURE = 3

// Fewest requests, calls or services.

/** Several: a single one may have its own reason. */
export const MIN_SEVERAL = 2
/** Fewest that make a pattern. */
export const MIN_ALIKE = 3
/** Fewest that are no coincidence; approximations hold from this expected count on (Cochran 1954). */
export const MIN_SEEN = 5
/** Fewest that show what is usual. */
export const MIN_KNOWN = 10
/** Fewest that show a tail: they have one in twenty. */
export const MIN_TAIL = 20
/** Fewest that show how times spread. */
export const MIN_SPREAD = 50
/** Fewest for intervals of means: fewer lack rare slow requests, and the intervals are too narrow. */
export const MIN_MEANS = 200

// Divisions of a period, and of a sample.

/** Stretches whose levels are compared: enough to see them wander, few enough to hold many requests each. */
export const BLOCKS = 10
/** Stretches in which arrivals and neighbors in time are counted. */
export const STRETCHES = 20
/** Short stretches, which show bursts. */
export const SHORT_STRETCHES = 80
/** Parts for cross-validation (Hastie et al. 2009, "The Elements of Statistical Learning", 7.10). */
export const FOLDS = 5
/** Resamples: their spread is known to a twentieth. */
export const RESAMPLES = 200
/** Random draws for a p-value, which is then at least 1e-4. */
export const DRAWS = 9_999
/** Rounds after which a fit has converged, if it does. */
export const ROUNDS = 50

// Limits of searches and lists: more takes time and tells hardly more.

/** Most that are searched one after another, each in what the earlier ones left. */
export const MAX_FOLLOWED = 3
/** Candidates that are followed at a time. */
export const BEAM = 8
/** A number or attribute with more values is cut or grouped. */
export const MAX_VALUES = 16
/** Most calls, messages or conditions that are tested in one place, the most frequent ones. */
export const MAX_TRIED = 30
/** Evenly spread cuts of a number; the question decides which one is used. */
export const MAX_CUTS = 64
/** Characters of a recorded text in a sentence. */
export const MAX_TEXT = 100
/** Runs of the period before. */
export const MAX_RUNS = 100
/** Names, times or parts that are kept, those with the most requests. */
export const MAX_KEPT = 200
/** Flows with more steps are not matched: pairs grow with their square. */
export const MAX_STEPS = 2000
/** Values, and calls of a period, that are distinguished. */
export const MAX_CODES = 4_000
/** Requests or spans that are compared one by one; of more, an even sample. */
export const MAX_LOOKED_AT = 20_000

// For one rule each.

/** Weight of a failed request, in requests that take twice as long as usual. */
export const FAILED_WEIGHT = 10
/** Fewest runs that show how much runs differ. With fewer, only shifts of many times that are found. */
export const MIN_RUNS = 4
/** Standard deviation, between like runs, of the log of the share that fails. */
export const RUN_SPREAD = 0.3
/** Runs that this spread counts as. */
export const RUN_SPREAD_DF = 4
/** Ranks to this power show a slower subset (Conover and Salsburg 1988). */
export const SUBSET_POWER = 4
/** Requests that the share of both sides counts as: rare shares of segments differ by a factor of about two. */
export const PRIOR_COUNT = 2
/** Shortest pause between requests, in response times: shorter ones come and go with these. */
export const MIN_PAUSE = 10
/** Likelihood ratio from which a change can be placed in time. */
export const MIN_RATIO = 16
/** The same for the border between the periods, which was chosen beforehand. */
export const MIN_PERIOD_RATIO = 4
/** A step must beat a drift by this share of the noise that similar neighbors in time add. */
export const DRIFT_SHARE = 0.7
/** Twice the log of how much likelier than a drift a step must be, to divide a recording. */
export const MIN_BETTER = 4.5
/** Gain of log likelihood that shows a lower limit of recorded times. */
export const MIN_GAIN = 8
/** Times further from the median, in spreads, count as this far. */
export const MAX_SPREADS = 4
/** Least spread of logs: times repeat to 1 ‰ at best. */
export const LEAST_SPREAD = 1e-3
/** Sums that differ by less, as a share, differ by rounding. */
export const NOTHING = 1e-9
/** Price of a sure move: below any distance, which is at most 1, and any price of chance. */
export const SURE_PRICE = -10
/** Characters of a shortened id, and fewest of a unique one: eight hex digits distinguish 4 billion. */
export const ID_LENGTH = 8
/** Longer ids lose their end. */
export const MAX_ID_LENGTH = 12
